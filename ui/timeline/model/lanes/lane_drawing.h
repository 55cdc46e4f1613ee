// Drawing functions that several lanes share: for titles, for text on pills, and for the view's
// pixel columns.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/model/lane.h"

namespace vramscope::ui::timeline {

// `right`: the left edge of a legend at the right end of the title. 0: there is no legend.
void DrawLaneTitle(const LaneDrawing& d, std::string_view title, std::string_view about,
                   float right = 0);

// Draws text on a pill of the background's color, so that it is readable over curves and lines.
void PillText(const CanvasState& state, std::string_view text, const Rect& box, Color color,
              DrawList* list);

// Draws a tick in the box at the begin of each marked thing within `span`. Returns the number of
// ticks.
uint32_t DrawMarks(const CanvasState& state, const Rect& box, float y, const Span& span,
                   DrawList* list);

// Returns the view's columns: one more than the number of device pixels. While the view only moves,
// the times at the columns' edges stay the same.
query::TimeGrid GridOfView(const CanvasState& state, const Rect& box);
// Returns the rectangle of these columns in whole device pixels. It may be wider than `box`.
Rect AreaOf(const CanvasState& state, const query::TimeGrid& grid, const Rect& box);
// Returns the number of columns that begin before the end of the trace (which may end before the
// time axis does).
int ColumnsWithData(const CanvasState& state, const query::TimeGrid& grid);

// Draws things that are too narrow for rectangles as columns. A column's alpha is the fraction of
// it that things cover, but at least `least`. `fill_of` returns the color for a LaneColumn::style.
// Returns the number of columns drawn.
template <class FillOf>
uint32_t DrawColumns(const CanvasState& state, const query::LaneView& view, const Rect& band,
                     double least, FillOf fill_of, DrawList* list) {
  constexpr uint32_t kSteps = 8;  // number of steps between the least and the full alpha
  const auto drawn_of = [](const query::LaneColumn& c) { return c.count > 0 || c.coverage > 0; };
  if (std::ranges::none_of(view.columns, drawn_of)) return 0;
  std::array<uint32_t, 256 * (kSteps + 1)> colors{};  // 0: not computed yet
  const std::span<uint32_t> strip = list->strip(
      list->Strip(AreaOf(state, view.grid, band), static_cast<uint32_t>(view.columns.size())));
  uint32_t drawn = 0;
  for (size_t i = 0; i < view.columns.size(); ++i) {
    const query::LaneColumn& c = view.columns[i];
    if (!drawn_of(c)) continue;
    const auto step = static_cast<uint32_t>(std::min(c.coverage, 1.0f) * kSteps + 0.5f);
    uint32_t& color = colors[c.style * (kSteps + 1) + step];
    if (color == 0) {
      const double alpha = least + (1 - least) * step / kSteps;
      color = fill_of(c.style).WithAlpha(std::min(alpha, 1.0)).argb();
    }
    strip[i] = color;
    drawn += color >> 24 != 0;
  }
  return drawn;
}

// Returns begin and end of the view in the trace's times. The end is always after the begin.
std::pair<int64_t, int64_t> TraceView(const CanvasState& state);
int DeviceColumns(const CanvasState& state, const Rect& box);
// Returns the number of columns before the end of the trace (which may end before the time axis
// does).
int ColumnsWithData(const CanvasState& state, int columns);
// Returns the begin of each column of the view, and the end of the last column.
std::vector<int64_t> EdgesOfView(const CanvasState& state, int columns);
BaselineColumns BaselineUnderView(const CanvasState& state, std::span<const int64_t> edges);

}  // namespace vramscope::ui::timeline
