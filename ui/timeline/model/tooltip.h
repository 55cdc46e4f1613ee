// The content of tooltips: a title, and lines with a label and a value. It is plain text, for the
// overlay and for tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/canvas_state.h"

namespace vramscope::ui::timeline {

struct TooltipRow {
  std::string label, value;
  std::optional<Color> swatch;
};

struct Tooltip {
  std::string title, subtitle;
  std::optional<Color> swatch;  // color that is shown next to the title
  std::vector<TooltipRow> rows;
  bool empty() const { return title.empty(); }
};

// Returns the tooltip that the lane under the mouse makes.
Tooltip MakeTooltip(const CanvasState& state, const Hit& hit);
// Returns facts about the selected kernel, call, module or gap. The title is empty if none of these
// is selected, but for example a block.
ActivityFacts FactsOfSelection(const CanvasState& state);
// Returns the tooltip that lanes use by default, for an allocation, a slice, memory at a time, or a
// free address.
Tooltip TooltipOfThing(const CanvasState& state, const Hit& hit);

}  // namespace vramscope::ui::timeline
