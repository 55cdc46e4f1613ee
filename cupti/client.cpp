#include "cupti/client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "cupti/quiet_calls.h"

namespace vramscope::cupti {
namespace {

constexpr uint32_t kForced = 1;         // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
constexpr uint32_t kSystemThreads = 1;  // gettid(), as in Python and in the trace
constexpr uint32_t kOurIds = 5;         // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2

struct KindFacts {
  uint32_t kind;
  const char* name;
  const char* without;
};
constexpr KindFacts kKinds[] = {
    {kConcurrentKernel, "kernels", "kernels and collectives are not shown"},
    {kMemcpy, "memcpys", "memcpys are not shown"},
    {kMemcpy2, "memcpys between devices", "memcpys between GPUs are not shown"},
    {kMemset, "memsets", "memsets are not shown"},
    {kRuntime, "runtime calls", "the calls that launched kernels are unknown"},
    {kDriver, "driver calls", "the calls that launched Triton kernels are unknown"},
    {kExternalCorrelation, "external correlation", "the operators of kernels are unknown"},
    {kSynchronization, "synchronizations", "host synchronizations are not shown"},
    {kMemory2, "driver allocations", "memory outside PyTorch's allocator is not itemized"},
    {kOperands, "operands", "the blocks that a kernel accesses are unknown"},
    {kOverhead, "overhead", "CUPTI's own overhead is not shown"},
    {kEnvironment, "environment", "clocks, temperature and power are not shown"},
};

// Disables the records of the quiet calls (quiet_calls.h). Call this whenever `kind` has been
// enabled, because enabling a kind enables all its calls. CUPTI before CUDA 12 cannot disable
// single calls, and no version can disable calls whose numbers it does not know.
void LeaveOutQuietCalls(const Library& library, uint32_t kind) {
  if (kind == kRuntime && library.ActivityEnableRuntimeApi != nullptr)
    for (const uint32_t call : kQuietRuntimeCalls) library.ActivityEnableRuntimeApi(call, 0);
  if (kind == kDriver && library.ActivityEnableDriverApi != nullptr)
    for (const uint32_t call : kQuietDriverCalls) library.ActivityEnableDriverApi(call, 0);
}

std::string ErrorText(const Library& library, int status) {
  switch (status) {
    case kMultipleSubscribers:
      return "another profiler uses CUPTI in this process";
    case kInsufficientPrivileges:
      return "the driver lets only administrators profile (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)";
    case kVirtualizedDevice:
      return "this virtual GPU does not allow profiling";
    case kNotInitialized:
      return "CUPTI could not be initialized";
    case kUnknownError:
      return "CUPTI finds no driver";
    default:
      break;
  }
  const char* text = nullptr;
  if (library.GetResultString != nullptr && library.GetResultString(status, &text) == kSuccess &&
      text != nullptr)
    return text;
  return "CUPTI error " + std::to_string(status);
}

// Returns `clock` minus CUPTI's clock, from the fastest of several measurements.
int64_t Offset(const Library& library, ClockFunction clock) {
  int64_t offset = 0;
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    uint64_t theirs = 0;
    const uint64_t before = clock();
    if (library.GetTimestamp(&theirs) != kSuccess) return 0;
    const uint64_t took = clock() - before;
    if (took < best) {
      best = took;
      offset = static_cast<int64_t>(before + took / 2 - theirs);
    }
  }
  return offset;
}

// Returns the library that contains an address ("libnccl.so.2"), or "" for code made at run time.
std::string LibraryAt(uint64_t address) {
  Dl_info facts = {};
  if (dladdr(reinterpret_cast<void*>(address), &facts) == 0 || facts.dli_fname == nullptr)
    return "";
  const std::string path = facts.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Client& Client::The() {
  static auto* client = new Client;  // never destroyed: CUPTI may call back while the process ends
  return *client;
}

bool Client::IsOwnProcess() const { return process_ == getpid(); }

Report Client::Start(Found found, const Options& options) {
  Report report;
  report.library = found.library.name;
  report.version = found.library.version;
  const auto without_all = [&](std::string what) {
    report.problems.push_back({std::move(what), "kernels, memcpys and calls are not shown"});
    return report;
  };
  if (running()) return without_all("CUPTI is already in use by vramscope");
  if (!found.problem.empty()) return without_all(std::move(found.problem));
  library_ = std::move(found.library);
  options_ = options;
  process_ = getpid();

  // If there is a subscriber, another profiler is active. Buffers registered here would replace its
  // buffers.
  if (library_.Subscribe != nullptr && library_.Unsubscribe != nullptr) {
    void* subscriber = nullptr;
    const int status = library_.Subscribe(&subscriber, nullptr, nullptr);
    if (status != kSuccess) return without_all(ErrorText(library_, status));
    library_.Unsubscribe(subscriber);
  }
  if (library_.SetThreadIdType != nullptr) library_.SetThreadIdType(kSystemThreads);
  int64_t offset = 0;
  if (options_.clock != nullptr &&
      (library_.ActivityRegisterTimestampCallback == nullptr ||
       library_.ActivityRegisterTimestampCallback(options_.clock) != kSuccess))
    offset = Offset(library_, options_.clock);
  {
    std::lock_guard lock(consume_mutex_);
    // The consumer is kept after a stop, so that names keep their numbers.
    if (consumer_ == nullptr) {
      ConsumerOptions consume;
      consume.next = library_.ActivityGetNextRecord;
      consume.wait_for_cause = options_.wait_for_cause;
      if (library_.GetCallbackName != nullptr)
        consume.name_of_call = [this](CallbackDomain domain, uint32_t callback) -> std::string {
          const char* name = nullptr;
          const int status = library_.GetCallbackName(domain, callback, &name);
          return status == kSuccess && name != nullptr ? name : "";
        };
      consume.name_of_code = &LibraryAt;
      consume.first_names = options_.first_names;
      consumer_ = std::make_unique<Consumer>(std::move(consume));
    }
    consumer_->set_offset_ns(offset);
    consumer_->set_call_sites(options_.at_once && options_.call_site != nullptr);
  }
  if (const int status = library_.ActivityRegisterCallbacks(&OnRequest, &OnCompleted);
      status != kSuccess)
    return without_all(ErrorText(library_, status));
  // The two functions push_cause_ and pop_cause_ are called for every operator. Resetting the
  // pointers once in a forked child is cheaper than comparing process ids at each call.
  static const int in_children = pthread_atfork(nullptr, nullptr, [] {
    The().push_cause_.store(nullptr, std::memory_order_relaxed);
    The().pop_cause_.store(nullptr, std::memory_order_relaxed);
    The().at_once_.store(false, std::memory_order_relaxed);
  });
  static_cast<void>(in_children);
  push_cause_.store(library_.ActivityPushExternalCorrelationId, std::memory_order_release);
  pop_cause_.store(library_.ActivityPopExternalCorrelationId, std::memory_order_release);
  at_once_.store(options_.at_once, std::memory_order_release);
  running_.store(true, std::memory_order_release);
  bool any = false;
  for (const KindFacts& facts : kKinds) {
    if (!options_.kinds.empty() &&
        std::find(options_.kinds.begin(), options_.kinds.end(), facts.kind) == options_.kinds.end())
      continue;
    if (facts.kind == kExternalCorrelation && !options_.wait_for_cause) continue;
    if (facts.kind == kEnvironment && !options_.environment) continue;
    if (facts.kind == kOperands && !(options_.at_once && EnableOperands(options_.requests)))
      continue;
    const int status = library_.ActivityEnable(facts.kind);
    if (status == kSuccess) {
      any = true;
      LeaveOutQuietCalls(library_, facts.kind);
    }
    if (status != kSuccess)
      report.problems.push_back(
          {std::string(facts.name) + ": " + ErrorText(library_, status), facts.without});
  }
  if (!any) {
    running_.store(false, std::memory_order_release);
    if (!report.problems.empty()) {
      const std::string what = report.problems.front().what;
      report.problems.clear();
      return without_all(what);
    }
    return without_all("no activity kinds were requested");
  }
  if (options_.at_once) EnableCallSites(options_.call_site);
  report.running = true;
  if (options_.period_ms > 0) {
    ending_ = false;
    // Signals stay blocked in the new thread, so that the program's threads handle them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { Periodically(options_.period_ms); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  return report;
}

void Client::Periodically(int period_ms) {
  std::unique_lock lock(wake_mutex_);
  while (!ending_) {
    wake_.wait_for(lock, std::chrono::milliseconds(period_ms));
    if (ending_) return;
    lock.unlock();
    Flush();
    if (options_.each_period != nullptr) options_.each_period();
    lock.lock();
  }
}

void Client::Flush(bool forced) {
  if (!running() || !IsOwnProcess()) return;
  library_.ActivityFlushAll(forced ? kForced : 0);
  Drain(false);
}

void Client::Stop() {
  if (!running() || !IsOwnProcess()) return;
  {
    std::lock_guard lock(wake_mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  library_.ActivityFlushAll(kForced);
  for (const KindFacts& facts : kKinds) library_.ActivityDisable(facts.kind);
  running_.store(false, std::memory_order_release);
  EnableOperands(nullptr);
  EnableCallSites(nullptr);
  Drain(true);
}

ClientCounts Client::counts() {
  ClientCounts counts;
  {
    std::lock_guard lock(consume_mutex_);
    if (consumer_ != nullptr) counts.consumed = consumer_->counts();
    counts.activities = received_;
  }
  std::lock_guard lock(buffers_mutex_);
  counts.dropped = dropped_;
  return counts;
}

trace::StringId Client::Name(std::string_view text) {
  std::lock_guard lock(consume_mutex_);
  return consumer_ == nullptr ? trace::StringId{} : consumer_->Intern(text);
}

std::optional<uint32_t> Client::StreamId(uint64_t handle) const {
  if (!running() || !IsOwnProcess() || library_.GetStreamIdEx == nullptr) return std::nullopt;
  uint32_t id = 0;
  // The null pointer stands for the context of this thread.
  const int status =
      library_.GetStreamIdEx(nullptr, reinterpret_cast<void*>(handle), /*per_thread=*/0, &id);
  if (status != kSuccess) return std::nullopt;
  return id;
}

void Client::PushCause(uint64_t id) {
  const auto push = push_cause_.load(std::memory_order_acquire);
  if (push != nullptr) push(kOurIds, id);
}
void Client::PopCause() {
  const auto pop = pop_cause_.load(std::memory_order_acquire);
  uint64_t last = 0;
  if (pop != nullptr) pop(kOurIds, &last);
}

uint8_t* Client::TakeBuffer() {
  std::lock_guard lock(buffers_mutex_);
  if (free_.empty()) {
    if (buffers_.size() == options_.most_buffers) return nullptr;
    buffers_.push_back(std::make_unique_for_overwrite<uint64_t[]>(options_.buffer_bytes / 8));
    free_.push_back(reinterpret_cast<uint8_t*>(buffers_.back().get()));
  }
  uint8_t* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Client::OnRequest(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  Client& client = The();
  *most_records = client.options_.at_once ? 1 : 0;  // 0: as many as fit
  *buffer = client.TakeBuffer();
  *bytes = *buffer == nullptr ? 0 : client.options_.buffer_bytes / 8 * 8;
}

void Client::OnCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                         size_t valid) {
  Client& client = The();
  const Completed done{buffer, std::min(valid, bytes)};
  size_t dropped = 0;
  if (client.library_.ActivityGetNumDroppedRecords != nullptr)
    client.library_.ActivityGetNumDroppedRecords(context, stream, &dropped);
  if (buffer != nullptr && client.at_once_.load(std::memory_order_acquire)) {
    std::lock_guard consuming(client.consume_mutex_);
    return client.Consume({&done, 1}, dropped, false);
  }
  std::lock_guard lock(client.buffers_mutex_);
  client.dropped_ += dropped;
  if (buffer == nullptr) return;
  client.completed_.push_back(done);
  if (client.completed_.size() >= client.options_.most_buffers / 4) client.wake_.notify_one();
}

void Client::Drain(bool finish) {
  std::lock_guard consuming(consume_mutex_);
  std::vector<Completed> completed;
  {
    std::lock_guard lock(buffers_mutex_);
    completed.swap(completed_);
  }
  Consume(completed, 0, finish);
}

void Client::Consume(std::span<const Completed> completed, size_t dropped, bool finish) {
  activities_.clear();
  for (const Completed& done : completed) consumer_->Consume(done.buffer, done.valid, activities_);
  if (finish) consumer_->Finish(activities_);
  {
    std::lock_guard lock(buffers_mutex_);
    dropped_ += dropped;
    for (const Completed& done : completed) free_.push_back(done.buffer);
  }
  received_ += activities_.size();
  if (options_.receiver != nullptr && !activities_.empty())
    options_.receiver->Receive(activities_, consumer_->names());
}

}  // namespace vramscope::cupti
