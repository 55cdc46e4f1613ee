// The content of the context menu of a thing (a block, kernel, call, op or module): its name, texts
// to copy, and filters that find similar things.
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
  std::string name;     // the full name
  std::string size;     // exact number of bytes; empty: it has no size
  std::string address;  // "0x7f..."; empty: it has no address
  std::string stack;    // one line per frame, the innermost first
  struct Like {
    std::string label;   // text in the menu: "Find blocks of this size"
    std::string filter;  // its syntax: profiler/query/filter.h
  };
  std::vector<Like> likes;
  std::vector<LinkedFact> links;  // links to its op, call, module, kernels
};
ThingFacts FactsOfThing(const TimelineData& data, const query::Thing& thing);

// Returns all facts about a thing as JSON text, with a line for each key.
std::string JsonOfThing(const TimelineData& data, const query::Thing& thing);

// Returns nullopt if the hit is not on a thing, but for example on a title, the curve or a gap.
std::optional<query::Thing> ThingOf(const trace::Trace& trace, const Hit& hit);
// Returns nullopt if the link's target is not a thing of the trace.
std::optional<query::Thing> ThingOf(const trace::Trace& trace, const Link& link);
Link LinkTo(const query::Thing& thing);
// Returns the selected thing, or nullopt if there is none.
std::optional<query::Thing> SelectedThing(const CanvasState& state);

}  // namespace vramscope::ui::timeline
