#include "ui/timeline/model/lanes/lane_drawing.h"

#include <algorithm>
#include <cmath>

#include "profiler/run/saturating.h"

namespace vramscope::ui::timeline {
namespace {

// `last` may exceed an int, for example if 20 ns of a trace of 43 ms are in view.
int ColumnsUpTo(double last, int columns) {
  return static_cast<int>(std::clamp(std::ceil(last), 0.0, static_cast<double>(columns)));
}

}  // namespace

void DrawLaneTitle(const LaneDrawing& d, std::string_view title, std::string_view about,
                   float right) {
  const CanvasState& s = d.state;
  DrawList* list = d.list;
  const Rect& box = d.place.title;
  if (box.empty()) return;
  if (right <= 0) right = box.right();
  // Draw a triangle, which shows that a click on the title folds or unfolds the lane.
  float cx = box.x + 4, cy = box.y + box.h / 2;
  Point open[] = {{cx - 3, cy - 1.5f}, {cx, cy + 1.5f}, {cx + 3, cy - 1.5f}};
  Point shut[] = {{cx - 1.5f, cy - 3}, {cx + 1.5f, cy}, {cx - 1.5f, cy + 3}};
  const bool current = s.current_lane == d.place.lane->key();
  list->Polyline(d.place.folded ? shut : open, current ? s.theme.accent : s.theme.faint, 1.2f);
  float x = box.x + 13;
  if (d.place.pinned) {  // draw a pin: head and needle
    list->Circle(x + 3, cy - 2, 2.5f, s.theme.accent, s.theme.accent, 0);
    list->Line(x + 3, cy, x + 3, cy + 5, s.theme.accent, 1.2f);
    x += 11;
  }
  const std::string name = Elide(d.measure, title, Font::kSmallBold, right - x);
  list->Text(name, {x, box.y, box.right() - x, box.h}, Font::kSmallBold,
             current ? s.theme.accent : s.theme.dim);
  x += d.measure.Width(name, Font::kSmallBold) + 12;
  std::string fitting = Elide(d.measure, about, Font::kSmall, right - x - 8);
  list->Text(fitting, {x, box.y, box.right() - x, box.h}, Font::kSmall, s.theme.faint);
}

void PillText(const CanvasState& s, std::string_view text, const Rect& box, Color color,
              DrawList* list) {
  list->Box(box.Inset(-3, 0), 3, s.theme.ground.WithAlpha(s.theme.dark ? 0.68 : 0.74));
  list->Text(text, box, Font::kSmall, color);
}

uint32_t DrawMarks(const CanvasState& s, const Rect& box, float y, const Span& span,
                   DrawList* list) {
  constexpr float kTick = 2, kHeight = 5;
  const double per_ns = box.w / span.width();
  uint32_t drawn = 0;
  if (s.marking == nullptr) return 0;
  const std::vector<double>& marks = s.marking->times;
  auto at = std::lower_bound(marks.begin(), marks.end(), span.begin);
  while (at != marks.end() && *at <= span.end) {
    const double x = box.x + (*at - span.begin) * per_ns;
    list->Fill({static_cast<float>(x) - kTick / 2, y, kTick, kHeight}, s.theme.warning);
    ++drawn;
    // Skip the marks that this tick covers, so that it takes little time to draw many marks in one
    // place.
    at = std::upper_bound(at, marks.end(), *at + (kTick + 1) / per_ns);
  }
  return drawn;
}

std::pair<int64_t, int64_t> TraceView(const CanvasState& s) {
  const Span& v = s.viewport.view();
  const int64_t begin = std::min(s.data->ToTrace(v.begin), INT64_MAX - 1);
  return {begin, std::max(s.data->ToTrace(v.end), begin + 1)};
}

int DeviceColumns(const CanvasState& s, const Rect& box) {
  return std::max(static_cast<int>(std::lround(box.w * s.scale)), 1);
}

query::TimeGrid GridOfView(const CanvasState& s, const Rect& box) {
  const int columns = DeviceColumns(s, box);
  const double width = s.viewport.steady_width() / columns;
  return {
      .origin_ns = s.data->origin_ns(),
      .width_ns = width,
      .first = std::clamp(run::ToInt64(s.viewport.view().begin / width), int64_t{0}, INT64_MAX / 2),
      .columns = columns + 1};
}

Rect AreaOf(const CanvasState& s, const query::TimeGrid& grid, const Rect& box) {
  const double begin = static_cast<double>(grid.first) * grid.width_ns;
  const double pixels = (begin - s.viewport.view().begin) / grid.width_ns;
  const double per_column = box.w / (grid.columns - 1);
  return {static_cast<float>(box.x + std::round(pixels) * per_column), box.y,
          static_cast<float>(per_column * grid.columns), box.h};
}

int ColumnsWithData(const CanvasState& s, const query::TimeGrid& grid) {
  const double last = s.data->duration_ns() / grid.width_ns - static_cast<double>(grid.first);
  return ColumnsUpTo(last, grid.columns);
}

int ColumnsWithData(const CanvasState& s, int columns) {
  const Span& v = s.viewport.view();
  double last = (s.data->duration_ns() - v.begin) / v.width() * columns;
  return ColumnsUpTo(last, columns);
}

std::vector<int64_t> EdgesOfView(const CanvasState& s, int columns) {
  const auto [begin, end] = TraceView(s);
  return query::CurveIndex::Edges(begin, end, columns);
}

BaselineColumns BaselineUnderView(const CanvasState& s, std::span<const int64_t> edges) {
  return BaselineUnder(s.data->trace(), s.baseline->trace(), s.baseline->curve_index(),
                       s.baseline_map, edges);
}

}  // namespace vramscope::ui::timeline
