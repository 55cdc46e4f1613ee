// Measures how much time and memory vramscope and Python's pickle.load need to open the same
// snapshot. Each run is a separate process, and times are medians.
//
//   snapshot_bench [EVENTS...]            generated snapshots (default: 10000 100000 1000000)
//   snapshot_bench --write FILE EVENTS    only writes a snapshot
//   snapshot_bench --file FILE...         existing snapshots
//   snapshot_bench --parts FILE EVENTS    a hundredth of the events: first, middle and last ones
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/importers/open.h"
#include "profiler/importers/snapshot.h"
#include "profiler/trace/input.h"
#include "tests/bench/make_snapshot.h"

namespace vramscope::bench {
namespace {

struct Run {
  double seconds = 0;
  double cpu = 0;  // CPU seconds of the whole process
  double mib = 0;
  uint64_t count = 0;  // number of events
};

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Runs `body` in a child process; `body` prints "seconds count" to standard output.
std::optional<Run> InChild(const std::function<void()>& body) {
  int fds[2];
  if (pipe(fds) != 0) return std::nullopt;
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(fds[1], STDOUT_FILENO);
    close(fds[0]);
    close(fds[1]);
    body();
    std::fflush(stdout);
    _exit(0);
  }
  close(fds[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = read(fds[0], buffer, sizeof(buffer))) > 0;) text.append(buffer, n);
  close(fds[0]);
  int status = 0;
  rusage usage{};
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) return std::nullopt;
  Run run;
  unsigned long long count = 0;
  if (std::sscanf(text.c_str(), "%lf %llu", &run.seconds, &count) < 1) return std::nullopt;
  run.count = count;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  run.cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  run.mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return run;
}

void Open(const std::string& path, const importers::OpenOptions& options = {}) {
  uint64_t events = 0;
  const double seconds = Seconds([&] {
    const auto trace = importers::OpenTraceFile(path, options);
    if (!trace.ok()) {
      fmt::print(stderr, "{}\n", std::string(trace.status().message()));
      _exit(1);
    }
    events = (*trace)->events.size();
  });
  fmt::print("{} {}\n", seconds, events);
}

void Read(const std::string& path) {
  uint64_t entries = 0;
  const double seconds = Seconds([&] {
    const auto input = trace::InputStream::Open(path);
    if (!input.ok()) _exit(1);
    const auto recording = importers::ReadSnapshot(**input, {});
    if (!recording.ok()) _exit(1);
    entries = recording->entries.size();
  });
  fmt::print("{} {}\n", seconds, entries);
}

void Python(const std::string& path, bool collect) {
  const std::string code = fmt::format(
      "import gc, pickle, time\n{}\nt = time.perf_counter()\n"
      "s = pickle.load(open({:?}, 'rb'))\nprint(time.perf_counter() - t, 0)",
      collect ? "" : "gc.disable()", path);
  execlp("python3", "python3", "-c", code.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

std::optional<Run> Median(int times, const std::function<void()>& body) {
  std::vector<Run> runs;
  for (int i = 0; i < times; ++i) {
    const std::optional<Run> run = InChild(body);
    if (!run) return std::nullopt;
    runs.push_back(*run);
  }
  std::ranges::sort(runs, {}, &Run::seconds);
  return runs[runs.size() / 2];
}

void Compare(const std::string& path) {
  const int times = std::filesystem::file_size(path) > (size_t{300} << 20) ? 3 : 5;
  const auto open = Median(times, [&] { Open(path); });
  const auto read = Median(times, [&] { Read(path); });
  const auto python = Median(times, [&] { Python(path, true); });
  const auto no_gc = Median(times, [&] { Python(path, false); });
  const double mb = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print("{} ({:.1f} MB)\n", std::filesystem::path(path).filename().string(), mb);
  const auto row = [&](const char* name, const std::optional<Run>& run) {
    if (!run) return fmt::print("  {:<28} failed or not here\n", name);
    fmt::print("  {:<28} {:7.3f} s {:7.3f} s CPU {:6.0f} MiB", name, run->seconds, run->cpu,
               run->mib);
    if (run->count > 0) {
      fmt::print("  {:.0f} B an event", run->mib * 1048576 / static_cast<double>(run->count));
      if (python && no_gc)
        fmt::print("; {:.2f} of pickle.load, {:.2f} of it with gc off, {:.2f} of its memory",
                   run->seconds / python->seconds, run->seconds / no_gc->seconds,
                   run->mib / python->mib);
    }
    fmt::print("\n");
  };
  row("vramscope, file to trace", open);
  row("vramscope, file to recording", read);
  row("pickle.load", python);
  row("pickle.load, gc off", no_gc);
  std::fflush(stdout);
}

// Reads a hundredth of the entries three times: at the beginning, in the middle and at the end of
// the file.
void Parts(const std::string& path, uint64_t entries) {
  for (const uint64_t first : {uint64_t{0}, entries / 2, entries - entries / 100}) {
    importers::OpenOptions options;
    options.first_entry = first;
    options.last_entry = first + entries / 100 - 1;
    const auto run = Median(3, [&] { Open(path, options); });
    if (!run) continue;
    fmt::print("  entries {} to {}: {:.3f} s {:.3f} s CPU {:.0f} MiB\n", first, options.last_entry,
               run->seconds, run->cpu, run->mib);
    std::fflush(stdout);  // otherwise, child processes would print the buffer again
  }
}

int Main(const std::vector<std::string>& args) {
  if (args.size() == 3 && args[0] == "--write") {
    const absl::Status status =
        WriteSnapshot({.events = std::strtoull(args[2].c_str(), nullptr, 10)}, args[1]);
    if (!status.ok()) fmt::print(stderr, "{}\n", std::string(status.message()));
    return status.ok() ? 0 : 4;
  }
  if (args.size() >= 2 && args[0] == "--file") {
    for (size_t i = 1; i < args.size(); ++i) Compare(args[i]);
    return 0;
  }
  if (args.size() == 3 && args[0] == "--parts") {
    Parts(args[1], std::strtoull(args[2].c_str(), nullptr, 10));
    return 0;
  }
  std::vector<std::string> sizes = args;
  if (sizes.empty()) sizes = {"10000", "100000", "1000000"};
  for (const std::string& size : sizes) {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("snapshot-{}.pickle", size)).string();
    // Writes in a child process, so that this process and its other children do not inherit the
    // memory.
    const auto written = InChild([&] {
      if (!WriteSnapshot({.events = std::strtoull(size.c_str(), nullptr, 10)}, path).ok()) _exit(1);
      fmt::print("0 0\n");
    });
    if (!written) return 4;
    Compare(path);
    std::filesystem::remove(path);
  }
  return 0;
}

}  // namespace
}  // namespace vramscope::bench

int main(int argc, char** argv) { return vramscope::bench::Main({argv + 1, argv + argc}); }
