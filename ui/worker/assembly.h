// Puts the frames of a run together on a thread of its own, and makes pictures of what has come
// meanwhile: neither takes the window's thread from its frames.
//
//   Assembly assembly([](std::shared_ptr<const trace::Trace> so_far) { ... });  // on that thread
//   assembly.Add(std::move(frame));
//   if (absl::Status refused = assembly.Settle(); !refused.ok()) ...
//   std::shared_ptr<const trace::Trace> trace = assembly.Finish("");
//
// One thread uses it. No Qt.
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
  using Picture = std::function<void(std::shared_ptr<const trace::Trace>)>;

  // `picture`: at most every 100 ms, and for no more than a tenth of the time; empty: of no
  // interest.
  explicit Assembly(Picture picture);
  // What was added last and has not been taken in is lost.
  ~Assembly();

  void Add(trace::Frame frame);
  // Waits until all has been taken in. An error: a frame was refused, and all behind it was left
  // out.
  absl::Status Settle();
  // Without a footer it is incomplete, for that reason; null: there was no event.
  std::shared_ptr<const trace::Trace> Finish(std::string reason_if_incomplete);

 private:
  void Work();
  void MakePicture();

  const Picture picture_;
  trace::TraceAssembler assembler_;  // the thread's, until it has settled

  std::mutex mutex_;
  std::condition_variable more_, less_;
  // Guarded by mutex_.
  std::deque<trace::Frame> queue_;
  size_t queued_bytes_ = 0;
  bool taking_ = false;  // a frame that is no longer in the queue
  bool stop_ = false;
  absl::Status refused_;

  // The thread's.
  uint64_t events_in_picture_ = 0;
  std::chrono::steady_clock::time_point next_picture_;

  std::thread thread_;  // last: it uses the above
};

}  // namespace vramscope::ui
