// Watches what CUDA does in this process: kernels, copies, fills, calls, synchronisations and the
// driver's allocations, as CUPTI tells them, on one clock.
//
//   struct IsOwnProcess : Receiver { void Receive(std::span<const trace::Activity>, ...) override;
//   } mine; Client& client = Client::The(); const Report report = client.Start(FindLibrary(),
//   {.receiver = &mine, .clock = ClockOfProcess()}); for (const Problem& problem : report.problems)
//   Say(problem.what, problem.without);
//   ... client.Flush();   // at the end of a step
//   client.Stop();
//
// CUPTI serves one listener in a process, so there is one client. Start and Stop from one thread;
// Flush from any. A child of a fork has none: calls there do nothing.
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
  // Names are numbered from `names`, which only grows. One call at a time, on the thread that
  // flushes, the client's own, or (at_once) any of the program's.
  virtual void Receive(std::span<const trace::Activity> activities,
                       const std::vector<std::string>& names) = 0;
};

struct Options {
  Receiver* receiver = nullptr;
  ClockFunction clock = nullptr;
  size_t buffer_bytes = size_t{1} << 20;
  size_t most_buffers = 64;                   // beyond them CUPTI drops records, which are counted
  int period_ms = 0;                          // > 0: a thread of ours flushes so often
  void (*each_period)() = nullptr;            // and calls that
  std::vector<std::string> first_names = {};  // as Consumer's
  bool wait_for_cause = false;                // ids are pushed (PushCause)
  // Each record goes to the receiver when it is made, on the thread that makes it: of a CUPTI that
  // hands buffers over as soon as they hold as many records as are wanted (the emulated one).
  bool at_once = false;
  // How often the program has asked its own allocator for memory of a device or given it back: what
  // kernels, copies and fills work on is told, too, of an emulated CUPTI, at once.
  uint64_t (*requests)(int device) = nullptr;
  bool environment = true;           // clocks, temperature, power: nothing of a modelled card
  std::vector<uint32_t> kinds = {};  // instead of all
};

// Something that could not be had, and what is not shown without it.
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
  uint64_t dropped = 0;  // records that CUPTI had no buffer for
  uint64_t activities = 0;
};

class Client {
 public:
  static Client& The();

  Report Start(Found found, const Options& options);
  // All that has been completed so far goes to the receiver. `forced`: also what is not complete.
  void Flush(bool forced = false);
  // Flushes and lets go of CUPTI, so that another profiler may have it. Start goes on.
  void Stop();
  bool running() const { return running_.load(std::memory_order_acquire); }
  ClientCounts counts();

  // The number of a name in what receivers get; 0 before the first Start. From any thread.
  trace::StringId Name(std::string_view text);
  // What activities call a stream of the current device (a cudaStream_t, 0: its default stream);
  // nullopt: not listening, or CUPTI does not know it.
  std::optional<uint32_t> StreamId(uint64_t handle) const;
  // Who is at work in this thread, for the calls that it makes from here on (ExternalId). Also
  // while nothing is listened to, so that what is open then is known when listening goes on.
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
  // Under consume_mutex_.
  void Consume(std::span<const Completed> completed, size_t dropped, bool finish);
  void Periodically(int period_ms);
  bool IsOwnProcess() const;

  std::atomic<bool> running_{false}, at_once_{false};
  pid_t process_ = 0;
  Library library_;
  Options options_;

  std::mutex buffers_mutex_;  // the innermost: held for a few instructions, over nothing of CUPTI's
  std::vector<std::unique_ptr<uint64_t[]>> buffers_;  // as many as were ever needed at once
  std::vector<uint8_t*> free_;
  std::vector<Completed> completed_;
  uint64_t dropped_ = 0;

  std::mutex consume_mutex_;
  std::unique_ptr<Consumer> consumer_;
  std::vector<trace::Activity> activities_;
  uint64_t received_ = 0;

  // The library's, once there was a Start; other threads call them meanwhile.
  std::atomic<int (*)(uint32_t, uint64_t)> push_cause_{nullptr};
  std::atomic<int (*)(uint32_t, uint64_t*)> pop_cause_{nullptr};

  std::thread thread_;
  std::mutex wake_mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
};

}  // namespace vramscope::cupti
