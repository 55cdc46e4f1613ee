// Starts a program from a process that has already imported its modules
// (emulated/python/vramscope/warm.py). That process forks, and the fork becomes the program.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<WarmProgram> program, WarmProgram::Start(socket, request));
//   while (!program->Ended(&status)) ...;
//
// The program is not a child of this process, but of a helper process of the server. The helper
// reports how the program ends, and ends it when this object is destroyed. One thread at a time.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace vramscope::program {

// The descriptor through which a program from a warm server finds its output folder. The number is
// always the same, because the platform's library reads the path of the folder only once.
inline constexpr int kServedOutput = 900;

struct WarmRequest {
  std::vector<std::string> command;
  std::string folder;  // the program's working directory
  std::map<std::string, std::string> environment;
  std::string output;           // the output folder
  std::vector<int> streams;     // standard input, output, error
  std::vector<int> namespaces;  // namespaces to enter, in this order
};

// The process that waits at a socket. It may be in its own user namespace (isolation.h). Its forks
// can only enter namespaces below its own.
struct WarmServer {
  pid_t pid = 0;
  uint64_t resident_bytes = 0;  // with its children
};
absl::StatusOr<WarmServer> FindWarmServer(const std::string& socket);
// Returns a descriptor of the server's user namespace, which the caller must close. Returns -1 if
// the server is in the caller's namespace or does not answer.
int UserNamespaceOf(const std::string& socket);

class WarmProgram {
 public:
  // kUnavailable: no server answers, or it refuses; the message gives the reason. Waits for the
  // answer.
  static absl::StatusOr<std::unique_ptr<WarmProgram>> Start(const std::string& socket,
                                                            const WarmRequest& request);
  ~WarmProgram();
  WarmProgram(const WarmProgram&) = delete;
  WarmProgram& operator=(const WarmProgram&) = delete;

  pid_t pid() const { return pid_; }
  // Returns whether the program has ended, and sets `status` as waitpid() does. Does not wait. If
  // the server has ended, the program counts as killed.
  bool Ended(int* status);

 private:
  WarmProgram(int fd, pid_t pid) : fd_(fd), pid_(pid) {}

  const int fd_;
  pid_t pid_;
};

}  // namespace vramscope::program
