// What several lanes draw alike: titles, text on pills, the pixel columns of the view.
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

// `right`: what stands at the right end of the title begins there; 0: nothing does.
void DrawLaneTitle(const LaneDrawing& d, std::string_view title, std::string_view about,
                   float right = 0);

// Text on a pill of the ground's colour: to be read over curves, lines and the empty plot alike.
void PillText(const CanvasState& state, std::string_view text, const Rect& box, Color color,
              DrawList* list);

// Ticks where the highlighted blocks (what a search found) are born, in a box that shows `span`;
// gives how many.
uint32_t DrawMarks(const CanvasState& state, const Rect& box, float y, const Span& span,
                   DrawList* list);

// The view's columns, one a device pixel and one more, on a grid that stays while the view moves.
query::TimeGrid GridOfView(const CanvasState& state, const Rect& box);
// Where they are drawn, to whole device pixels: of a box, or a little further at both ends.
Rect AreaOf(const CanvasState& state, const query::TimeGrid& grid, const Rect& box);
// How many begin before the end of the trace (a shorter run on a kept scale).
int ColumnsWithData(const CanvasState& state, const query::TimeGrid& grid);

// What is too narrow for a rectangle: its colour, as strong as it covers the column, never fainter
// than `least`. `fill_of`: the colour of a LaneColumn::look. Gives how many columns it drew.
template <class FillOf>
uint32_t DrawColumns(const CanvasState& state, const query::LaneView& view, const Rect& band,
                     double least, FillOf fill_of, DrawList* list) {
  constexpr uint32_t kSteps = 8;  // of how strong it is
  const auto drawn_of = [](const query::LaneColumn& c) { return c.count > 0 || c.coverage > 0; };
  if (std::ranges::none_of(view.columns, drawn_of)) return 0;
  std::array<uint32_t, 256 * (kSteps + 1)> colors{};  // 0: not made yet
  const std::span<uint32_t> strip = list->strip(
      list->Strip(AreaOf(state, view.grid, band), static_cast<uint32_t>(view.columns.size())));
  uint32_t drawn = 0;
  for (size_t i = 0; i < view.columns.size(); ++i) {
    const query::LaneColumn& c = view.columns[i];
    if (!drawn_of(c)) continue;
    const auto step = static_cast<uint32_t>(std::min(c.coverage, 1.0f) * kSteps + 0.5f);
    uint32_t& color = colors[c.look * (kSteps + 1) + step];
    if (color == 0) {
      const double alpha = least + (1 - least) * step / kSteps;
      color = fill_of(c.look).WithAlpha(std::min(alpha, 1.0)).argb();
    }
    strip[i] = color;
    drawn += color >> 24 != 0;
  }
  return drawn;
}

// The view in the trace's times: begin, and an end that is later.
std::pair<int64_t, int64_t> TraceView(const CanvasState& state);
int DeviceColumns(const CanvasState& state, const Rect& box);
// Columns before the end of the trace (a shorter run on a kept scale).
int ColumnsWithData(const CanvasState& state, int columns);
// Where the columns of the view begin, and where the last one ends.
std::vector<int64_t> EdgesOfView(const CanvasState& state, int columns);
GhostColumns GhostUnderView(const CanvasState& state, std::span<const int64_t> edges);

}  // namespace vramscope::ui::timeline
