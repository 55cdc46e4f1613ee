// Starts a program that waits before its main() and runs once for each requested fault
// (VRAMSCOPE_FAULT_SERVER in fault_shim.cpp). The libraries are loaded only once.
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
    std::string folder;                    // working folder
    std::vector<std::string> environment;  // "NAME=value" overrides the inherited variable
    std::string input;                     // standard input of every run
    std::string served = {};  // file name of the program to test, if `program` executes another one
  };
  struct Result {
    Outcome outcome;  // status: 128 + n if a signal ended it
    uint64_t allocations = 0, calls = 0, faults = 0;
    uint64_t of_qt = 0;  // number of faults in allocations by Qt
  };
  struct Each {
    uint64_t number = 0;
    int status = -1;
    uint64_t error_bytes = 0;  // written to standard error
  };

  explicit FaultServer(const Options& options);
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  Result Run(const std::string& fault);
  // Forks a copy at each allocation from number `first` on, until a second thread starts or data
  // are written. Then the run continues to its end without copies.
  std::vector<Each> RunEach(uint64_t first);
  // Runs without a fault. For each call stack, returns the number of its first allocation. The
  // program must have been started with VRAMSCOPE_FAULT_SITES=`path`, a file that did not exist.
  std::vector<uint64_t> FirstOfEachPlace(const std::string& path);

 private:
  Result Send(const std::string& fault, int timeout_s);

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace vramscope::test
