// Draws the outline of a `.trace` file from its index, while the rest of the file is being read.
// The outline shows a curve of peak memory, steps, phases, and how much of the file has been read.
//
//   DrawOutline(state, measure, list);     // state.outline must not be null
//
// Stateless.
#pragma once

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

// Returns the rectangle of the memory curve, or an empty one if the canvas is too small for a
// curve.
Rect OutlinePlot(const CanvasState& state);
void DrawOutline(const CanvasState& state, const TextMeasure& measure, DrawList* list);

}  // namespace vramscope::ui::timeline
