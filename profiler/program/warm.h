// A program that begins where another process has got to: one that has imported what it imports
// (emulated/python/vramscope/warm.py) forks, and the fork becomes the program.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<WarmProgram> program, WarmProgram::Start(socket, request));
//   while (!program->Ended(&status)) ...;
//
// It is no child of this process; the one beside it there says how it ended, and ends it when this
// object goes. One thread at a time.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace vramscope::program {

// The descriptor that a served program finds its output folder by: the same name for every one, as
// the platform's library reads it once.
inline constexpr int kServedOutput = 900;

struct WarmRequest {
  std::vector<std::string> command;
  std::string folder;  // that it starts in
  std::map<std::string, std::string> environment;
  std::string output;           // folder
  std::vector<int> streams;     // standard input, output, error
  std::vector<int> namespaces;  // to enter, in this order
};

// The process that waits at a socket. It may sit in a user namespace of its own (isolation.h); what
// it forks can enter namespaces that lie below that one, and no others.
struct WarmServer {
  pid_t pid = 0;
  uint64_t resident_bytes = 0;
};
absl::StatusOr<WarmServer> FindWarmServer(const std::string& socket);
// A descriptor of its user namespace, which the caller closes; -1: it is the caller's own, or
// nobody answers.
int UserNamespaceOf(const std::string& socket);

class WarmProgram {
 public:
  // kUnavailable: nobody answers there, or refuses; the message says why. Waits for the answer.
  static absl::StatusOr<std::unique_ptr<WarmProgram>> Start(const std::string& socket,
                                                            const WarmRequest& request);
  ~WarmProgram();
  WarmProgram(const WarmProgram&) = delete;
  WarmProgram& operator=(const WarmProgram&) = delete;

  pid_t pid() const { return pid_; }
  // Whether it has; then its status as waitpid() has it. Does not wait. Of a server that is gone:
  // killed.
  bool Ended(int* status);

 private:
  WarmProgram(int fd, pid_t pid) : fd_(fd), pid_(pid) {}

  const int fd_;
  pid_t pid_;
};

}  // namespace vramscope::program
