#include "profiler/program/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/base/install_paths.h"
#include "profiler/program/folder_entries.h"
#include "profiler/program/idle.h"
#include "profiler/program/keeper.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/program/warm.h"
#include "profiler/run/emulated_gpu.h"

extern char** environ;

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds(10);
constexpr auto kBetweenProgress = std::chrono::milliseconds(200);
constexpr auto kUntilTerm = std::chrono::seconds(5);   // after Ctrl-C, until SIGTERM
constexpr auto kUntilKill = std::chrono::seconds(8);   // after SIGTERM, until SIGKILL
constexpr auto kLeftBehind = std::chrono::seconds(2);  // until children left behind are ended
constexpr char kTrouble[] = "trouble";

using Environment = std::map<std::string, std::string>;

Environment OwnEnvironment() {
  Environment environment;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos)
      environment[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  return environment;
}

void Prepend(Environment& environment, const std::string& key, const std::string& value) {
  std::string& now = environment[key];
  now = now.empty() ? value : value + ":" + now;
}

// With an audit library, the loader decides the size of static thread-local storage before
// it loads preloaded libraries. The default size is too small for jemalloc, which Ray
// preloads.
void ReserveStaticTls(Environment& environment) {
  constexpr std::string_view kName = "glibc.rtld.optional_static_tls=";
  std::string& tunables = environment["GLIBC_TUNABLES"];
  if (tunables.find(kName) != std::string::npos) return;
  tunables += fmt::format("{}{}16384", tunables.empty() ? "" : ":", kName);
}

// Returns the program's environment: the user's environment with vramscope's variables.
Environment For(const Platform& platform, const LaunchOptions& o) {
  Environment e = OwnEnvironment();
  Prepend(e, "PYTHONPATH", platform.hooks);
  // This path is the same in all forks of a warm server, but leads to each fork's own folder.
  const std::string output =
      o.serve.empty() ? o.output : fmt::format("/proc/self/fd/{}", kServedOutput);
  e["VRAMSCOPE_PROGRAM_OUTPUT"] = output;
  e["VRAMSCOPE_PROGRAM_STEPS"] = std::to_string(o.steps);
  std::error_code unknown;
  // The hooks' Python package runs this executable to compute figures of the recording so far.
  e["VRAMSCOPE_PROGRAM_SELF"] = fs::read_symlink("/proc/self/exe", unknown).string();
  e["VRAMSCOPE_PROGRAM_DEVICE"] = o.planned ? o.device.key : "";
  e["VRAMSCOPE_PROGRAM_TAIL"] = platform.activities;
  e["VRAMSCOPE_PROGRAM_STACKS"] = o.cpp_stacks ? "all" : "python";
  if (o.activities && !platform.activities.empty()) {
    e["VRAMSCOPE_PROGRAM_ACTIVITIES"] = platform.activities;
    // If another profiler has set this variable, its value is kept.
    e.try_emplace("CUDA_INJECTION64_PATH", platform.activities);
    if (o.operators && e.try_emplace("NVTX_INJECTION64_PATH", platform.activities).second)
      e["VRAMSCOPE_PROGRAM_OPERATORS"] = "1";
  }
  e.try_emplace("PYTHONHASHSEED", "0");  // sets of strings have the same order in every run
  if (!o.planned) return e;
  if (!o.toggles.empty()) e["VRAMSCOPE_PROGRAM_TOGGLES"] = o.toggles;
  e["VRAMSCOPE_PROGRAM_PYTHONPATH"] = platform.hooks;
  e.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  Prepend(e, "PATH", platform.libraries + "/bin");  // nvidia-smi of the emulated GPUs
  Prepend(e, "LD_AUDIT", platform.libraries + "/libvramscope-audit.so");
  ReserveStaticTls(e);
  e["VRAMSCOPE_EMULATED_GPU"] = run::GrowingGpu(o.device);
  e["VRAMSCOPE_EMULATED_DEVICES"] = std::to_string(o.devices > 0    ? o.devices
                                                   : o.as_rank >= 0 ? 1
                                                                    : o.ranks);
  e["VRAMSCOPE_EMULATED_OUTPUT"] = output;
  if (!o.serve.empty()) {
    e["VRAMSCOPE_PROGRAM_SERVE"] = o.serve;
    e["VRAMSCOPE_PROGRAM_MODULES"] = o.modules;
  }
  e["VRAMSCOPE_PROGRAM_EMULATED"] = platform.libraries;
  e["VRAMSCOPE_PROGRAM_SKIP_INIT"] = o.skip_init ? "1" : "0";
  if (o.as_rank >= 0) {
    e["VRAMSCOPE_PROGRAM_AS_RANK"] = fmt::format("{}/{}", o.as_rank, o.ranks);
    e["VRAMSCOPE_EMULATED_ALONE"] = "1";  // NCCL then does not wait for other ranks
  }
  e["TRITON_LIBCUDA_PATH"] = platform.libraries;
  if (o.isolation == nullptr) return e;
  for (const auto& [key, value] : o.isolation->environment()) {
    if (key == "LD_PRELOAD" || key == "LD_AUDIT") {
      Prepend(e, key, value);
    } else {
      e[key] = value;
    }
  }
  return e;
}

// Returns a free port below 32768. The kernel assigns ephemeral ports from 32768 on (ip(7)), so it
// does not assign this port to another program before rank 0 listens on it.
int FreePort() {
  constexpr int kFirst = 20'000, kPorts = 12'000, kTries = 100;
  std::minstd_rand random(static_cast<unsigned>(
      getpid() ^ std::chrono::steady_clock::now().time_since_epoch().count()));
  int port = kFirst;
  for (int i = 0; i < kTries; ++i) {
    port = kFirst + static_cast<int>(random() % kPorts);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) break;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const bool is_free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (is_free) break;
  }
  return port;
}

absl::Status CannotStart(const std::string& program, int error) {
  const std::string what =
      i18n::Format("'{}' cannot be started: {}", program, i18n::ErrnoText(error));
  if (error == ENOENT) return absl::NotFoundError(i18n::Format("'{}': no such program", program));
  if (error == EACCES) return absl::PermissionDeniedError(what);
  if (error < 0)
    return absl::FailedPreconditionError(i18n::Format(
        "'{}' cannot enter its isolated file system: {}", program, i18n::ErrnoText(-error)));
  return absl::InvalidArgumentError(what);
}

// Runs between fork and exec; only async-signal-safe calls are allowed.
[[noreturn]] void Become(char* const* argv, char* const* environment, const LaunchOptions& options,
                         pid_t parent, int report, int served_output) {
  setpgid(0, 0);
  // This precedes PR_SET_PDEATHSIG, because entering a user namespace clears that setting.
  if (options.isolation != nullptr) {
    if (const int entered = -options.isolation->Enter(); entered != 0) {
      [[maybe_unused]] const ssize_t written = write(report, &entered, sizeof entered);
      _exit(127);
    }
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the program is killed with its parent
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGTTOU})
    std::signal(signal, SIG_DFL);
  // Makes host addresses, and thus the order of containers keyed by them, the same in every run.
  if (options.planned) personality(ADDR_NO_RANDOMIZE);
  if (options.stdout_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
  if (served_output >= 0 && dup2(served_output, kServedOutput) < 0) _exit(127);
  execvpe(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(127);
}

absl::StatusOr<pid_t> Start(const LaunchOptions& options, const Environment& environment) {
  std::vector<std::string> variables;
  for (const auto& [key, value] : environment) variables.push_back(key + "=" + value);
  std::vector<char*> envp, argv;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  std::vector<std::string> arguments = options.command;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return CannotStart(arguments[0], errno);
  const int served_output =
      options.serve.empty() ? -1 : open(options.output.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) Become(argv.data(), envp.data(), options, parent, report[1], served_output);
  const int fork_error = errno;
  close(report[1]);
  if (served_output >= 0) close(served_output);
  int error = 0;
  if (child > 0) {
    setpgid(child, child);  // called by parent and child, because either may run first
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
  }
  close(report[0]);
  if (child < 0) return CannotStart(arguments[0], fork_error);
  if (error != 0) {
    waitpid(child, nullptr, 0);
    return CannotStart(arguments[0], error);
  }
  return child;
}

// Returns the children of this process, including orphans that it inherited. Keepers are left out,
// because they end by themselves.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  ForEachEntry("/proc/self/task", [&](const fs::directory_entry& task) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;)
      if (!Keeper::Is(pid)) children.push_back(pid);
  });
  return children;
}

// Makes the program the terminal's foreground process group while it runs, so that it can read from
// the terminal.
class Foreground {
 public:
  explicit Foreground(pid_t group) {
    if (isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
    before_ = getpgrp();
    old_ = std::signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, group);
  }
  ~Foreground() {
    if (before_ == 0) return;
    tcsetpgrp(STDIN_FILENO, before_);
    std::signal(SIGTTOU, old_);
  }
  Foreground(const Foreground&) = delete;
  Foreground& operator=(const Foreground&) = delete;

 private:
  pid_t before_ = 0;
  void (*old_)(int) = SIG_DFL;
};

class Running {
 public:
  Running(const LaunchOptions& options, Outcome& outcome)
      : options_(options), outcome_(outcome), idle_(options.output, options.most_idle) {}

  void Add(pid_t pid) { pids_.push_back(pid); }
  // Adds a program that is not a child of this process, because a warm server started it.
  void Add(std::unique_ptr<WarmProgram> warm) {
    pids_.push_back(warm->pid());
    warm_.push_back(std::move(warm));
  }

  void Wait() {
    const auto start = Clock::now();
    auto next = start;
    while (!pids_.empty()) {
      Reap();
      const auto now = Clock::now();
      Interrupts(now);
      EndIdle();
      if (options_.progress && now >= next) {
        Progress progress = ProgressOf(options_.output);
        progress.seconds = std::chrono::duration<double>(now - start).count();
        options_.progress(progress);
        next = now + kBetweenProgress;
      }
      if (!pids_.empty()) std::this_thread::sleep_for(kPoll);
    }
    EndOthers();
  }
  void Kill() {
    for (const pid_t pid : pids_) kill(-pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
    pids_.clear();
    EndOthers();
  }

 private:
  void Reap() {
    int status = 0;
    for (size_t i = 0; i < warm_.size();) {
      if (!warm_[i]->Ended(&status)) {
        ++i;
        continue;
      }
      const pid_t pid = warm_[i]->pid();
      warm_.erase(warm_.begin() + static_cast<std::ptrdiff_t>(i));
      Ended(pid, status);
    }
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      // Other children are orphaned processes of the program.
      if (std::find(pids_.begin(), pids_.end(), pid) != pids_.end()) Ended(pid, status);
    }
  }

  void Ended(pid_t pid, int status) {
    std::erase(pids_, pid);
    groups_.push_back(pid);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    // A program that this process has ended did not fail.
    if (outcome_.exit_status != 0 || code == 0 || outcome_.idle) return;
    outcome_.exit_status = code;
    outcome_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (outcome_.signal == SIGINT) outcome_.interrupted = true;
    // If a rank fails, ends all ranks, because the others would wait forever for the failed one.
    for (const pid_t other : pids_) kill(-other, SIGTERM);
    if (!pids_.empty()) Escalate(SIGTERM);
  }

  void Interrupts(Clock::time_point now) {
    const int wanted = options_.interrupts == nullptr ? 0 : options_.interrupts->load();
    if (wanted > 0) outcome_.interrupted = true;
    if (wanted > seen_) {
      seen_ = wanted;
      const int signal = wanted == 1 ? SIGINT : wanted == 2 ? SIGTERM : SIGKILL;
      for (const pid_t pid : pids_) kill(-pid, signal);
      Escalate(signal);
    }
    if (sent_ != 0 && now > deadline_) {
      const int signal = sent_ == SIGINT ? SIGTERM : SIGKILL;
      for (const pid_t pid : pids_) kill(-pid, signal);
      Escalate(signal);
    }
  }
  void EndIdle() {
    if (options_.steps == 0 || !options_.serve.empty() || sent_ != 0 || !idle_.Waits(pids_)) return;
    outcome_.idle = true;
    for (const pid_t pid : pids_) kill(-pid, SIGTERM);
    Escalate(SIGTERM);
  }
  void Escalate(int signal) {
    sent_ = signal;
    deadline_ = Clock::now() + (signal == SIGINT ? kUntilTerm : kUntilKill);
  }

  // Ends processes that are left over, for example from data loaders and launchers.
  void EndOthers() {
    const auto until = Clock::now() + kLeftBehind;
    for (const int signal : {SIGTERM, SIGKILL}) {
      for (const pid_t group : groups_) kill(-group, signal);
      for (const pid_t pid : Children()) {
        kill(-pid, signal);
        kill(pid, signal);
      }
      while (Clock::now() < until || signal == SIGKILL) {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (Children().empty()) return;
        std::this_thread::sleep_for(kPoll);
        if (signal == SIGKILL)
          for (const pid_t pid : Children()) kill(pid, SIGKILL);
      }
    }
  }

  const LaunchOptions& options_;
  Outcome& outcome_;
  std::vector<pid_t> pids_, groups_;
  // Programs that are not children of this process.
  std::vector<std::unique_ptr<WarmProgram>> warm_;
  int seen_ = 0, sent_ = 0;
  Clock::time_point deadline_;
  IdleWatch idle_;
};

// If the program has to start cold, returns null and sets `why` to the reason.
std::unique_ptr<WarmProgram> StartWarm(const LaunchOptions& options, const Environment& environment,
                                       std::string& why) {
  const Isolation* const isolation = options.isolation;
  if (isolation != nullptr && isolation->mode() == IsolationMode::kCopy) {
    why = TEXT_MARK("with the isolation \"copy\", every program is started separately");
    return nullptr;
  }
  WarmRequest request{
      .command = options.command,
      .folder = isolation != nullptr ? isolation->folder() : fs::current_path().string(),
      .environment = environment,
      .output = options.output,
      .streams = {STDIN_FILENO, options.stdout_to_stderr ? STDERR_FILENO : STDOUT_FILENO,
                  STDERR_FILENO},
      .namespaces = isolation != nullptr ? isolation->namespaces() : std::vector<int>{}};
  absl::StatusOr<std::unique_ptr<WarmProgram>> started = WarmProgram::Start(options.warm, request);
  if (started.ok()) return *std::move(started);
  why = std::string(started.status().message());
  return nullptr;
}

// Reserves space in a file for one error message, in case the disk is full when it is written.
void MakeRoomForTrouble(const std::string& folder) {
  std::ofstream(folder + "/" + kTrouble) << std::string(4096, ' ');
}
std::string Trouble(const std::string& folder) {
  std::ifstream file(folder + "/" + kTrouble);
  std::string text;
  std::getline(file, text);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(0, 1024);
}

}  // namespace

absl::StatusOr<Platform> FindPlatform(bool planned) {
  std::vector<fs::path> places;
  if (const char* set = std::getenv("VRAMSCOPE_EMULATED"); set != nullptr && *set != '\0') {
    places.emplace_back(set);
  } else {
    places = {base::OwnPaths().emulated};
  }
  std::string looked;
  for (const fs::path& place : places) {
    std::error_code none;
    const fs::path folder = fs::weakly_canonical(place, none);
    if (fs::exists(folder / "python/inject/sitecustomize.py", none) &&
        (!planned || fs::exists(folder / "libvramscope-audit.so", none))) {
      const fs::path activities = folder / "libvramscope-activities.so";
      return Platform{.libraries = folder.string(),
                      .hooks = (folder / "python/inject").string(),
                      .activities = fs::exists(activities, none) ? activities.string() : ""};
    }
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  return absl::NotFoundError(
      i18n::Format("the emulated platform was not found in {}; build it with ./vramscope, or name "
                   "its folder in $VRAMSCOPE_EMULATED",
                   looked));
}

Progress ProgressOf(const std::string& folder) {
  Progress progress;
  // Looks only into folders of processes. The program may create and remove other folders here.
  ForEachEntry(folder, [&](const fs::directory_entry& process) {
    if (!process.path().filename().string().starts_with("process-")) return;
    ForEachEntry(process.path(), [&](const fs::directory_entry& entry) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("history-") || name.ends_with(".tail")) return;
      std::error_code none;
      const uintmax_t size = entry.file_size(none);
      if (!none) progress.bytes += size;
    });
  });
  std::ifstream steps(folder + "/steps");
  steps >> progress.steps;
  return progress;
}

Outcome Launch(const Platform& platform, const LaunchOptions& options) {
  const auto start = Clock::now();
  Outcome outcome;
  if (options.command.empty()) {
    outcome.started = absl::InvalidArgumentError(i18n::Text("no program to start"));
    return outcome;
  }
  MakeRoomForTrouble(options.output);
  // A folder in memory in which ranks find each other. It is removed when this function returns,
  // even if a rank was killed. If it cannot be made, the ranks choose another place.
  const absl::StatusOr<std::unique_ptr<ScratchFolder>> rooms = ScratchFolder::Make("/dev/shm");
  Environment environment = For(platform, options);
  if (options.planned && rooms.ok()) environment["VRAMSCOPE_EMULATED_ROOMS"] = (*rooms)->path();
  std::vector<std::string> folders;
  if (rooms.ok()) folders.push_back((*rooms)->path());
  if (options.output_goes) folders.push_back(options.output);
  if (options.isolation != nullptr && !options.isolation->changes().empty())
    folders.push_back(options.isolation->changes());
  const Keeper keeper({.output = options.output, .last = options.if_killed, .folders = folders});
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A warm server is one process: it imports once for all ranks.
  const uint32_t processes =
      options.as_rank >= 0 || !options.serve.empty() ? 1 : std::max(options.ranks, 1u);
  const int port = processes > 1 ? FreePort() : 0;
  Running running(options, outcome);
  std::unique_ptr<Foreground> foreground;
  for (uint32_t rank = 0; rank < processes; ++rank) {
    Environment mine = environment;
    if (processes > 1) {
      mine["RANK"] = mine["LOCAL_RANK"] = std::to_string(rank);
      mine["WORLD_SIZE"] = mine["LOCAL_WORLD_SIZE"] = std::to_string(processes);
      mine["MASTER_ADDR"] = "127.0.0.1";
      mine["MASTER_PORT"] = std::to_string(port);
    }
    if (!options.warm.empty()) {
      if (std::unique_ptr<WarmProgram> warm = StartWarm(options, mine, outcome.cold)) {
        running.Add(std::move(warm));
        continue;
      }
    }
    const absl::StatusOr<pid_t> pid = Start(options, mine);
    if (!pid.ok()) {
      outcome.started = pid.status();
      running.Kill();
      break;
    }
    if (rank == 0 && processes == 1) foreground = std::make_unique<Foreground>(*pid);
    running.Add(*pid);
  }
  if (outcome.started.ok()) running.Wait();
  foreground.reset();
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  if (options.isolation != nullptr) outcome.isolation = NameOf(options.isolation->mode());
  outcome.write_error = Trouble(options.output);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

}  // namespace vramscope::program
