#include "app/cli/mcp/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "app/cli/command.h"

namespace vramscope::cli::mcp {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 100;
constexpr auto kEndsWithin = std::chrono::seconds(10);  // time to end after a cancellation
constexpr size_t kMostNotes = 100, kMostNoteBytes = 4000;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void Set(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

std::string Self() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

struct Prepared {
  std::string program;
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
  explicit Prepared(const std::vector<std::string>& arguments, const std::string& other = {},
                    const std::vector<std::string>& environment = {})
      : program(other.empty() ? Self() : other), words(arguments) {
    argv.push_back(program.data());
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const auto name = [](std::string_view variable) {
      return variable.substr(0, variable.find('='));
    };
    for (char** own = environ; *own != nullptr; ++own)
      if (std::ranges::none_of(environment, [&](const auto& v) { return name(v) == name(*own); }))
        variables.emplace_back(*own);
    for (const std::string& variable : environment)
      if (variable.find('=') != std::string::npos) variables.push_back(variable);
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
  }
};

// Runs between fork and exec, so it makes only calls that are safe there. The command gets an empty
// standard input, because the client's messages arrive on the server's standard input.
[[noreturn]] void Become(const Prepared& prepared, const char* folder, int out, int err,
                         bool stays) {
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(out >= 0 ? out : null, STDOUT_FILENO);
  dup2(err >= 0 ? err : null, STDERR_FILENO);
  if (stays) {
    setsid();
  } else {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  if (folder != nullptr && chdir(folder) != 0) _exit(127);
  execvpe(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  _exit(127);
}

absl::Status Failed(const char* what) {
  return absl::InternalError(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Reads the available bytes. Returns false if the other side has closed the pipe.
bool ReadMore(int fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(), static_cast<size_t>(got));
  return got > 0;
}

void TakeLines(std::string& text, ChildOutcome& outcome, bool ended) {
  const auto keep = [](std::vector<std::string>& lines, std::string line) {
    lines.push_back(std::move(line));
    if (lines.size() > kMostNotes) lines.erase(lines.begin());
  };
  for (size_t end = text.find('\n'); end != std::string::npos || (ended && !text.empty());
       end = text.find('\n')) {
    std::string line = text.substr(0, std::min(end, kMostNoteBytes));
    text.erase(0, end == std::string::npos ? end : end + 1);
    if (!line.starts_with("vramscope: ")) {
      keep(outcome.printed, line);
    } else if (line.erase(0, 11).starts_with(kErrorPrefix)) {
      keep(outcome.errors, line.substr(kErrorPrefix.size()));
    }
    keep(outcome.notes, std::move(line));
  }
  if (text.size() > kMostNoteBytes * 16) text.clear();
}

}  // namespace

absl::StatusOr<ChildOutcome> RunChild(const std::vector<std::string>& arguments,
                                      const std::string& folder,
                                      const std::function<bool()>& cancelled,
                                      const std::function<void()>& tick) {
  return RunOther("", arguments, {}, folder, cancelled, tick);
}

absl::StatusOr<ChildOutcome> RunOther(const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment,
                                      const std::string& folder,
                                      const std::function<bool()>& cancelled,
                                      const std::function<void()>& tick) {
  const Prepared prepared(arguments, program, environment);
  std::array<int, 2> out{}, err{};
  Descriptor out_read, out_write, err_read, err_write;
  if (pipe2(out.data(), O_CLOEXEC) != 0) return Failed("no pipe");
  out_read.Set(out[0]), out_write.Set(out[1]);
  if (pipe2(err.data(), O_CLOEXEC) != 0) return Failed("no pipe");
  err_read.Set(err[0]), err_write.Set(err[1]);
  const pid_t child = fork();
  if (child < 0) return Failed("no process");
  if (child == 0)
    Become(prepared, folder.empty() ? nullptr : folder.c_str(), out_write.get(), err_write.get(),
           false);
  out_write.Close(), err_write.Close();

  ChildOutcome outcome;
  std::string said;
  bool out_open = true, err_open = true;
  Clock::time_point told{};
  int status = 0;
  pid_t ended = 0;
  // Waits for the end of the command. Its pipes may stay open longer if a grandchild has them.
  while (ended == 0 || ((out_open || err_open) && told == Clock::time_point{})) {
    std::array<pollfd, 2> files = {
        {{out_open ? out_read.get() : -1, POLLIN, 0}, {err_open ? err_read.get() : -1, POLLIN, 0}}};
    // A command that has closed its pipes ends soon.
    const bool soon = ended != 0 || (!out_open && !err_open);
    const int ready = poll(files.data(), files.size(), soon ? kPollMs / 10 : kPollMs);
    if (files[0].revents != 0) out_open = ReadMore(out_read.get(), outcome.out);
    if (files[1].revents != 0) err_open = ReadMore(err_read.get(), said);
    TakeLines(said, outcome, false);
    if (ended != 0 && ready == 0) break;
    if (ended == 0) ended = waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == EINTR) ended = 0;
    tick();
    const bool too_much = outcome.out.size() > kMostOutput;
    if ((too_much || cancelled()) && told == Clock::time_point{} && ended == 0) {
      outcome.cancelled = !too_much;
      told = Clock::now();
      kill(child, SIGINT);
    }
    if (ended == 0 && told != Clock::time_point{} && Clock::now() - told > kEndsWithin)
      kill(child, SIGKILL);
  }
  TakeLines(said, outcome, true);
  if (outcome.out.size() > kMostOutput)
    return absl::ResourceExhaustedError("the command printed more than 64 MiB");
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

absl::StatusOr<int> StartDetached(const std::vector<std::string>& arguments) {
  const Prepared prepared(arguments);
  const pid_t child = fork();
  if (child < 0) return Failed("no process");
  if (child == 0) Become(prepared, nullptr, -1, -1, true);
  return child;
}

}  // namespace vramscope::cli::mcp
