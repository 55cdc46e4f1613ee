#include "ui/timeline/model/scene.h"

#include <algorithm>
#include <cmath>

#include "ui/timeline/model/format.h"

namespace vramscope::ui::timeline {

bool CanvasState::limit_in_range() const {
  if (!data || device_limit == 0) return false;
  double highest = static_cast<double>(std::max(data->peak().reserved, data->peak().allocated));
  return static_cast<double>(device_limit) <= highest * 1.35;
}

Rect BlockRectOf(const CanvasState& s, trace::AllocationId id) {
  const Lane& lane = s.layout[LaneKind::kBlocks];
  if (!s.data || !lane.visible || lane.body.empty() || !id.valid()) return {};
  const trace::AllocationTable& a = s.data->trace().allocations;
  if (id.value >= a.size()) return {};
  double span = static_cast<double>(s.address_end() - s.address_begin());
  if (span <= 0) return {};
  double per_byte = lane.body.h / span;
  double offset = static_cast<double>(s.data->address_axis().OffsetOf(id));
  double x0 = s.viewport.ToX(s.data->FromTrace(a.begin_ns[id.value]));
  double x1 = s.viewport.ToX(s.data->FromTrace(a.end_ns[id.value]));
  double y1 = lane.body.bottom() - (offset - static_cast<double>(s.address_begin())) * per_byte;
  double height = static_cast<double>(a.bytes_rounded[id.value]) * per_byte;
  return {static_cast<float>(x0), static_cast<float>(y1 - height), static_cast<float>(x1 - x0),
          static_cast<float>(height)};
}

Rect SliceRectOf(const CanvasState& s, uint32_t slice) {
  if (!s.data || slice >= s.data->trace().slices.size()) return {};
  const trace::SliceTable& t = s.data->trace().slices;
  LaneKind kind = LaneKind::kOps;
  int row = 0;
  switch (t.kind[slice]) {
    case trace::SliceKind::kStep:
      kind = LaneKind::kSteps;
      break;
    case trace::SliceKind::kMicroBatch:
      kind = LaneKind::kMicroBatches;
      break;
    case trace::SliceKind::kPhase:
      kind = LaneKind::kPhases;
      break;
    case trace::SliceKind::kModule:
      kind = LaneKind::kModules;
      row = static_cast<int>(t.depth[slice]);
      break;
    case trace::SliceKind::kAnnotation:
      kind = LaneKind::kAnnotations;
      row = static_cast<int>(t.depth[slice]);
      break;
    case trace::SliceKind::kOp:
      row = static_cast<int>(t.depth[slice]);
      break;
  }
  const Lane& lane = s.layout[kind];
  if (!lane.visible || lane.body.empty() || row >= lane.rows) return {};
  auto x0 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(t.begin_ns[slice])));
  auto x1 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(t.end_ns[slice])));
  bool rows =
      kind == LaneKind::kModules || kind == LaneKind::kOps || kind == LaneKind::kAnnotations;
  float gap = rows ? 1 : 0;
  return {x0, lane.body.y + static_cast<float>(row) * lane.row_height, x1 - x0,
          lane.row_height - gap};
}

void DrawLaneTitle(const CanvasState& s, const TextMeasure& measure, const Lane& lane,
                   std::string_view title, std::string_view about, DrawList* list, float right) {
  if (!lane.visible || lane.title.empty()) return;
  if (right <= 0) right = lane.title.right();
  const Rect& box = lane.title;
  bool folded = s.folded[static_cast<size_t>(lane.kind)];
  // A small triangle: the lane can be folded away by a click on its title.
  float cx = box.x + 4, cy = box.y + box.h / 2;
  Point open[] = {{cx - 3, cy - 1.5f}, {cx, cy + 1.5f}, {cx + 3, cy - 1.5f}};
  Point shut[] = {{cx - 1.5f, cy - 3}, {cx + 1.5f, cy}, {cx - 1.5f, cy + 3}};
  list->Polyline(folded ? shut : open, s.theme.faint, 1.2f);
  float x = box.x + 13;
  list->Text(title, {x, box.y, box.right() - x, box.h}, Font::kSmallBold, s.theme.dim);
  x += measure.Width(title, Font::kSmallBold) + 12;
  std::string fitting = Elide(measure, about, Font::kSmall, right - x - 8);
  list->Text(fitting, {x, box.y, box.right() - x, box.h}, Font::kSmall, s.theme.faint);
}

void DrawAxes(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  const Rect& ruler = s.layout[LaneKind::kRuler].body;
  const Span& view = s.viewport.view();
  const std::vector<TimeTick> ticks =
      s.data->has_times() ? TimeTicks(view.begin, view.end, ruler.w, 72)
                          : EntryTicks(view.begin, view.end, ruler.w, 72, s.data->origin_ns());
  float bottom = s.layout.data_bottom();
  list->PushClip({ruler.x, ruler.y, ruler.w + 1, bottom - ruler.y});
  for (const TimeTick& tick : ticks) {
    auto x = static_cast<float>(s.viewport.ToX(static_cast<double>(tick.time_ns)));
    x = std::floor(x) + 0.5f;
    list->Line(x, ruler.bottom() - 4, x, bottom, s.theme.line.WithAlpha(s.theme.dark ? 0.6 : 0.7));
  }
  list->PopClip();
  float last_right = ruler.x - 100;
  for (const TimeTick& tick : ticks) {
    auto x = static_cast<float>(s.viewport.ToX(static_cast<double>(tick.time_ns)));
    float width = measure.Width(tick.label, Font::kSmall);
    float left = std::clamp(x + 3, ruler.x, std::max(ruler.right() - width, ruler.x));
    if (left < last_right + 12) continue;
    // Pushed so far from its tick that it would stand at the wrong place: left out.
    if (std::abs(left - (x + 3)) > width) continue;
    last_right = left + width;
    list->Text(tick.label, {left, ruler.y, width + 2, ruler.h - 3}, Font::kSmall, s.theme.faint);
  }
}

void DrawOverview(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  const Lane& lane = s.layout[LaneKind::kOverview];
  const Rect& box = lane.body;
  if (box.x > s.layout.plot_left + 1) {
    std::string label = Elide(measure, "overview", Font::kSmall, box.x - s.layout.plot_left - 4);
    list->Text(label, {s.layout.plot_left, box.y, box.x - s.layout.plot_left, box.h}, Font::kSmall,
               s.theme.faint);
  }
  list->Box(box, 3, s.theme.panel);
  const TimelineData& d = *s.data;
  Span extent = s.viewport.extent();
  auto columns = static_cast<int>(std::max(box.w * s.scale, 1.0));
  auto c = d.curve_index().Query(d.ToTrace(extent.begin), d.ToTrace(extent.end), columns);
  double top = static_cast<double>(std::max<uint64_t>(d.peak().allocated, 1)) * 1.15;
  list->PushClip(box);
  if (!c.allocated_max.empty()) {
    StackPrim& stack = list->Stack(box, static_cast<uint32_t>(columns), 1);
    auto edges = list->edges(stack);
    // A copy: the list moves its arrays when it grows.
    StackPrim made = stack;
    list->colors(made)[0] = Mix(s.theme.panel, s.theme.accent, 0.28).argb();
    double ns_per_column = extent.width() / columns;
    for (int i = 0; i < columns; ++i) {
      bool beyond = extent.begin + i * ns_per_column > d.duration_ns();
      double bytes = beyond ? 0 : static_cast<double>(c.allocated_max[i]);
      edges[i] = box.bottom();
      edges[columns + i] = box.bottom() - static_cast<float>(bytes / top) * box.h;
    }
  }
  double per_ns = box.w / extent.width();
  auto x_of = [&](double t) { return box.x + static_cast<float>((t - extent.begin) * per_ns); };
  // Phases as a thin band at the foot.
  const trace::SliceTable& slices = d.trace().slices;
  for (int row = 0; row < d.rows(trace::SliceKind::kPhase); ++row) {
    for (uint32_t l : d.lanes(trace::SliceKind::kPhase, row)) {
      auto v = d.lane_index().Query(l, d.ToTrace(extent.begin), d.ToTrace(extent.end), columns);
      for (uint32_t r : v.rects) {
        list->FillEdges(x_of(d.FromTrace(slices.begin_ns[r])), box.bottom() - 2,
                        x_of(d.FromTrace(slices.end_ns[r])), box.bottom(),
                        s.theme.phase(slices.phase(r)).argb());
      }
    }
  }
  if (d.peak().allocated > 0) {
    float x = std::floor(x_of(d.FromTrace(d.peak().context.time_ns))) + 0.5f;
    list->Line(x, box.y, x, box.bottom(), s.theme.text.WithAlpha(0.55), 1, {1.5f, 2});
  }
  // What is not in the view is veiled; the brush has two handles.
  float x0 = x_of(s.viewport.view().begin), x1 = x_of(s.viewport.view().end);
  if (!s.viewport.shows_all()) {
    x1 = std::max(x1, x0 + 3);
    Color veil = s.theme.ground.WithAlpha(s.theme.dark ? 0.62 : 0.7);
    list->Fill({box.x, box.y, x0 - box.x, box.h}, veil);
    list->Fill({x1, box.y, box.right() - x1, box.h}, veil);
  }
  list->PopClip();
  if (!s.viewport.shows_all()) {
    list->Box({x0 - 0.5f, box.y, x1 - x0 + 1, box.h}, 2, {0, 0, 0, 0}, s.theme.accent, 1);
    for (float x : {x0, x1}) {
      list->Box({x - 2, box.y + box.h / 2 - 6, 4, 12}, 2, s.theme.accent);
    }
  } else {
    list->Box(box, 3, {0, 0, 0, 0}, s.theme.line, 1);
  }
}

void DrawMarks(const CanvasState& s, SceneCounts* counts, DrawList* list) {
  constexpr float kTick = 2, kHeight = 5;
  const auto ticks = [&](const Rect& box, float y, const Span& span) {
    const double per_ns = box.w / span.width();
    uint32_t drawn = 0;
    auto at = std::lower_bound(s.marks.begin(), s.marks.end(), span.begin);
    while (at != s.marks.end() && *at <= span.end) {
      const double x = box.x + (*at - span.begin) * per_ns;
      list->Fill({static_cast<float>(x) - kTick / 2, y, kTick, kHeight}, s.theme.warning);
      ++drawn;
      // Those that the tick covers are one with it: their number costs nothing.
      at = std::upper_bound(at, s.marks.end(), *at + (kTick + 1) / per_ns);
    }
    return drawn;
  };
  if (s.marks.empty()) return;
  const Rect& overview = s.layout[LaneKind::kOverview].body;
  ticks(overview, overview.y, s.viewport.extent());
  const Rect& ruler = s.layout[LaneKind::kRuler].body;
  counts->marks = ticks(ruler, ruler.bottom() - kHeight, s.viewport.view());
}

SceneCounts BuildDataLayer(const CanvasState& s, const TextMeasure& measure, SceneMemory* memory,
                           DrawList* list) {
  SceneCounts counts;
  list->Clear();
  list->Fill({0, 0, s.layout.width, s.layout.height}, s.theme.ground);
  if (!s.data) {
    DrawStatus(s, measure, list);
    memory->columns = 0;
    return counts;
  }
  if (s.data->is_state()) {
    DrawContent(s, measure, list);
    memory->columns = 0;
    return counts;
  }
  DrawAxes(s, measure, list);
  DrawOverview(s, measure, list);
  DrawMemory(s, measure, memory, &counts, list);
  DrawDifference(s, measure, &counts, list);
  DrawBlocks(s, measure, &counts, list);
  DrawSlices(s, measure, &counts, list);
  DrawMarks(s, &counts, list);
  if (s.status != Status::kNone) DrawStatus(s, measure, list);
  return counts;
}

}  // namespace vramscope::ui::timeline
