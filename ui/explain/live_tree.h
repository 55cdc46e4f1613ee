// The live set at one time as a tree of bytes, and the layout of its nodes in a flame graph or a
// treemap. Does not use Qt.
//
//   const LiveTree tree = StackTree(rows);             // or GroupTree(rows)
//   for (const ChartBox& box : FlameLayout(tree, 0, 800, 300)) ...
//
// The tree contains the rows of a table (live_rows.h), so the total bytes are the same. Immutable;
// thread-safe. Built on a pool thread. A layout takes time proportional to the boxes that are at
// least a pixel wide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/types.h"
#include "ui/explain/live_rows.h"

namespace vramscope::ui {

struct LiveTree {
  struct Node {
    std::string name;  // empty for a block: use ShortName()
    uint64_t bytes = 0;
    uint32_t parent = 0;  // the root is its own parent
    uint32_t depth = 0;
    uint32_t first = 0, count = 0;                         // range of the node's blocks in `blocks`
    std::vector<uint32_t> children = {};                   // largest first
    trace::Category category = trace::Category::kUnknown;  // the category with the most bytes
  };
  std::vector<Node> nodes;                  // the root first, parents before children
  std::vector<trace::AllocationId> blocks;  // in the order of the tree's leaves
  bool empty() const { return nodes.empty() || nodes[0].bytes == 0; }
};

// Groups the blocks by the program's stack frames, the outermost first. If the trace has no stacks,
// groups them by the parts of the module's name, then by the op.
LiveTree StackTree(const LiveRows& rows);
// Returns a tree with a node for each group of the table. The children of a group's node are its
// blocks.
LiveTree GroupTree(const LiveRows& rows);

struct ChartBox {
  float x = 0, y = 0, w = 0, h = 0;
  uint32_t node = 0;
  bool Contains(float px, float py) const { return px >= x && px < x + w && py >= y && py < y + h; }
};
inline constexpr float kFlameRow = 20, kTreemapHead = 17;  // pixels

// Lays out `root` over the whole width, with its descendants below. Omits boxes narrower than a
// pixel.
std::vector<ChartBox> FlameLayout(const LiveTree& tree, uint32_t root, float width, float height);
// Makes a squarified treemap (Bruls, Huizing and van Wijk 2000): a node's area is its share of the
// bytes. A node with children has a head with its name. Parents come before their children.
std::vector<ChartBox> TreemapLayout(const LiveTree& tree, uint32_t root, float width, float height);

}  // namespace vramscope::ui
