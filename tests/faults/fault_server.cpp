#include "tests/faults/fault_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>

namespace vramscope::test {
namespace {

constexpr int kRunSeconds = 90, kEachSeconds = 3600;

int StatusOf(int state) { return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state); }

}  // namespace

FaultServer::FaultServer(const Options& options) {
  WriteFile(folder_ / "stdin", options.input);
  const std::string in = folder_ / "in", out = folder_ / "out";
  EXPECT_EQ(mkfifo(in.c_str(), 0600), 0);
  EXPECT_EQ(mkfifo(out.c_str(), 0600), 0);
  // Opens the pipes for reading and writing, because opening a pipe for only one of them would
  // block.
  to_ = open(in.c_str(), O_RDWR | O_CLOEXEC);
  from_ = open(out.c_str(), O_RDWR | O_CLOEXEC);
  pid_ = fork();
  if (pid_ != 0) return;
  setenv("LD_PRELOAD", VRAMSCOPE_FAULT_SHIM, 1);
  setenv("VRAMSCOPE_FAULT_SERVER", folder_.path().c_str(), 1);
  setenv("VRAMSCOPE_FAULT_PROGRAM", options.served.c_str(), 1);
  for (const std::string& setting : options.environment)
    setenv(setting.substr(0, setting.find('=')).c_str(),
           setting.substr(setting.find('=') + 1).c_str(), 1);
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  std::string program = options.program;
  std::vector<char*> argv = {program.data()};
  for (const std::string& argument : options.arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

FaultServer::~FaultServer() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(to_);
  close(from_);
}

FaultServer::Result FaultServer::Send(const std::string& fault, int timeout_s) {
  Result result;
  const std::string line = fault + "\n";
  EXPECT_EQ(write(to_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  std::string reply;
  for (char c = 0; c != '\n';) {
    pollfd ready{from_, POLLIN, 0};
    if (poll(&ready, 1, timeout_s * 1000) != 1 || read(from_, &c, 1) != 1) {
      ADD_FAILURE() << "no reply to " << fault;
      return result;
    }
    reply += c;
  }
  int state = 0;
  std::istringstream(reply) >> state >> result.allocations >> result.calls >> result.faults >>
      result.of_qt;
  result.outcome.status = StatusOf(state);
  result.outcome.out = ReadFile(folder_ / "stdout");
  result.outcome.err = ReadFile(folder_ / "stderr");
  return result;
}

FaultServer::Result FaultServer::Run(const std::string& fault) { return Send(fault, kRunSeconds); }

std::vector<FaultServer::Each> FaultServer::RunEach(uint64_t first) {
  Send("each:" + std::to_string(first), kEachSeconds);
  std::vector<Each> all;
  std::istringstream lines(ReadFile(folder_ / "each"));
  int state = 0;
  for (Each each; lines >> each.number >> state >> each.error_bytes; all.push_back(each))
    each.status = StatusOf(state);
  return all;
}

std::vector<uint64_t> FaultServer::FirstOfEachPlace(const std::string& path) {
  Send("none:0", kRunSeconds);
  std::istringstream lines(ReadFile(path));
  std::vector<uint64_t> numbers;
  for (uint64_t number = 0; lines >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace vramscope::test
