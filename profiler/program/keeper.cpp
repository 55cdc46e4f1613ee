#include "profiler/program/keeper.h"

#include <absl/strings/numbers.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "profiler/program/folder_entries.h"
#include "profiler/program/scratch_folder.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

constexpr auto kBetween = std::chrono::milliseconds(20);
constexpr int kMostTries = 250;
constexpr char kDone = 'd';
constexpr char kName[] = "vramscope-keep";  // process names cannot be longer

// Finds the processes whose environment contains `entry`.
std::vector<pid_t> ProcessesWith(const std::string& entry) {
  const std::string wanted = std::string(1, '\0') + entry + '\0';
  std::vector<pid_t> found;
  ForEachEntry("/proc", [&](const fs::directory_entry& process) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(process.path().filename().string(), &pid) || Keeper::Is(pid)) return;
    std::ifstream file(process.path() / "environ", std::ios::binary);
    std::string environment(1, '\0');
    environment.append(std::istreambuf_iterator<char>(file), {});
    if (environment.find(wanted) != std::string::npos) found.push_back(pid);
  });
  return found;
}

void End(const std::string& output) {
  const std::string entry = "VRAMSCOPE_PROGRAM_OUTPUT=" + output;
  for (int i = 0; i < kMostTries; ++i) {  // repeats: a process may have started another one
    const std::vector<pid_t> left = ProcessesWith(entry);
    if (left.empty()) return;
    for (const pid_t pid : left) kill(pid, SIGKILL);
    std::this_thread::sleep_for(kBetween);
  }
}

void Run(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void Keep(const KeeperOptions& options, int watched) {
  setsid();  // signals to the terminal's or the parent's group are not meant for this process
  prctl(PR_SET_NAME, kName);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGPIPE, SIGCHLD}) std::signal(signal, SIG_DFL);
  // Closes inherited descriptors, so that readers of the parent's output see its end.
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, standard);
  const int mine = dup2(watched, 3);
  close_range(4, ~0u, 0);
  char byte = 0;
  ssize_t got = 0;
  do got = read(mine, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got == 1 && byte == kDone) _exit(0);
  End(options.output);
  if (!options.last.empty()) Run(options.last);
  for (const std::string& folder : options.folders) RemoveTree(folder);
  _exit(0);
}

}  // namespace

Keeper::Keeper(const KeeperOptions& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[1]);
    Keep(options, ends[0]);
  }
  close(ends[0]);
  end_ = ends[1];
  if (pid_ < 0) close(std::exchange(end_, -1));
}

bool Keeper::Is(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  return std::getline(file, name) && name == kName;
}

Keeper::~Keeper() {
  if (pid_ < 0) return;
  [[maybe_unused]] const ssize_t written = write(end_, &kDone, 1);
  close(end_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace vramscope::program
