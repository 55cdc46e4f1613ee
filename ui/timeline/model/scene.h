// Makes the draw lists of a frame from the state. Two layers: the data layer (what the lanes draw),
// which is drawn anew only when what it shows changes, and the overlay (cursor, hover, selection,
// tooltip), which follows the mouse.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/crew.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

// What was drawn, for dumps and tests.
struct SceneCounts {
  uint32_t columns = 0;      // of the memory lane
  uint32_t block_rects = 0;  // allocations drawn as rectangles
  uint32_t block_cells = 0;  // cells that stand for smaller ones
  uint32_t slices = 0;       // slices drawn as rectangles
  uint32_t slice_columns = 0;
  uint32_t activities = 0;  // drawn as rectangles
  uint32_t gaps = 0;        // likewise
  uint32_t labels = 0;
  uint32_t notes = 0;  // flags on the ruler, in the view
  uint32_t marks = 0;  // ticks of what is highlighted, in the view
  uint32_t lanes = 0;  // drawn: those in sight
  bool peak_shown = false;
  bool limit_shown = false;
  bool ghost_shown = false;
  // Of the difference lane: bytes at most over and under the ghost, and the first column in which
  // there is no ghost any more.
  double difference_highest = 0, difference_lowest = 0;
  uint32_t difference_end = 0;
};

// Scratch that is kept from frame to frame.
struct SceneMemory {
  std::vector<float> edges;  // of the memory stack as last drawn, for the next morph
  uint32_t columns = 0;
  // What the overview has asked: the same at every view.
  struct Overview {
    Span extent;
    int columns = 0;
    std::vector<uint64_t> allocated;      // highest of a column
    std::vector<query::LaneRect> phases;  // those wide enough to be seen
  } overview;
  // By lane, with what it was asked for. For as long as the lanes are there.
  struct Asked {
    Span view;
    float width = -1, height = -1;
    double scale = 0;
    int rows = 0;
    AddressWindow addresses;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  std::map<const Lane*, std::pair<Asked, LaneAnswer>> answers;
};

SceneCounts BuildDataLayer(const CanvasState& state, const TextMeasure& measure, Crew* crew,
                           SceneMemory* memory, DrawList* list);
void BuildOverlay(const CanvasState& state, const TextMeasure& measure, DrawList* list);

// Where an allocation stands in the blocks lane, not clipped; empty without that lane.
Rect BlockRectOf(const CanvasState& state, trace::AllocationId id);
// Where a slice stands, not clipped; empty when its lane is not shown.
Rect SliceRectOf(const CanvasState& state, uint32_t slice);
// Likewise of an activity.
Rect ActivityRectOf(const CanvasState& state, uint32_t activity);

// Lines of the ruler's moments, through all lanes and below what they draw.
void DrawTimeGrid(const CanvasState& state, DrawList* list);
void DrawNotedRanges(const CanvasState& state, DrawList* list);
// In place of lanes: what a file is that holds a state and no history.
void DrawContent(const CanvasState& state, const TextMeasure& measure, DrawList* list);
// A thin line at the top edge: how far what is being read has come.
void DrawLoadingLine(const CanvasState& state, DrawList* list);
// The empty, loading and failed states.
void DrawStatus(const CanvasState& state, const TextMeasure& measure, DrawList* list);

}  // namespace vramscope::ui::timeline
