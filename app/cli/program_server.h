// Starts the warm process, which imports the program's modules. Later plans of the program are
// forked from the warm process (profiler/program/warm.h), which runs `plan --serve`.
//
//   ProgramServer server;
//   server.Start(words, command, modules);   // once the first plan has written its modules
//   while (!server.Settled()) Wait();
//   words.insert(words.end(), {"--warm", server.socket()});
//
// Main thread only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "profiler/program/scratch_folder.h"

namespace vramscope::cli {

class ProgramServer {
 public:
  ProgramServer() = default;
  ~ProgramServer() { Stop(); }
  ProgramServer(const ProgramServer&) = delete;
  ProgramServer& operator=(const ProgramServer&) = delete;

  // Replaces the warm process. `words`: the arguments of `plan` before "--". `modules`:
  // modules.json from the --keep folder of a plan, which lists the imports. If the file gives a
  // reason against a warm process, starts none.
  void Start(std::vector<std::string> words, const std::vector<std::string>& command,
             const std::string& modules);
  void Stop();
  bool started() const { return server_.joinable(); }
  // Returns whether the process is ready or has failed. If so, socket() or why_not() is set.
  bool Settled();
  const std::string& socket() const { return socket_; }
  const std::string& why_not() const { return why_not_; }
  const std::vector<std::string>& modules() const { return modules_; }
  uint64_t ResidentBytes() const;  // 0: not running

 private:
  std::unique_ptr<program::ScratchFolder> scratch_;
  std::string wanted_, socket_, why_not_;
  std::vector<std::string> modules_;
  std::atomic<bool> over_{false}, ended_{false};
  std::thread server_;
};

// Reads the imports that a plan reported. If the plan reported none, returns nothing and stores the
// plan's reason in `why_not`.
std::vector<std::string> ReadModules(const std::string& path, std::string* why_not);

}  // namespace vramscope::cli
