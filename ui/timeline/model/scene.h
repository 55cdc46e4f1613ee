// Builds the draw lists of a frame from the state. There are two layers. The data layer (lanes) is
// drawn again only if its content changes. The overlay (cursor, hover, selection, tooltip) is drawn
// again also when the mouse moves.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/crew.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

// Numbers of things that were drawn, for --dump-state and tests.
struct SceneCounts {
  uint32_t columns = 0;      // columns of the memory lane
  uint32_t block_rects = 0;  // allocations drawn as rectangles
  uint32_t block_cells = 0;  // cells drawn in place of allocations that are too small
  uint32_t slices = 0;       // slices drawn as rectangles
  uint32_t slice_columns = 0;
  uint32_t activities = 0;  // activities drawn as rectangles
  uint32_t gaps = 0;        // idle gaps drawn as rectangles
  uint32_t labels = 0;
  uint32_t notes = 0;  // flags on the ruler that are in the view
  uint32_t marks = 0;  // ticks of marked things that are in the view
  uint32_t lanes = 0;  // visible lanes, all of which are drawn
  bool peak_shown = false;
  bool limit_shown = false;
  bool baseline_shown = false;
  // In the difference lane: the highest and lowest difference from the baseline in bytes, and the
  // first column after the baseline's end.
  double difference_highest = 0, difference_lowest = 0;
  uint32_t difference_end = 0;
};

// Data that each frame leaves for the next frame.
struct SceneMemory {
  std::vector<float> edges;  // last drawn edges of the memory stack, where the next morph starts
  uint32_t columns = 0;
  // Query results of the overview, which do not depend on the view.
  struct Overview {
    Span extent;
    int columns = 0;
    std::vector<uint64_t> allocated;      // highest value in each column
    std::vector<query::LaneRect> phases;  // only phases that are wide enough to be visible
  } overview;
  // The parameters with which a lane's queries were made. The elements of `answers` are valid while
  // the lanes exist.
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

// Returns an allocation's unclipped rectangle in the blocks lane. It is empty if this lane is not
// shown.
Rect BlockRectOf(const CanvasState& state, trace::AllocationId id);
// Returns the unclipped rectangle of a slice, which is empty if its lane is not shown.
Rect SliceRectOf(const CanvasState& state, uint32_t slice);
// Returns the unclipped rectangle of an activity, which is empty if its lane is not shown.
Rect ActivityRectOf(const CanvasState& state, uint32_t activity);

// Draws vertical lines at the ruler's ticks through all lanes, below their content.
void DrawTimeGrid(const CanvasState& state, DrawList* list);
void DrawNotedRanges(const CanvasState& state, DrawList* list);
// Describes the file of a snapshot without history, for which there are no lanes.
void DrawContent(const CanvasState& state, const TextMeasure& measure, DrawList* list);
// Draws the progress of reading as a thin line at the top edge.
void DrawLoadingLine(const CanvasState& state, DrawList* list);
// Draws the texts of the empty, loading or failed state.
void DrawStatus(const CanvasState& state, const TextMeasure& measure, DrawList* list);

}  // namespace vramscope::ui::timeline
