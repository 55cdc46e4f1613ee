// Draws the outline of a `.trace` file from its index, while the rest of the file is being read.
// The outline has peak memory, steps and phases, and shows how much of the file has been read.
//
//   DrawOutline(state, measure, list);     // state.outline is set
//
// Stateless.
#pragma once

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

// Returns the rectangle of the curve, which is empty if the canvas is too small for it.
Rect OutlinePlot(const CanvasState& state);
void DrawOutline(const CanvasState& state, const TextMeasure& measure, DrawList* list);

}  // namespace vramscope::ui::timeline
