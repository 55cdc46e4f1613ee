// The process that later plans of one program begin with: it has imported what the program imports
// (profiler/program/warm.h). A `plan --serve` of this program's own, in a process of its own.
//
//   ProgramServer server;
//   server.Start(words, command, modules);   // where the first plan has told its modules
//   while (!server.Settled()) Wait();
//   words.insert({"--warm", server.socket()});
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

  // `words`: of `plan`, before "--". `modules`: the file in which a plan has told what it imports
  // (modules.json of its --keep); nothing is started where that says why not. Ends what ran before.
  void Start(std::vector<std::string> words, const std::vector<std::string>& command,
             const std::string& modules);
  void Stop();
  bool started() const { return server_.joinable(); }
  // Whether it answers, or never will; then socket() or why_not() says something.
  bool Settled();
  const std::string& socket() const { return socket_; }
  const std::string& why_not() const { return why_not_; }
  const std::vector<std::string>& modules() const { return modules_; }
  uint64_t ResidentBytes() const;  // 0: nobody answers

 private:
  std::unique_ptr<program::ScratchFolder> scratch_;
  std::string wanted_, socket_, why_not_;
  std::vector<std::string> modules_;
  std::atomic<bool> over_{false}, ended_{false};
  std::thread server_;
};

// What a plan told that it imports; none where it told nothing, with the reason in `why_not`.
std::vector<std::string> ReadModules(const std::string& path, std::string* why_not);

}  // namespace vramscope::cli
