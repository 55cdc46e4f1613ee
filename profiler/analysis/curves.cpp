#include <algorithm>
#include <span>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {
namespace {

using trace::kCategoryCount;

// Collects points in a small buffer that stays in the cache, and then appends them column by
// column.
class PointBuffer {
 public:
  explicit PointBuffer(MemoryCurves& out, const std::array<bool, kCategoryCount>& present)
      : out_(out), present_(present) {}

  void Add(trace::EventIndex event, int64_t time_ns, const trace::MemorySums& sums) {
    event_[count_] = event;
    time_[count_] = time_ns;
    allocated_[count_] = sums.allocated;
    requested_[count_] = sums.requested;
    reserved_[count_] = sums.reserved;
    for (int c = 0; c < kCategoryCount; ++c) category_[c][count_] = sums.by_category[c];
    if (++count_ == kPoints) Flush();
  }

  void Flush() {
    const auto append = [this](auto& column, const auto& buffer) {
      column.Append(std::span(buffer).first(count_));
    };
    append(out_.event, event_);
    append(out_.time_ns, time_);
    append(out_.allocated, allocated_);
    append(out_.requested, requested_);
    append(out_.reserved, reserved_);
    for (int c = 0; c < kCategoryCount; ++c) {
      if (present_[c]) append(out_.category[c], category_[c]);
    }
    count_ = 0;
  }

 private:
  static constexpr size_t kPoints = trace::PackedRun::kValues;
  MemoryCurves& out_;
  const std::array<bool, kCategoryCount>& present_;
  size_t count_ = 0;
  std::array<trace::EventIndex, kPoints> event_;
  std::array<int64_t, kPoints> time_;
  std::array<uint64_t, kPoints> allocated_, requested_, reserved_;
  std::array<std::array<uint64_t, kPoints>, kCategoryCount> category_;
};

}  // namespace

size_t MemoryCurves::MemoryBytes() const {
  size_t bytes = event.MemoryBytes() + time_ns.MemoryBytes() + allocated.MemoryBytes() +
                 requested.MemoryBytes() + reserved.MemoryBytes();
  for (const Bytes& of : category) bytes += of.MemoryBytes();
  return bytes;
}

namespace {

// Appends the points of all events from the cursor on.
void AddPoints(const trace::Trace& trace, trace::MemoryCursor at, MemoryCurves& out) {
  const trace::EventTable& e = trace.events;
  // Reads from the tables which categories occur. This is faster than a walk over all events.
  std::array<bool, kCategoryCount> present{};
  for (const trace::Category c : trace.allocations.birth_category)
    present[static_cast<size_t>(c)] = true;
  for (const trace::Category c : trace.retags.to) present[static_cast<size_t>(c)] = true;
  // A category that is new in this trace was zero at all earlier points.
  for (int c = 0; c < kCategoryCount; ++c)
    if (present[c]) out.category[c].resize(out.size());
  PointBuffer buffer(out, present);
  while (at.event() < e.size()) {
    const trace::EventIndex i = at.event();
    if (at.Apply()) buffer.Add(i, e.time_ns[i], at.sums());
  }
  buffer.Flush();
}

}  // namespace

MemoryCurves ComputeCurves(const trace::Trace& trace) {
  MemoryCurves out;
  AddPoints(trace, trace::MemoryCursor(trace), out);
  return out;
}

MemoryCurves ContinueCurves(const trace::Trace& trace, const trace::Trace& earlier,
                            const MemoryCurves& of_earlier) {
  if (of_earlier.size() == 0 || !trace.events.GoOnFrom(earlier.events)) return ComputeCurves(trace);
  MemoryCurves out = of_earlier;
  AddPoints(trace, trace::MemoryCursor::Behind(trace, earlier.events.size() - 1), out);
  return out;
}

std::optional<size_t> PointAt(const MemoryCurves& curves, trace::EventIndex event) {
  const auto it = std::upper_bound(curves.event.begin(), curves.event.end(), event);
  if (it == curves.event.begin()) return std::nullopt;
  return static_cast<size_t>(it - curves.event.begin()) - 1;
}

}  // namespace vramscope::analysis
