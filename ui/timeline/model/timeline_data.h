// The data that the canvas needs for one trace: curves, level-of-detail indexes, peak and names. It
// is built once, on a pool thread if the trace is large, and is immutable afterwards.
//
//   std::shared_ptr<const TimelineData> data = TimelineData::Build(trace);
//   query::CurveColumns c = data->curve_index().Query(...)
//
// Thread-safe after construction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/query/activity_index.h"
#include "profiler/query/address_axis.h"
#include "profiler/query/block_index.h"
#include "profiler/query/idle_gaps.h"
#include "profiler/query/lane_index.h"
#include "profiler/query/level_of_detail.h"
#include "profiler/run/saturating.h"
#include "profiler/trace/trace.h"
#include "ui/timeline/model/series.h"

namespace vramscope::ui::timeline {

inline constexpr uint32_t kNoSlice = UINT32_MAX;

class TimelineData {
 public:
  // `curves`: the trace's curves; if null, they are computed. `whole`: the trace of all devices, if
  // `trace` has only one of several devices.
  static std::shared_ptr<const TimelineData> Build(
      std::shared_ptr<const trace::Trace> trace,
      std::shared_ptr<const analysis::MemoryCurves> curves = {},
      const std::shared_ptr<const trace::Trace>& whole = {});

  const trace::Trace& trace() const { return *trace_; }
  const std::shared_ptr<const trace::Trace>& shared_trace() const { return trace_; }
  const analysis::MemoryCurves& curves() const { return *curves_; }
  const std::shared_ptr<const analysis::MemoryCurves>& shared_curves() const { return curves_; }
  const analysis::Peak& peak() const { return peak_; }
  const query::CurveIndex& curve_index() const { return *curve_index_; }
  const query::LaneIndex& lane_index() const { return *lane_index_; }
  const query::AddressAxis& address_axis() const { return *address_axis_; }
  const query::BlockIndex& block_index() const { return *block_index_; }

  // The indexes of activities (kernels, memcpys, memsets, calls) and of idle gaps. Both are null if
  // there are no activities.
  const query::ActivityIndex* activities() const { return activities_.get(); }
  const query::IdleGaps* idle() const { return idle_.get(); }

  // Returns the number of activities of a kind on a track of activities().
  uint32_t ActivitiesOn(uint32_t track, trace::ActivityKind kind) const {
    return kinds_on_track_[track][static_cast<size_t>(kind)];
  }
  // The counters, and the host memory (see series.h).
  const std::vector<Series>& series() const { return series_; }
  // All devices of the recording, or none if it has only one device.
  const std::vector<DeviceMemory>& devices() const { return devices_; }

  // If false, the trace counts entries, and all "nanoseconds" here are numbers of entries.
  bool has_times() const { return trace_->info.has_times; }
  // Whether the trace has only the memory at one time, without history. Then there are no lanes.
  bool is_state() const { return trace_->info.content == trace::Content::kState; }
  int64_t origin_ns() const { return origin_; }
  double duration_ns() const { return duration_; }
  // These functions convert between the trace's times and the canvas's times, which are 0 at the
  // trace's begin.
  double FromTrace(int64_t ns) const { return static_cast<double>(ns - origin_); }
  int64_t ToTrace(double t) const {
    return run::AddSaturating(origin_, run::ToInt64(t < 0 ? t - 0.5 : t + 0.5));
  }

  // rows() returns how many levels of nesting the slices of a kind have. lanes() returns the lanes
  // of one level, one lane per thread, as indexes in LaneIndex::lanes().
  int rows(trace::SliceKind kind) const;
  std::span<const uint32_t> lanes(trace::SliceKind kind, int row) const;

  // The place of the peak, such as "loss · model.lm_head".
  const std::string& peak_place() const { return peak_place_; }
  // Returns the text on a slice's rectangle, such as "Step 5", "forward" or "layers.3.mlp".
  std::string SliceName(uint32_t slice) const;
  // Returns the category that an allocation has at a time.
  trace::Category CategoryAt(trace::AllocationId id, int64_t time_ns) const;
  // Returns an allocation's rows in Trace::retags, in ascending order.
  std::span<const uint32_t> RetagsOf(trace::AllocationId id) const;
  // Returns the innermost slice of a kind (phase or step) at a time, or kNoSlice if there is none.
  uint32_t SliceAt(trace::SliceKind kind, int64_t time_ns) const;
  // Returns the row of the curves that applies at a time, or -1 before the first row.
  int64_t CurvePointAt(int64_t time_ns) const;
  size_t MemoryBytes() const;

 private:
  TimelineData() = default;

  std::shared_ptr<const trace::Trace> trace_;
  std::shared_ptr<const analysis::MemoryCurves> curves_;
  analysis::Peak peak_;
  std::string peak_place_;
  int64_t origin_ = 0;
  double duration_ = 1;
  std::unique_ptr<query::CurveIndex> curve_index_;
  std::unique_ptr<query::LaneIndex> lane_index_;
  std::unique_ptr<query::AddressAxis> address_axis_;
  std::unique_ptr<query::BlockIndex> block_index_;
  std::shared_ptr<const query::ActivityIndex> activities_;
  std::unique_ptr<query::IdleGaps> idle_;
  std::vector<std::array<uint32_t, trace::kActivityKindCount>> kinds_on_track_;
  std::vector<Series> series_;
  std::vector<DeviceMemory> devices_;
  // lanes_[kind][depth]: the indexes that lanes() returns
  std::vector<std::vector<std::vector<uint32_t>>> lanes_;
  trace::PackedColumn<uint32_t> retag_begin_;  // allocations + 1 entries; empty without retags
  std::vector<uint32_t> retag_rows_;
};

}  // namespace vramscope::ui::timeline
