// Where every lane stands. From top to bottom: overview, ruler, steps, micro-batches, phases,
// memory, difference, blocks, annotations, modules, ops.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

enum class LaneKind : uint8_t {
  kOverview,
  kRuler,
  kSteps,
  kMicroBatches,
  kPhases,
  kMemory,
  kDifference,
  kBlocks,
  kAnnotations,
  kModules,
  kOps,
};
inline constexpr int kLaneCount = 11;
std::string_view Name(LaneKind kind);  // "memory", for dumps

// What the trace asks for.
struct LaneNeeds {
  bool steps = false, micro_batches = false, phases = false;
  bool difference = false;  // there is a ghost
  bool blocks = false;
  int annotation_rows = 0, module_rows = 0, op_rows = 0;
};

struct Lane {
  LaneKind kind = LaneKind::kOverview;
  bool visible = false;
  Rect title;  // empty when the lane has none
  Rect body;
  int rows = 1;
  float row_height = 0;  // with the gap
};

struct Layout {
  float width = 0, height = 0;
  float plot_left = 0, plot_width = 0;
  std::array<Lane, kLaneCount> lanes;

  const Lane& operator[](LaneKind kind) const { return lanes[static_cast<size_t>(kind)]; }
  // The visible lane at y (title included); null between lanes.
  const Lane* At(double y) const;
  float data_top() const;     // below the overview: where the cursor line starts
  float data_bottom() const;  // of the lowest visible lane
};

// Which lanes the user has folded away (only their title stays).
using FoldedLanes = std::array<bool, kLaneCount>;

// Rows that do not fit give way in this order: ops, deeper module rows, annotations, modules,
// blocks. The memory lane stays.
Layout ComputeLayout(float width, float height, const LaneNeeds& needs,
                     const FoldedLanes& folded = {});

}  // namespace vramscope::ui::timeline
