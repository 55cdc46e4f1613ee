// Assembles the frames of a run and builds partial traces, on a separate thread. So checksums,
// decompression and building never delay the window's thread.
//
//   Assembly assembly([](std::shared_ptr<const trace::Trace> so_far) { ... });  // on its thread
//   assembly.Add(*std::move(raw_frame));  // from FrameDecoder::NextUnverified; never blocks
//   assembly.FinishLater("", [](std::string refused, std::shared_ptr<const trace::Trace> trace) {
//     ...  // on its thread
//   });
//
// All member functions must be called on one thread. Does not use Qt.
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
  // the time. If `on_trace` is empty, no partial traces are built. `damaged` is called once, on the
  // assembly's thread, if a frame has a wrong checksum or cannot be decompressed.
  using Damaged = std::function<void(const absl::Status&)>;
  explicit Assembly(OnTrace on_trace, Damaged damaged = {});
  // Drops the frames that are still in the queue.
  ~Assembly();

  // The maximum number of bytes of the frames in the queue. Frames are compressed, so a trace needs
  // more memory than its frames. Add() never blocks: if the queue is full, it drops this frame and
  // all later frames.
  static constexpr size_t kMostQueued = size_t{1} << 30;
  void Add(trace::RawFrame frame);
  // Waits until all frames are assembled. Returns an error if a frame was refused, which also means
  // that all later frames are dropped.
  absl::Status Settle();
  // Waits like Settle(), then returns the trace, or null if there are no events. If no footer has
  // arrived, the trace is marked as incomplete, for the given reason.
  std::shared_ptr<const trace::Trace> Finish(std::string reason_if_incomplete);
  // Like Finish(), but does not wait, and calls `done` on the assembly's thread. `refused`: why a
  // frame was refused, so that it and all later frames were dropped; "" if none was. Do not call
  // any other function afterwards.
  using Done = std::function<void(std::string refused, std::shared_ptr<const trace::Trace>)>;
  void FinishLater(std::string reason_if_incomplete, Done done);

 private:
  void Work();
  void MakePartialTrace();

  void End(const Done& done, const absl::Status& status, std::string reason);
  absl::Status TakeIn(trace::RawFrame raw);

  const OnTrace on_trace_;
  const Damaged damaged_;
  trace::TraceAssembler assembler_;  // used only by thread_ until Settle() returns

  std::mutex mutex_;
  std::condition_variable more_, less_;
  // mutex_ guards the following members.
  std::deque<trace::RawFrame> queue_;
  size_t queued_bytes_ = 0;
  bool taking_ = false;  // whether a frame that was taken from the queue is being assembled
  bool stop_ = false;
  absl::Status refused_;
  std::string reason_;  // argument of FinishLater()
  Done done_;           // argument of FinishLater(); empty: not called, or done

  // Only thread_ uses the following members.
  bool broken_ = false;  // whether assembler_.Add() has thrown an exception
  uint64_t events_in_trace_ = 0;
  std::chrono::steady_clock::time_point next_trace_;

  std::thread thread_;  // the last member, because the thread uses the other members
};

}  // namespace vramscope::ui
