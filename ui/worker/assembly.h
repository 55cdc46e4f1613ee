// Puts the frames of a run together on a thread of its own, and makes pictures of what has come
// meanwhile: neither takes the window's thread from its frames, nor do checksums and decompression.
//
//   Assembly assembly([](std::shared_ptr<const trace::Trace> so_far) { ... });  // on that thread
//   assembly.Add(*std::move(raw_frame));  // of FrameDecoder::NextUnverified: never waits
//   assembly.FinishLater("", [](std::string refused, std::shared_ptr<const trace::Trace> trace) {
//     ...  // on that thread
//   });
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
  // `damaged`: on the thread, when a frame has another checksum or cannot be decompressed; once.
  using Damaged = std::function<void(const absl::Status&)>;
  explicit Assembly(Picture picture, Damaged damaged = {});
  // What was added last and has not been taken in is lost.
  ~Assembly();

  // What waits is compressed, and the trace that it becomes is larger: no more of it is taken in
  // than kMostQueued, rather than making anybody wait.
  static constexpr size_t kMostQueued = size_t{1} << 30;
  void Add(trace::RawFrame frame);
  // Waits until all has been taken in. An error: a frame was refused, and all behind it was left
  // out.
  absl::Status Settle();
  // Without a footer it is incomplete, for that reason; null: there was no event. Waits.
  std::shared_ptr<const trace::Trace> Finish(std::string reason_if_incomplete);
  // Likewise on the thread, when all has been taken in; `refused`: why a frame and all behind it
  // were left out, "" when none was. Nothing else may be asked after it.
  using Done = std::function<void(std::string refused, std::shared_ptr<const trace::Trace>)>;
  void FinishLater(std::string reason_if_incomplete, Done done);

 private:
  void Work();
  void MakePicture();

  void End(const Done& done, const absl::Status& status, std::string reason);
  absl::Status TakeIn(trace::RawFrame raw);

  const Picture picture_;
  const Damaged damaged_;
  trace::TraceAssembler assembler_;  // the thread's, until it has settled

  std::mutex mutex_;
  std::condition_variable more_, less_;
  // Guarded by mutex_.
  std::deque<trace::RawFrame> queue_;
  size_t queued_bytes_ = 0;
  bool taking_ = false;  // a frame that is no longer in the queue
  bool stop_ = false;
  absl::Status refused_;
  std::string reason_;  // of FinishLater
  Done done_;           // likewise; empty: not asked yet, or called

  // The thread's.
  bool broken_ = false;  // memory ran out within Add()
  uint64_t events_in_picture_ = 0;
  std::chrono::steady_clock::time_point next_picture_;

  std::thread thread_;  // last: it uses the above
};

}  // namespace vramscope::ui
