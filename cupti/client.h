// Records CUDA activities of this process through CUPTI, on one clock: kernels, memcpys, memsets,
// API calls, synchronisations and driver allocations.
//
//   struct : Receiver { void Receive(std::span<const trace::Activity>, ...) override; } mine;
//   const Report report = Client::The().Start(FindLibrary(), {.receiver = &mine, ...});
//   for (const Problem& problem : report.problems) Say(problem.what, problem.without);
//   ... Client::The().Flush();   // at the end of a step
//   Client::The().Stop();
//
// CUPTI allows one subscriber per process, so there is one client. Call Start and Stop from one
// thread, and Flush from any thread. In a forked child all calls do nothing.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cupti/consumer.h"
#include "cupti/library.h"

namespace vramscope::cupti {

class Receiver {
 public:
  virtual ~Receiver() = default;
  // Activities contain indexes into `names`, to which names are only added. Receive() is called by
  // one thread at a time: the thread that flushes, the client's thread or, with at_once, any thread
  // of the program.
  virtual void Receive(std::span<const trace::Activity> activities,
                       const std::vector<std::string>& names) = 0;
};

struct Options {
  Receiver* receiver = nullptr;
  ClockFunction clock = nullptr;
  size_t buffer_bytes = size_t{1} << 20;
  size_t most_buffers = 64;         // if more are needed, CUPTI drops records and counts them
  int period_ms = 0;                // > 0: a thread of the client flushes at this period
  void (*each_period)() = nullptr;  // called by that thread after each flush
  std::vector<std::string> first_names = {};  // see ConsumerOptions
  bool wait_for_cause = false;                // PushCause() is used
  // Delivers each record when it is made, on the thread that makes it. Requires the emulated CUPTI,
  // which returns a buffer as soon as it contains the requested number of records.
  bool at_once = false;
  // Returns the number of allocations and frees on a device so far. If set, an emulated CUPTI with
  // at_once also records the operands of kernels, memcpys and memsets.
  uint64_t (*requests)(int device) = nullptr;
  // Returns the line of Python code that the calling thread runs. If set, an emulated CUPTI with
  // at_once uses the line as the name of allocations of host memory.
  const char* (*call_site)() = nullptr;
  bool environment = true;           // record clocks, temperature and power, if the GPU has them
  std::vector<uint32_t> kinds = {};  // kinds to enable; empty: all
};

// What is not available, and what the trace lacks for this reason.
struct Problem {
  std::string what, without;
};

struct Report {
  bool running = false;
  std::string library;
  uint32_t version = 0;
  std::vector<Problem> problems;
};

struct ClientCounts {
  ConsumerCounts consumed;
  uint64_t dropped = 0;  // records that CUPTI dropped
  uint64_t activities = 0;
};

class Client {
 public:
  static Client& The();

  Report Start(Found found, const Options& options);
  // Delivers all complete records. If `forced`, also delivers records of unfinished work.
  void Flush(bool forced = false);
  // Flushes and releases CUPTI, so that another profiler can use it. Start() resumes.
  void Stop();
  bool running() const { return running_.load(std::memory_order_acquire); }
  ClientCounts counts();

  // Returns the number of a name, or 0 before the first Start. Callable from any thread.
  trace::StringId Name(std::string_view text);
  // Returns the number of a stream of the current device in activities. `handle` is a cudaStream_t;
  // 0 is the default stream. Returns nullopt if the client is not running or CUPTI does not know
  // the stream.
  std::optional<uint32_t> StreamId(uint64_t handle) const;
  // Sets the operator and module (ExternalId) of the calls that this thread makes from here on.
  // Also call it while the client is stopped, so that open operators are known after a restart.
  void PushCause(uint64_t id);
  void PopCause();

 private:
  struct Completed {
    uint8_t* buffer = nullptr;
    size_t valid = 0;
  };

  Client() = default;
  static void OnRequest(uint8_t** buffer, size_t* bytes, size_t* most_records);
  static void OnCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                          size_t valid);
  uint8_t* TakeBuffer();
  void Drain(bool finish);
  // Call with consume_mutex_ locked.
  void Consume(std::span<const Completed> completed, size_t dropped, bool finish);
  void Periodically(int period_ms);
  bool IsOwnProcess() const;

  std::atomic<bool> running_{false}, at_once_{false};
  pid_t process_ = 0;
  Library library_;
  Options options_;

  // While this mutex is locked, no other mutex is locked and CUPTI is not called.
  std::mutex buffers_mutex_;
  std::vector<std::unique_ptr<uint64_t[]>> buffers_;  // all buffers ever allocated
  std::vector<uint8_t*> free_;
  std::vector<Completed> completed_;
  uint64_t dropped_ = 0;

  std::mutex consume_mutex_;
  std::unique_ptr<Consumer> consumer_;
  std::vector<trace::Activity> activities_;
  uint64_t received_ = 0;

  // Functions of the library, set by Start() while other threads may call them.
  std::atomic<int (*)(uint32_t, uint64_t)> push_cause_{nullptr};
  std::atomic<int (*)(uint32_t, uint64_t*)> pop_cause_{nullptr};

  std::thread thread_;
  std::mutex wake_mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
};

}  // namespace vramscope::cupti
