#include "ui/worker/assembly.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/catch_status.h"

namespace vramscope::ui {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};
constexpr int kShare = 10;  // building partial traces takes at most 1/kShare of the time

}  // namespace

Assembly::Assembly(OnTrace on_trace, Damaged damaged)
    : on_trace_(std::move(on_trace)),
      damaged_(std::move(damaged)),
      next_trace_(Clock::now() + kPause),
      thread_([this] { Work(); }) {}

Assembly::~Assembly() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  more_.notify_one();
  thread_.join();
}

void Assembly::Add(trace::RawFrame frame) {
  const std::lock_guard lock(mutex_);
  if (!refused_.ok()) return;
  if (frame.stored.size() > kMostQueued - queued_bytes_) {
    refused_ =
        absl::ResourceExhaustedError(i18n::Text("events arrive faster than they can be read"));
    return;
  }
  queued_bytes_ += frame.stored.size();
  queue_.push_back(std::move(frame));
  more_.notify_one();
}

absl::Status Assembly::Settle() {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [this] { return queue_.empty() && !taking_; });
  return refused_;
}

std::shared_ptr<const trace::Trace> Assembly::Finish(std::string reason_if_incomplete) {
  static_cast<void>(Settle());
  if (assembler_.events() == 0) return nullptr;
  return assembler_.Finish(std::move(reason_if_incomplete));
}

void Assembly::FinishLater(std::string reason_if_incomplete, Done done) {
  {
    const std::lock_guard lock(mutex_);
    reason_ = std::move(reason_if_incomplete);
    done_ = std::move(done);
  }
  more_.notify_one();
}

void Assembly::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [this] { return stop_ || !queue_.empty() || done_; });
    if (stop_) return;
    if (queue_.empty()) {
      const Done done = std::exchange(done_, {});
      const absl::Status refused = refused_;
      std::string reason = std::move(reason_);
      lock.unlock();
      // If memory runs out in End(), call `done` with the error.
      if (const absl::Status told =
              trace::CatchStatus([&] { End(done, refused, std::move(reason)); });
          !told.ok())
        trace::CatchStatus([&] { done(std::string(told.message()), nullptr); }).IgnoreError();
      lock.lock();
      continue;
    }
    trace::RawFrame frame = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= frame.stored.size();
    taking_ = true;
    const bool refused = !refused_.ok();
    lock.unlock();
    absl::Status status;
    if (!refused) {
      status = trace::CatchStatus([&] { return TakeIn(std::move(frame)); });
      // If a partial trace cannot be built, show none, and let the run continue.
      if (!broken_) trace::CatchStatus([&] { MakePartialTrace(); }).IgnoreError();
    }
    lock.lock();
    taking_ = false;
    if (!status.ok() && refused_.ok()) refused_ = std::move(status);
    less_.notify_one();
  }
}

void Assembly::End(const Done& done, const absl::Status& status, std::string reason) {
  std::string refused;
  if (!status.ok())
    refused =
        i18n::Format("The worker's events could not be decoded: {}", std::string(status.message()));
  if (reason.empty()) reason = refused;
  absl::StatusOr<std::shared_ptr<const trace::Trace>> trace =
      trace::CatchStatus([&]() -> std::shared_ptr<const trace::Trace> {
        // Do not use assembler_ after an exception, because its state is unknown.
        if (broken_ || assembler_.events() == 0) return nullptr;
        return assembler_.Finish(std::move(reason));
      });
  if (!trace.ok())
    refused = i18n::Format("The worker's events are inconsistent: {}",
                           std::string(trace.status().message()));
  done(std::move(refused), trace.ok() ? *std::move(trace) : nullptr);
}

absl::Status Assembly::TakeIn(trace::RawFrame raw) {
  const absl::StatusOr<trace::Frame> frame = trace::Uncompress(std::move(raw));
  if (!frame.ok()) {
    if (damaged_) damaged_(frame.status());
    return frame.status();
  }
  broken_ = true;
  const absl::Status added = assembler_.Add(*frame);
  broken_ = false;
  return added;
}

void Assembly::MakePartialTrace() {
  const Clock::time_point begin = Clock::now();
  const uint64_t events = assembler_.events();
  if (!on_trace_ || begin < next_trace_ || events == events_in_trace_) return;
  events_in_trace_ = events;
  on_trace_(assembler_.Snapshot());
  const Clock::time_point end = Clock::now();
  next_trace_ = end + std::max<Clock::duration>(kPause, (end - begin) * kShare);
}

}  // namespace vramscope::ui
