// A program that waits before its main() and runs once for each fault that it is told
// (fault_shim.cpp, VRAMSCOPE_FAULT_SERVER): a run costs what the command does, without the loading
// of libraries.
//
//   FaultServer server({.arguments = {"info", file}, .folder = folder});
//   server.Run("allocation:17").outcome.status
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/app/process.h"

namespace vramscope::test {

class FaultServer {
 public:
  struct Options {
    std::string program = VRAMSCOPE_PROGRAM;
    std::vector<std::string> arguments;
    std::string folder;                    // it runs there
    std::vector<std::string> environment;  // "NAME=value", over the own one
    std::string input;                     // of every run
    std::string served = {};  // the program's file, where `program` becomes another; "": that one
  };
  struct Result {
    Outcome outcome;  // status: 128 + n where a signal ended it
    uint64_t allocations = 0, calls = 0, faults = 0;
    uint64_t of_qt = 0;  // of the faults, those of requests that Qt made
  };
  struct Each {
    uint64_t number = 0;
    int status = -1;
    uint64_t said = 0;  // bytes on standard error
  };

  explicit FaultServer(const Options& options);
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  Result Run(const std::string& fault);
  // A copy at each request of memory from `first` on, for as long as one thread runs and nothing is
  // written; then the run goes on to its end.
  std::vector<Each> RunEach(uint64_t first);
  // Of a run without a fault: the first request of memory at each place of the program, by its
  // stack. The program has to be told VRAMSCOPE_FAULT_SITES=`path`, a file that does not exist.
  std::vector<uint64_t> FirstOfEachPlace(const std::string& path);

 private:
  Result Ask(const std::string& fault, int timeout_s);

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace vramscope::test
