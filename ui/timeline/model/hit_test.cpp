#include <algorithm>
#include <cmath>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {
namespace {

// A slice thinner than a pixel is hit by the pixel it is drawn in.
uint32_t SliceNear(const CanvasState& s, trace::SliceKind kind, int row, double time) {
  const TimelineData& d = *s.data;
  double reach = s.viewport.ns_per_px() * 1.5;
  for (double offset : {0.0, -reach / 2, reach / 2, -reach, reach}) {
    for (uint32_t lane : d.lanes(kind, row)) {
      if (auto slice = d.lane_index().At(lane, d.ToTrace(time + offset))) return *slice;
    }
  }
  return kNoSlice;
}

Hit HitBlocks(const CanvasState& s, Hit hit, double x, double y) {
  const Rect& body = s.layout[LaneKind::kBlocks].body;
  const TimelineData& d = *s.data;
  double span = static_cast<double>(s.address_end() - s.address_begin());
  double bytes_per_px = span / body.h;
  double offset = static_cast<double>(s.address_begin()) + (body.bottom() - y) * bytes_per_px;
  hit.offset = static_cast<uint64_t>(std::max(offset, 0.0));
  // The point itself first, then around it, so that thin blocks can be caught.
  for (auto [dx, dy] : {std::pair{0.0, 0.0}, {0.0, -0.75}, {0.0, 0.75}, {-1.0, 0.0}, {1.0, 0.0}}) {
    double at = offset - dy * bytes_per_px;
    double time = s.viewport.ToTime(x + dx);
    if (at < 0) continue;
    if (auto id = d.block_index().At(d.ToTrace(time), static_cast<uint64_t>(at))) {
      hit.kind = HitKind::kAllocation;
      hit.allocation = *id;
      return hit;
    }
  }
  return hit;
}

Hit HitMemory(const CanvasState& s, Hit hit, double y) {
  hit.kind = HitKind::kMemory;
  const analysis::MemoryCurves& c = s.data->curves();
  int64_t point = s.data->CurvePointAt(s.TraceTime(hit.time));
  if (point < 0 || hit.lane != LaneKind::kMemory) return hit;
  const Rect& body = s.layout[LaneKind::kMemory].body;
  double bytes = (body.bottom() - y) / body.h * static_cast<double>(s.axis.max);
  double sum = 0;
  for (trace::Category category : kStackOrder) {
    const auto& column = c.category[static_cast<size_t>(category)];
    if (column.empty()) continue;
    sum += static_cast<double>(column[point]);
    if (bytes < sum) {
      hit.category = category;
      break;
    }
  }
  return hit;
}

}  // namespace

Hit TimelineModel::HitTest(double x, double y) const {
  const CanvasState& s = state_;
  Hit hit;
  hit.time =
      s.viewport.ToTime(std::clamp(x, s.viewport.left(), s.viewport.left() + s.viewport.width()));
  if (!s.data || s.data->is_state()) return hit;
  const Lane* lane = s.layout.At(y);
  if (!lane) return hit;
  hit.lane = lane->kind;
  if (lane->kind == LaneKind::kOverview) {
    hit.kind = HitKind::kOverview;
    return hit;
  }
  if (!lane->title.empty() && lane->title.Contains(x, y)) {
    hit.kind = HitKind::kTitle;
    return hit;
  }
  auto slice = [&](trace::SliceKind kind, int from_row, int to_row) {
    for (int row = from_row; row >= to_row; --row) {
      uint32_t found = SliceNear(s, kind, row, hit.time);
      if (found == kNoSlice) continue;
      hit.kind = HitKind::kSlice;
      hit.slice = found;
      return;
    }
  };
  int row = lane->row_height > 0
                ? std::clamp(static_cast<int>((y - lane->body.y) / lane->row_height), 0,
                             std::max(lane->rows - 1, 0))
                : 0;
  switch (lane->kind) {
    case LaneKind::kRuler:
      hit.kind = HitKind::kRuler;
      break;
    case LaneKind::kSteps:
      slice(trace::SliceKind::kStep, 0, 0);
      break;
    case LaneKind::kMicroBatches:
      slice(trace::SliceKind::kMicroBatch, 0, 0);
      break;
    case LaneKind::kPhases:
      // Inner phases lie over outer ones.
      slice(trace::SliceKind::kPhase, s.data->rows(trace::SliceKind::kPhase) - 1, 0);
      break;
    case LaneKind::kAnnotations:
      slice(trace::SliceKind::kAnnotation, row, row);
      break;
    case LaneKind::kModules:
      slice(trace::SliceKind::kModule, row, row);
      break;
    case LaneKind::kOps:
      slice(trace::SliceKind::kOp, row, row);
      break;
    case LaneKind::kMemory:
    case LaneKind::kDifference:
      return HitMemory(s, hit, y);
    case LaneKind::kBlocks:
      return HitBlocks(s, hit, x, y);
    case LaneKind::kOverview:
      break;
  }
  return hit;
}

}  // namespace vramscope::ui::timeline
