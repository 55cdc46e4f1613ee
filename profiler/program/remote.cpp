#include "profiler/program/remote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/program/folder_stream.h"
#include "profiler/program/request.h"

namespace vramscope::program {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenSends = std::chrono::milliseconds(50);
constexpr int kBetweenLooksMs = 100;
constexpr int kNoSuchProgram = 127, kNoConnection = 255;  // exit statuses of the shell, of ssh

void CloseAll(std::initializer_list<int> fds) {
  for (const int fd : fds) close(fd);
}

// Returns the command line for the remote shell.
std::string CommandThere(const Remote& remote, const LaunchOptions& o) {
  std::vector<std::string> words = {remote.vramscope, "record", "--stream", "--steps",
                                    std::to_string(o.steps)};
  if (o.cpp_stacks) words.emplace_back("--cpp-stacks");
  if (!o.activities) words.emplace_back("--no-activities");
  if (o.operators) words.emplace_back("--operators");
  words.emplace_back("--");
  words.insert(words.end(), o.command.begin(), o.command.end());
  const std::string folder =
      remote.folder.empty() ? "" : "cd -- " + JoinWords({remote.folder}) + " && ";
  return folder + "exec " + JoinWords(words);
}

struct Connection {
  pid_t pid = -1;
  int to = -1, from = -1;  // ssh's standard input and output
  int error = 0;           // errno if ssh could not be started
};

Connection Connect(const std::vector<std::string>& words) {
  Connection c;
  std::vector<std::string> copy = words;
  std::vector<char*> argv;
  for (std::string& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> in{}, out{}, report{};
  if (pipe2(in.data(), O_CLOEXEC) != 0) return {.error = errno};
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    CloseAll({in[0], in[1]});
    return {.error = errno};
  }
  if (pipe2(report.data(), O_CLOEXEC) != 0) {
    CloseAll({in[0], in[1], out[0], out[1]});
    return {.error = errno};
  }
  const pid_t parent = getpid();
  c.pid = fork();
  if (c.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kNoSuchProgram);
    // The parent handles Ctrl-C and passes it on. ssh keeps SIGINT ignored if it is ignored when
    // ssh starts.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGPIPE, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execvp(argv[0], argv.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(report[1], &error, sizeof error);
    _exit(kNoSuchProgram);
  }
  if (c.pid < 0) c.error = errno;
  CloseAll({in[0], out[1], report[1]});
  while (c.pid > 0 && read(report[0], &c.error, sizeof c.error) < 0 && errno == EINTR) {
  }
  close(report[0]);
  c.to = in[1];
  c.from = out[0];
  return c;
}

absl::Status NoAnswer(const Remote& remote, const std::string& ssh, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchProgram)
    return absl::NotFoundError(
        i18n::Format("'{}' has no '{}' on the PATH of the shell that ssh starts; install it there, "
                     "or give its path with --remote-vramscope",
                     remote.host, remote.vramscope));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoConnection)
    return absl::UnavailableError(i18n::Format("{} cannot reach '{}'", ssh, remote.host));
  const std::string how = WIFSIGNALED(status) ? i18n::Format("signal {}", WTERMSIG(status))
                                              : i18n::Format("status {}", WEXITSTATUS(status));
  return absl::UnavailableError(
      i18n::Format("'{}' sent no recording: the command there ended with {}", remote.host, how));
}

}  // namespace

Outcome LaunchRemote(const Remote& remote, const LaunchOptions& options) {
  const auto start = Clock::now();
  Outcome outcome;
  const char* named = std::getenv("VRAMSCOPE_SSH");
  const std::string ssh = named != nullptr && *named != '\0' ? named : "ssh";
  if (remote.host.empty() || remote.host[0] == '-') {
    outcome.started = absl::InvalidArgumentError(i18n::Format(
        "--host: '{}' is not a host name that ssh accepts, such as user@host", remote.host));
    return outcome;
  }
  const Connection c = Connect({ssh, "-T", remote.host, CommandThere(remote, options)});
  if (c.error != 0) {
    if (c.pid > 0) waitpid(c.pid, nullptr, 0);
    if (c.to >= 0) CloseAll({c.to, c.from});
    outcome.started = absl::NotFoundError(
        i18n::Format("'{}' cannot be started: {}", ssh, i18n::ErrnoText(c.error)));
    return outcome;
  }
  const auto pipe_before = std::signal(SIGPIPE, SIG_IGN);
  FolderReceiver receiver(options.output);
  absl::Status taken;
  int seen = 0;
  std::vector<char> buffer(size_t{1} << 20);
  auto next = start;
  while (taken.ok()) {
    const int wanted = options.interrupts == nullptr ? 0 : options.interrupts->load();
    if (wanted > seen) {
      outcome.interrupted = true;
      const char byte = 'i';
      if (wanted > 2 || write(c.to, &byte, 1) != 1) kill(c.pid, SIGTERM);
      seen = wanted;
    }
    pollfd watched{.fd = c.from, .events = POLLIN, .revents = 0};
    if (poll(&watched, 1, kBetweenLooksMs) > 0) {
      const ssize_t got = read(c.from, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      taken = receiver.Take({buffer.data(), static_cast<size_t>(got)});
    }
    if (options.progress && Clock::now() >= next) {
      Progress progress = ProgressOf(options.output);
      progress.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      options.progress(progress);
      next = Clock::now() + std::chrono::milliseconds(kBetweenLooksMs);
    }
  }
  CloseAll({c.to, c.from});
  if (!taken.ok()) kill(c.pid, SIGTERM);
  int status = 0;
  while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGPIPE, pipe_before);
  if (receiver.outcome()) {
    const bool interrupted = outcome.interrupted;
    outcome = *receiver.outcome();
    outcome.interrupted = outcome.interrupted || interrupted;
  } else if (!taken.ok()) {
    outcome.started =
        absl::UnavailableError(fmt::format("'{}': {}", remote.host, std::string(taken.message())));
  } else if (!receiver.begun()) {
    outcome.started = NoAnswer(remote, ssh, status);
  } else {
    outcome.started = absl::UnavailableError(i18n::Format(
        "the connection to '{}' ended before the program did; the data received until then is kept",
        remote.host));
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

Outcome LaunchForRemote(const Platform& platform, LaunchOptions options,
                        std::atomic<int>& interrupts) {
  // Commands and the stream use other descriptors, so that the program can neither read the
  // commands on standard input nor print into the stream on standard output.
  const int commands = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close(nothing);
  std::signal(SIGPIPE, SIG_IGN);

  options.interrupts = &interrupts;
  options.stdout_to_stderr = true;
  constexpr int kGone = 2;  // ends the program immediately: nothing can receive the result
  FolderSender sender(options.output, [&](std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t wrote = write(out, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        interrupts = kGone;  // the connection is closed
        return absl::UnavailableError(i18n::ErrnoText(errno));
      }
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return absl::OkStatus();
  });
  absl::Status sent = sender.Begin();
  std::mutex mutex;
  std::condition_variable wake;
  bool ended = false;
  std::array<int, 2> end_listening{-1, -1};
  [[maybe_unused]] const int piped = pipe2(end_listening.data(), O_CLOEXEC);
  std::thread listener([&] {
    pollfd watched[] = {{.fd = commands, .events = POLLIN, .revents = 0},
                        {.fd = end_listening[0], .events = POLLIN, .revents = 0}};
    while (true) {
      if (poll(watched, 2, -1) < 0) continue;
      if (watched[1].revents != 0) return;
      char byte = 0;
      const ssize_t got = read(commands, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        interrupts = kGone;
        return;
      }
      ++interrupts;
    }
  });
  std::thread sending([&] {
    std::unique_lock lock(mutex);
    while (!ended && sent.ok()) {
      lock.unlock();
      const absl::Status now = sender.SendNew();
      lock.lock();
      sent = now;
      if (!ended) wake.wait_for(lock, kBetweenSends, [&] { return ended; });
    }
  });
  const Outcome outcome = Launch(platform, options);
  {
    std::lock_guard lock(mutex);
    ended = true;
  }
  wake.notify_all();
  sending.join();
  close(end_listening[1]);
  listener.join();
  close(end_listening[0]);
  if (sent.ok()) sent = sender.End(outcome);
  CloseAll({commands, out});
  return outcome;
}

}  // namespace vramscope::program
