// What several lanes draw alike: titles, text on pills, the pixel columns of the view.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

// What is too narrow for a rectangle: its colour, as strong as it covers the column, never fainter
// than `least`. `fill_of`: the colour of the longest of a column. Gives how many runs it drew.
template <class FillOf>
uint32_t DrawColumns(const query::LaneView& view, const Rect& band, double least, FillOf fill_of,
                     DrawList* list) {
  const float per_column = band.w / static_cast<float>(std::max<size_t>(view.columns.size(), 1));
  const auto color_of = [&](const query::LaneColumn& c) -> uint32_t {
    if (c.count == 0 && c.coverage <= 0) return 0;
    const double alpha = least + (1 - least) * std::round(c.coverage * 8) / 8;
    return fill_of(c).WithAlpha(std::min(alpha, 1.0)).argb();
  };
  uint32_t drawn = 0;
  uint32_t color = view.columns.empty() ? 0 : color_of(view.columns[0]);
  for (size_t i = 0; i < view.columns.size();) {
    uint32_t next = 0;
    size_t j = i + 1;
    while (j < view.columns.size() && (next = color_of(view.columns[j])) == color) ++j;
    if (color >> 24) {
      ++drawn;
      list->FillEdges(band.x + static_cast<float>(i) * per_column, band.y,
                      band.x + static_cast<float>(j) * per_column, band.bottom(), color);
    }
    color = next;
    i = j;
  }
  return drawn;
}

int DeviceColumns(const CanvasState& state, const Rect& box);
// Columns before the end of the trace (a shorter run on a kept scale).
int ColumnsWithData(const CanvasState& state, int columns);
// Where the columns of the view begin, and where the last one ends.
std::vector<int64_t> EdgesOfView(const CanvasState& state, int columns);
GhostColumns GhostUnderView(const CanvasState& state, std::span<const int64_t> edges);

}  // namespace vramscope::ui::timeline
