// The content of tooltips: a title, then lines with a label and a value. Plain text, for the
// overlay and tests.
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
  std::optional<Color> swatch;  // next to the title
  std::vector<TooltipRow> rows;
  bool empty() const { return title.empty(); }
};

// Returns the tooltip of the lane under the mouse.
Tooltip MakeTooltip(const CanvasState& state, const Hit& hit);
// Returns facts about the selected kernel, call, module, gap, ... The title is empty if something
// else is selected, such as a block.
ActivityFacts FactsOfSelection(const CanvasState& state);
// Returns the general tooltip of an allocation, a slice, memory at a time, or a free address.
Tooltip TooltipOfThing(const CanvasState& state, const Hit& hit);

}  // namespace vramscope::ui::timeline
