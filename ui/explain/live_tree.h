// What is live at one moment as a tree of bytes, and where its nodes stand in a flame graph or a
// treemap. Without Qt.
//
//   const LiveTree tree = StackTree(rows);             // or GroupTree(rows)
//   for (const ChartBox& box : FlameLayout(tree, 0, 800, 300)) ...
//
// Of the rows of a table (live_rows.h): the tree's bytes are theirs. Immutable; thread-safe. Made
// beside the UI thread; a layout takes as long as it has boxes, which are at least a pixel wide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/types.h"
#include "ui/explain/live_rows.h"

namespace vramscope::ui {

struct LiveTree {
  struct Node {
    std::string name;  // empty: of the block, ShortName()
    uint64_t bytes = 0;
    uint32_t parent = 0;  // of the root: itself
    uint32_t depth = 0;
    uint32_t first = 0, count = 0;                         // of `blocks`: those in it
    std::vector<uint32_t> children = {};                   // most bytes first
    trace::Category category = trace::Category::kUnknown;  // of most of its bytes
  };
  std::vector<Node> nodes;                  // the root first, parents before children
  std::vector<trace::AllocationId> blocks;  // in the order of the leaves
  bool empty() const { return nodes.empty() || nodes[0].bytes == 0; }
};

// By the program's frames, the outermost first; of a trace without stacks by the modules that a
// module's name is made of, and the op.
LiveTree StackTree(const LiveRows& rows);
// By the table's groups, and in each its blocks.
LiveTree GroupTree(const LiveRows& rows);

struct ChartBox {
  float x = 0, y = 0, w = 0, h = 0;
  uint32_t node = 0;
  bool Contains(float px, float py) const { return px >= x && px < x + w && py >= y && py < y + h; }
};
inline constexpr float kFlameRow = 20, kTreemapHead = 17;  // pixels

// The node `root` over the whole width and what is in it below; what has no pixel is left out.
std::vector<ChartBox> FlameLayout(const LiveTree& tree, uint32_t root, float width, float height);
// Squarified (Bruls, Huizing and van Wijk 2000): a node's area is its share of the bytes; one with
// children has a head with its name. Parents come before what is in them.
std::vector<ChartBox> TreemapLayout(const LiveTree& tree, uint32_t root, float width, float height);

}  // namespace vramscope::ui
