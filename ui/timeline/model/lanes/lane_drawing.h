// What several lanes draw alike: titles, text on pills, the pixel columns of the view.
#pragma once

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

int DeviceColumns(const CanvasState& state, const Rect& box);
// Columns before the end of the trace (a shorter run on a kept scale).
int ColumnsWithData(const CanvasState& state, int columns);
// Where the columns of the view begin, and where the last one ends.
std::vector<int64_t> EdgesOfView(const CanvasState& state, int columns);
GhostColumns GhostUnderView(const CanvasState& state, std::span<const int64_t> edges);

}  // namespace vramscope::ui::timeline
