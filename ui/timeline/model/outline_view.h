// Draws the outline that a `.trace` file has in its index, while the rest of the file is read: peak
// memory, steps, phases, and how much of the file has been read.
//
//   DrawOutline(state, measure, list);     // state.outline is set
//
// Stateless.
#pragma once

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

// The rectangle of the curve; empty: too little room.
Rect OutlinePlot(const CanvasState& state);
void DrawOutline(const CanvasState& state, const TextMeasure& measure, DrawList* list);

}  // namespace vramscope::ui::timeline
