// What the index of a `.trace` tells of it, as a picture while the rest is read: how high memory
// stood, steps and phases, how much is to come.
//
//   DrawOutline(state, measure, list);     // state.outline is there
//
// Stateless.
#pragma once

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

// Where its curve stands; empty: there is no room.
Rect OutlinePlot(const CanvasState& state);
void DrawOutline(const CanvasState& state, const TextMeasure& measure, DrawList* list);

}  // namespace vramscope::ui::timeline
