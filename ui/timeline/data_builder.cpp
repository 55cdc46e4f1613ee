#include "ui/timeline/data_builder.h"

#include <algorithm>
#include <utility>

#include "profiler/trace/catch_status.h"
#include "ui/jobs/release_later.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui::timeline {
namespace {

// kRemembered: the maximum number of built traces in memory. kRememberedEvents: the maximum number
// of events of those built traces that are not displayed.
constexpr size_t kRemembered = 4;
constexpr uint64_t kRememberedEvents = 1'000'000;

}  // namespace

DataBuilder::Data DataBuilder::Remembered(const TracePtr& trace) const {
  for (const Data& d : remembered_)
    if (d->shared_trace() == trace) return d;
  return nullptr;
}

void DataBuilder::Remember(const Data& data) {
  if (!data) return;
  std::erase(remembered_, data);
  remembered_.push_back(data);
  const auto forget = [this](size_t i) {
    ReleaseLater(std::move(remembered_[i]));
    remembered_.erase(remembered_.begin() + static_cast<std::ptrdiff_t>(i));
  };
  if (remembered_.size() > kRemembered) forget(0);
  uint64_t unseen = 0;  // events of the traces that are not displayed, from the newest trace on
  for (size_t i = remembered_.size(); i-- > 0;) {
    const TracePtr& built = remembered_[i]->shared_trace();
    if (built == shown_ || built == baseline_) continue;
    unseen += built->events.size();
    if (unseen > kRememberedEvents) forget(i);
  }
}

void DataBuilder::SetShown(const TracePtr& trace, const TracePtr& baseline) {
  shown_ = trace;
  baseline_ = baseline;
}

DataBuilder::Data DataBuilder::Obtain(const TracePtr& trace, const Curves& curves,
                                      const TracePtr& whole) {
  if (!trace) return nullptr;
  if (Data known = Remembered(trace)) return known;
  if (std::ranges::any_of(failed_, [&](const auto& failed) { return failed.lock() == trace; }))
    return nullptr;
  const size_t size = whole ? whole->events.size() : trace->events.size();
  if (size + trace->activities.size() <= TimelineWidget::kBuildInBackground) {
    absl::StatusOr<Data> data =
        trace::CatchStatus([&]() -> Data { return TimelineData::Build(trace, curves, whole); });
    if (!data.ok()) {
      Fail(trace, data.status());
      return nullptr;
    }
    Remember(*data);
    return *std::move(data);
  }
  // At most two traces (a trace and a baseline) are built at a time. Partial traces of a running
  // program may arrive faster than they can be built, so after each build, only the newest is
  // built.
  if (building_.size() < 2 && std::ranges::count(building_, trace) == 0) {
    jobs_.Ask(
        [trace, curves, whole]() -> Data { return TimelineData::Build(trace, curves, whole); },
        [this, trace](absl::StatusOr<Data> data) {
          landed_.push_back({trace, std::move(data)});
          landed_call_();
        },
        {.earlier = Earlier::kAll});
    building_.push_back(trace);
  }
  return nullptr;
}

std::vector<DataBuilder::Data> DataBuilder::TakeLanded() {
  std::vector<Data> ready;
  for (Landed& each : std::exchange(landed_, {})) {
    std::erase(building_, each.trace);
    if (!each.data.ok()) {
      Fail(each.trace, each.data.status());
      continue;
    }
    Remember(*each.data);
    ready.push_back(*std::move(each.data));
  }
  return ready;
}

void DataBuilder::Fail(const TracePtr& trace, const absl::Status& status) {
  std::erase_if(failed_, [](const auto& failed) { return failed.expired(); });
  failed_.push_back(trace);
  if (trace == shown_) error_ = status;  // a missing baseline is not an error
}

absl::Status DataBuilder::TakeError() { return std::exchange(error_, absl::OkStatus()); }

}  // namespace vramscope::ui::timeline
