// Assembles the frames of a run and builds partial traces on a separate thread, so that checksums,
// decompression and building never delay the window's thread.
//
//   Assembly assembly([](std::shared_ptr<const trace::Trace> so_far) { ... });  // on that thread
//   assembly.Add(*std::move(raw_frame));  // from FrameDecoder::NextUnverified; never blocks
//   assembly.FinishLater("", [](std::string refused, std::shared_ptr<const trace::Trace> trace) {
//     ...  // on that thread
//   });
//
// Call all member functions on one thread. Does not use Qt.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "profiler/trace/frame.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui {

class Assembly {
 public:
  using OnTrace = std::function<void(std::shared_ptr<const trace::Trace>)>;

  // `on_trace` gets partial traces, at most every 100 ms. Building them takes at most a tenth of
  // the time. If it is empty, none are built. `damaged` is called once, on the assembly's thread,
  // if a frame has a wrong checksum or cannot be decompressed.
  using Damaged = std::function<void(const absl::Status&)>;
  explicit Assembly(OnTrace on_trace, Damaged damaged = {});
  // Drops the frames that are still in the queue.
  ~Assembly();

  // The limit of the queue in bytes. Frames are compressed, so a trace needs more memory than its
  // frames. Add() never blocks. If the queue is full, it drops this and all later frames.
  static constexpr size_t kMostQueued = size_t{1} << 30;
  void Add(trace::RawFrame frame);
  // Waits until all frames are assembled. Returns an error if a frame was refused. All later frames
  // are then dropped.
  absl::Status Settle();
  // Waits like Settle(), then returns the trace, or null if there are no events. If no footer has
  // arrived, the trace is incomplete, for the given reason.
  std::shared_ptr<const trace::Trace> Finish(std::string reason_if_incomplete);
  // Like Finish(), but does not wait, and calls `done` on the assembly's thread. `refused` says why
  // a frame was refused and all later frames were dropped, or is "". Do not call any other function
  // after this.
  using Done = std::function<void(std::string refused, std::shared_ptr<const trace::Trace>)>;
  void FinishLater(std::string reason_if_incomplete, Done done);

 private:
  void Work();
  void MakePartialTrace();

  void End(const Done& done, const absl::Status& status, std::string reason);
  absl::Status TakeIn(trace::RawFrame raw);

  const OnTrace on_trace_;
  const Damaged damaged_;
  trace::TraceAssembler assembler_;  // used by the thread until Settle() returns

  std::mutex mutex_;
  std::condition_variable more_, less_;
  // Guarded by mutex_.
  std::deque<trace::RawFrame> queue_;
  size_t queued_bytes_ = 0;
  bool taking_ = false;  // a frame that was taken from the queue is being assembled
  bool stop_ = false;
  absl::Status refused_;
  std::string reason_;  // argument of FinishLater
  Done done_;           // argument of FinishLater; empty: not requested, or already called

  // Used only by thread_.
  bool broken_ = false;  // an exception was thrown within assembler_.Add()
  uint64_t events_in_trace_ = 0;
  std::chrono::steady_clock::time_point next_trace_;

  std::thread thread_;  // last member: it uses the above
};

}  // namespace vramscope::ui
