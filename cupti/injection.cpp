// A library that the CUDA driver (CUDA_INJECTION64_PATH) or the Python hooks load into a program.
// It writes the program's activities, and samples of NVML's memory figures, to
// OUTPUT/process-PID/activities.bin while the program runs.
//
// Processes that do not use a GPU and forked children write nothing.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cupti/activity_tail_writer.h"
#include "cupti/call_site.h"
#include "cupti/client.h"
#include "cupti/held_rows.h"
#include "cupti/memory_counters.h"
#include "cupti/write_all.h"
#include "profiler/program/activity_chunk.h"

#define VRAMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))

// Defined in allocations.cpp.
extern "C" uint64_t vramscope_history_requests(int device);

namespace vramscope::cupti {
namespace {

using trace::Activity;
using trace::ActivityKind;

// The period of flushes of CUPTI's buffers; a killed process loses at most one period.
constexpr int kPeriodMs = 100;
// With this limit, operands fill at most half of a file's rows (profiler/program/activity_file.h).
constexpr uint64_t kMostOperands = uint64_t{1} << 23;
// An NVML query takes tens of microseconds or more. Samples at the ends of steps are at least
// kBetweenSteps apart. Within a longer step, there is a sample every kBetweenAnswers.
constexpr auto kBetweenSteps = std::chrono::milliseconds(50);
constexpr auto kBetweenAnswers = std::chrono::seconds(1);

// Returns whether the activity shows that the GPU was used, not only queried.
bool IsUse(const Activity& activity) {
  return activity.kind != ActivityKind::kCounter && activity.kind != ActivityKind::kOverhead &&
         activity.kind != ActivityKind::kRuntimeCall &&
         activity.kind != ActivityKind::kDriverCall &&
         activity.kind != ActivityKind::kSynchronization;
}

class File : public Receiver {
 public:
  void Begin(const char* output) { output_ = output; }

  void Receive(std::span<const Activity> activities,
               const std::vector<std::string>& names) override {
    std::lock_guard lock(mutex_);
    // If the first activity of a batch is an operand, all of them are operands.
    if (!activities.empty() && activities.front().kind == ActivityKind::kOperand &&
        (operands_ += activities.size()) > kMostOperands)
      return;
    Take(activities, names);
  }
  // Returns how many activities from before the first use of a GPU were dropped.
  uint64_t left_out() {
    std::lock_guard lock(mutex_);
    return held_.left_out();
  }
  bool too_many_operands() {
    std::lock_guard lock(mutex_);
    return operands_ > kMostOperands;
  }

  // Writes the tail as a chunk.
  void Flush() {
    std::lock_guard lock(mutex_);
    WriteTail();
  }
  // Writes the tail as a chunk and removes its file.
  void Stop() {
    std::lock_guard lock(mutex_);
    if (!tail_.created()) return;
    WriteTail();
    tail_.Close();
    unlink(TailPath().c_str());
    tail_tried_ = false;
  }

  // Adds counters with the names of CounterNames(). If `alone`, CUPTI is not running, so it is
  // unknown whether the GPU is used.
  void Count(std::span<const Activity> counters, bool alone) {
    std::lock_guard lock(mutex_);
    std::vector<Activity> all;
    if (alone && !used_) {
      used_ = true;
      held_.KeepCounters();
      counters = all = held_.Take(counters);
    }
    Take(counters, CounterNames());
  }
  // Returns the names that have the first numbers, from 1 on. Number 0 is the empty name.
  static const std::vector<std::string>& CounterNames() {
    static const auto* names = [] {
      auto* all = new std::vector<std::string>{""};
      for (std::string& name : MemoryCounters::Names()) all->push_back(std::move(name));
      return all;
    }();
    return *names;
  }

  void Say(const program::StreamName& stream) {
    std::lock_guard lock(mutex_);
    WriteTail();
    Write(program::EncodeStreams({&stream, 1}));
  }
  // Writes the state of the recording if it has changed.
  void Say(program::ActivityFacts facts, bool always) {
    std::lock_guard lock(mutex_);
    facts.full = facts_.full;
    if ((!used_ && !always) || (said_ && facts == facts_)) return;
    facts_ = std::move(facts);
    said_ = true;
    WriteTail();
    Write(program::EncodeFacts(facts_));
  }

 private:
  void Take(std::span<const Activity> activities, const std::vector<std::string>& names) {
    std::vector<Activity> all;
    if (!used_) {
      used_ = std::any_of(activities.begin(), activities.end(), IsUse);
      if (!used_) return held_.Add(activities);
      activities = all = held_.Take(activities);
    }
    for (size_t i = named_ + new_names_.size(); i < names.size(); ++i)
      new_names_.push_back(names[i]);
    if (!tail_tried_ && Opened()) {
      tail_tried_ = true;
      tail_.Create(TailPath().c_str(), rows_, named_);
    }
    while (!activities.empty() && tail_.created()) {
      if (!tail_.Add(activities.front(), new_names_)) {
        if (tail_.rows().empty()) break;  // the new names alone do not fit in the tail
        WriteTail();
        continue;
      }
      activities = activities.subspan(1);
    }
    if (!activities.empty()) {
      WriteTail();
      WriteRows(activities);
      if (tail_.created()) tail_.Clear(rows_, named_);
    }
  }
  void WriteTail() {
    if (!tail_.created() || tail_.rows().empty()) return;
    WriteRows(tail_.rows());
    tail_.Clear(rows_, named_);
  }
  void WriteRows(std::span<const Activity> activities) {
    for (size_t at = 0; at < activities.size(); at += program::kMostRowsOfChunk) {
      const auto rows =
          activities.subspan(at, std::min(program::kMostRowsOfChunk, activities.size() - at));
      Write(program::EncodeActivities(named_, new_names_, rows));
      named_ += static_cast<uint32_t>(new_names_.size());
      new_names_.clear();
      rows_ += rows.size();
    }
  }
  std::string Folder() const { return output_ + "/process-" + std::to_string(getpid()); }
  std::string TailPath() const { return Folder() + "/activities.tail"; }
  bool Opened() { return !broken_ && !facts_.full && (file_ >= 0 || Open()); }
  void Write(const std::string& chunk) {
    if (broken_ || (file_ < 0 && !Open())) return;
    constexpr uint64_t kRoomForFacts = 1 << 16;
    if (!facts_.full && written_ + chunk.size() > program::kMaxActivityFileBytes - kRoomForFacts) {
      facts_.full = true;
      Put(program::EncodeFacts(facts_));
    }
    if (!facts_.full) Put(chunk);
  }
  bool Open() {
    const std::string folder = Folder();
    mkdir(folder.c_str(), 0777);
    file_ = open((folder + "/activities.bin").c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    broken_ = file_ < 0;
    return !broken_;
  }
  void Put(const std::string& bytes) {
    const size_t written = WriteAll(file_, bytes);
    written_ += written;
    // If the disk is full, the file ends with a complete chunk.
    broken_ |= written < bytes.size();
  }

  std::mutex mutex_;
  std::string output_;
  int file_ = -1;
  bool used_ = false, broken_ = false, said_ = false, tail_tried_ = false;
  uint32_t named_ = 1;  // names in the file, including the empty name, which is implicit
  std::vector<std::string> new_names_;  // names that are not in the file yet
  uint64_t written_ = 0, rows_ = 0, operands_ = 0;
  ActivityTailWriter tail_;
  HeldRows held_;
  program::ActivityFacts facts_;
};

File& TheFile() {
  static auto* file = new File;  // never destroyed: used while the process ends
  return *file;
}

std::mutex g_mutex;
// The recorded process. A forked child compares this with its own id before it locks a mutex,
// because the child's copies of the mutexes may stay locked.
pid_t g_process = 0;
Report g_report;

// Takes samples of NVML's memory figures for the GPUs of this process.
class Answers {
 public:
  std::string problem() {
    std::lock_guard lock(mutex_);
    return counters_.problem();
  }
  // Takes a sample if the last sample is older than `least`. Returns whether there has been any
  // sample yet.
  bool Ask(std::chrono::nanoseconds least, ClockFunction clock, bool alone) {
    std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (asked_ && now - last_ < least) return true;
    const std::vector<Activity> counters = counters_.Ask(static_cast<int64_t>(clock()));
    if (counters.empty()) return asked_;
    asked_ = true;
    last_ = now;
    TheFile().Count(counters, alone);
    return true;
  }

 private:
  std::mutex mutex_;
  MemoryCounters counters_;
  bool asked_ = false;
  std::chrono::steady_clock::time_point last_;
};

Answers& TheAnswers() {
  static auto* answers = new Answers;
  return *answers;
}

program::ActivityFacts Facts() {
  program::ActivityFacts facts;
  facts.running = g_report.running;
  facts.virtual_clock = IsVirtual(ClockOfProcess());
  facts.library = g_report.library;
  facts.version = g_report.version;
  for (const Problem& problem : g_report.problems)
    facts.problems.push_back({problem.what, problem.without});
  if (const std::string problem = TheAnswers().problem(); !problem.empty())
    facts.problems.push_back({"NVML: " + problem, "GPU memory of other processes is not shown"});
  if (TheFile().too_many_operands())
    facts.problems.push_back({"the kernels have more than 8 million operands",
                              "the blocks that later kernels access are unknown"});
  if (const uint64_t early = TheFile().left_out(); early > 0)
    facts.problems.push_back(
        {std::to_string(early) + " records from before the first use of a GPU were dropped",
         "API calls from the start of the program are missing"});
  const ClientCounts counts = Client::The().counts();
  facts.dropped = counts.dropped;
  facts.left_out = counts.consumed.cut + counts.consumed.untimed;
  return facts;
}

void EachPeriod() {
  TheFile().Flush();
  if (!IsVirtual(ClockOfProcess())) TheAnswers().Ask(kBetweenAnswers, ClockOfProcess(), false);
}

// Returns whether to record the operator of each kernel, and the blocks that the kernel accesses.
bool OperatorsWanted() {
  const char* wanted = getenv("VRAMSCOPE_PROGRAM_OPERATORS");
  return wanted != nullptr && std::string_view(wanted) == "1";
}

void Listen() {
  const ClockFunction clock = ClockOfProcess();
  g_report = Client::The().Start(
      FindLibrary(), {.receiver = &TheFile(),
                      .clock = clock,
                      .period_ms = kPeriodMs,
                      .each_period = &EachPeriod,
                      .first_names = MemoryCounters::Names(),
                      .wait_for_cause = true,
                      .at_once = IsVirtual(clock),
                      .requests = OperatorsWanted() ? &vramscope_history_requests : nullptr,
                      .call_site = IsVirtual(clock) ? &CallSite : nullptr,
                      .environment = !IsVirtual(clock)});
}

}  // namespace
}  // namespace vramscope::cupti

using namespace vramscope::cupti;  // NOLINT: C functions follow

// Releases CUPTI and writes all activities: at exit, and while the program profiles itself.
VRAMSCOPE_EXPORTED void vramscope_activities_stop() {
  if (g_process != getpid()) return;
  std::lock_guard lock(g_mutex);
  TheAnswers().Ask(kBetweenSteps, ClockOfProcess(), !g_report.running);
  Client::The().Stop();
  TheFile().Say(Facts(), false);
  TheFile().Stop();
}

// Starts or resumes the recording.
VRAMSCOPE_EXPORTED void vramscope_activities_start() {
  if (g_process != 0 && g_process != getpid()) return;
  std::lock_guard lock(g_mutex);
  const char* output = getenv("VRAMSCOPE_PROGRAM_OUTPUT");
  if (output == nullptr || Client::The().running()) return;
  if (g_process == 0) {
    g_process = getpid();
    TheFile().Begin(output);
    atexit(&vramscope_activities_stop);
  }
  Listen();
  TheFile().Say(Facts(), !g_report.running);
}

// Called at the end of a step.
VRAMSCOPE_EXPORTED void vramscope_activities_flush() {
  if (g_process != getpid()) return;
  std::lock_guard lock(g_mutex);
  Client::The().Flush();
  TheFile().Flush();
  TheFile().Say(Facts(), false);
}

// The hooks call this at every mark until it returns 1, which means that a sample has been taken.
// From then on, they call it at the end of every step. With the virtual clock, every step has a
// sample, so that two runs write equal traces.
VRAMSCOPE_EXPORTED int vramscope_activities_sample() {
  if (g_process != getpid()) return 0;
  std::lock_guard lock(g_mutex);
  const ClockFunction clock = ClockOfProcess();
  const auto least = IsVirtual(clock) ? std::chrono::milliseconds(0) : kBetweenSteps;
  return TheAnswers().Ask(least, clock, !g_report.running) ? 1 : 0;
}

// Writes CUPTI's number of a stream of the current device. `handle` is the handle that the
// allocator uses for the stream. Returns 1 if CUPTI knows the stream.
VRAMSCOPE_EXPORTED int vramscope_activities_stream(int device, uint64_t handle) {
  if (g_process != getpid()) return 0;
  std::lock_guard lock(g_mutex);
  const std::optional<uint32_t> id = Client::The().StreamId(handle);
  if (id.has_value())
    TheFile().Say({.device = static_cast<uint8_t>(device), .handle = handle, .id = *id});
  return id.has_value() ? 1 : 0;
}

// The entry point that the CUDA driver calls.
VRAMSCOPE_EXPORTED int InitializeInjection() {
  vramscope_activities_start();
  return 1;
}
