// What the mouse is told: title, then label and value, line by line. Pure text, for the overlay and
// for tests.
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
  std::optional<Color> swatch;  // beside the title
  std::vector<TooltipRow> rows;
  bool empty() const { return title.empty(); }
};

// What the lane under the mouse says.
Tooltip MakeTooltip(const CanvasState& state, const Hit& hit);
// Of the selected kernel, call, module, gap ...; without a title: none but a block may be.
ActivityFacts FactsOfSelection(const CanvasState& state);
// What is always said of an allocation, a slice, memory at a time, a free address.
Tooltip TooltipOfThing(const CanvasState& state, const Hit& hit);

}  // namespace vramscope::ui::timeline
