// What a thing under the mouse is called, what of it can be copied, and which filters find its
// like: what the menu of a block, a kernel, a call, an op, a module is made of.
//
//   const ThingFacts facts = FactsOfThing(data, {query::ThingKind::kBlock, 17});
//   facts.title;                  // "block: layers.3.mlp > aten::mm"
//   facts.likes[0].filter;        // "kind = block and size = 16777216 B"
//
// Pure functions of immutable data; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/query/things.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/canvas_state.h"

namespace vramscope::ui::timeline {

struct ThingFacts {
  std::string title;
  std::string name;     // in full
  std::string size;     // exact bytes; empty: it has none
  std::string address;  // likewise, "0x7f..."
  std::string stack;    // a line a frame, innermost first
  struct Like {
    std::string label;   // "Find blocks of this size"
    std::string filter;  // of profiler/query/filter.h
  };
  std::vector<Like> likes;
  std::vector<LinkedFact> links;  // that lead on, to its op, call, module, kernels
};
ThingFacts FactsOfThing(const TimelineData& data, const query::Thing& thing);

// All that is known of it, as JSON in one line a key.
std::string JsonOfThing(const TimelineData& data, const query::Thing& thing);

// nullopt: what was hit is none (a title, the curve, a gap).
std::optional<query::Thing> ThingOf(const trace::Trace& trace, const Hit& hit);
// That is selected; nullopt: none is.
std::optional<query::Thing> SelectedThing(const CanvasState& state);

}  // namespace vramscope::ui::timeline
