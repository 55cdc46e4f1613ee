#include "ui/timeline/model/timeline_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"

namespace vramscope::ui::timeline {

using trace::SliceKind;

std::shared_ptr<const TimelineData> TimelineData::Build(
    std::shared_ptr<const trace::Trace> trace, std::shared_ptr<const analysis::MemoryCurves> curves,
    const std::shared_ptr<const trace::Trace>& whole) {
  std::shared_ptr<TimelineData> d(new TimelineData);
  const trace::Trace& t = *trace;
  d->trace_ = trace;
  d->origin_ = t.begin_ns();
  d->duration_ = std::max(static_cast<double>(t.end_ns() - t.begin_ns()), 1.0);
  d->curves_ = curves != nullptr
                   ? std::move(curves)
                   : std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(t));
  d->curve_index_ = std::make_unique<query::CurveIndex>(d->curves_);
  d->lane_index_ = std::make_unique<query::LaneIndex>(trace);
  d->peak_ = analysis::FindPeak(t, *d->curves_);
  if (t.activities.size() > 0) {
    d->activities_ = std::make_shared<const query::ActivityIndex>(trace);
    d->idle_ = std::make_unique<query::IdleGaps>(trace, d->activities_);
    d->kinds_on_track_.resize(d->activities_->tracks().size());
    d->series_ = SeriesOf(t);
    // The GPU may work longer than the host, so include activities. Ignore counters and overhead,
    // because a profiler may record them when the process ends, seconds after the run.
    int64_t end = t.end_ns();
    for (uint32_t row = 0; row < t.activities.size(); ++row) {
      const trace::ActivityKind kind = t.activities.kind[row];
      ++d->kinds_on_track_[d->activities_->TrackOf(row)][static_cast<size_t>(kind)];
      if (kind != trace::ActivityKind::kCounter && kind != trace::ActivityKind::kOverhead)
        end = std::max(end, t.activities.end_ns[row]);
    }
    d->duration_ = std::max(d->duration_, static_cast<double>(end - d->origin_));
  }

  d->devices_ = MemoryOfDevices(whole);
  // All devices share one time axis, and another device may end later than the displayed device.
  for (const DeviceMemory& memory : d->devices_)
    d->duration_ =
        std::max(d->duration_, static_cast<double>(memory.curve->time_ns.back() - d->origin_));
  // In every view, memory that is never freed extends to the end of the time axis.
  d->address_axis_ = std::make_unique<query::AddressAxis>(trace, d->ToTrace(d->duration_));
  d->block_index_ = std::make_unique<query::BlockIndex>(trace, *d->address_axis_);
  d->lanes_.resize(6);  // one element for each SliceKind
  std::span<const query::Lane> lanes = d->lane_index_->lanes();
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    auto kind = static_cast<size_t>(lanes[i].kind);
    if (kind >= d->lanes_.size()) continue;
    auto& rows = d->lanes_[kind];
    if (rows.size() <= lanes[i].depth) rows.resize(size_t{lanes[i].depth} + 1);
    rows[lanes[i].depth].push_back(i);
  }

  const trace::RetagTable& retags = t.retags;
  if (retags.size()) {
    std::vector<uint32_t> next(size_t{t.allocations.size()} + 1, 0);
    for (trace::AllocationId id : retags.allocation) ++next[id.value + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (const uint32_t begin : next) d->retag_begin_.push_back(begin);
    d->retag_rows_.resize(retags.size());
    for (uint32_t i = 0; i < retags.size(); ++i) {
      d->retag_rows_[next[retags.allocation[i].value]++] = i;
    }
  }

  const analysis::Context& c = d->peak_.context;
  std::string place;
  auto add = [&](std::string_view part) {
    if (part.empty()) return;
    if (!place.empty()) place += " · ";
    place += part;
  };
  if (c.phase != trace::Phase::kNone) add(i18n::Text(trace::Name(c.phase)));
  add(c.module);
  add(c.op);
  d->peak_place_ = place;
  return d;
}

int TimelineData::rows(SliceKind kind) const {
  return static_cast<int>(lanes_[static_cast<size_t>(kind)].size());
}

std::span<const uint32_t> TimelineData::lanes(SliceKind kind, int row) const {
  const auto& rows = lanes_[static_cast<size_t>(kind)];
  if (row < 0 || static_cast<size_t>(row) >= rows.size()) return {};
  return rows[row];
}

std::string TimelineData::SliceName(uint32_t slice) const {
  const trace::SliceTable& s = trace_->slices;
  switch (s.kind[slice]) {
    case SliceKind::kStep:
      return i18n::Format("Step {}", s.number[slice]);
    case SliceKind::kMicroBatch:
      return i18n::Format("micro-batch {}", s.number[slice]);
    case SliceKind::kPhase:
      return i18n::Text(trace::Name(s.phase(slice)));
    case SliceKind::kModule:
    case SliceKind::kOp:
    case SliceKind::kAnnotation:
      break;
  }
  std::string_view name = trace_->String(s.name[slice]);
  return std::string(name.empty() ? i18n::Text("(root)") : name);
}

std::span<const uint32_t> TimelineData::RetagsOf(trace::AllocationId id) const {
  if (retag_begin_.empty()) return {};
  return {retag_rows_.data() + retag_begin_[id.value],
          retag_begin_[id.value + 1] - retag_begin_[id.value]};
}

trace::Category TimelineData::CategoryAt(trace::AllocationId id, int64_t time_ns) const {
  trace::Category category = trace_->allocations.birth_category[id.value];
  for (uint32_t row : RetagsOf(id)) {
    if (trace_->events.time_ns[trace_->retags.event[row]] > time_ns) break;
    category = trace_->retags.to[row];
  }
  return category;
}

uint32_t TimelineData::SliceAt(SliceKind kind, int64_t time_ns) const {
  for (int row = rows(kind) - 1; row >= 0; --row) {
    for (uint32_t lane : lanes(kind, row)) {
      if (auto slice = lane_index_->At(lane, time_ns)) return *slice;
    }
  }
  return kNoSlice;
}

int64_t TimelineData::CurvePointAt(int64_t time_ns) const {
  auto it = std::upper_bound(curves_->time_ns.begin(), curves_->time_ns.end(), time_ns);
  return it - curves_->time_ns.begin() - 1;
}

size_t TimelineData::MemoryBytes() const {
  return curve_index_->MemoryBytes() + lane_index_->MemoryBytes() + block_index_->MemoryBytes() +
         (activities_ ? activities_->MemoryBytes() + idle_->MemoryBytes() : 0) +
         retag_begin_.MemoryBytes() + retag_rows_.size() * sizeof(uint32_t);
}

}  // namespace vramscope::ui::timeline
