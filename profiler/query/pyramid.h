// Summaries of consecutive items at several resolutions. Each bottom node summarizes `base` items.
// Each higher node summarizes two nodes of the level below. Internal to this folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace vramscope::query {

// [0] is the bottom level; the last level has one node. Without items, there are no levels.
template <class Node>
using Pyramid = std::vector<std::vector<Node>>;

// `node_of(i)` returns the node of one item. `merge(node, more)` merges a later node into `node`.
template <class Node, class NodeOf, class Merge>
Pyramid<Node> BuildPyramid(size_t items, size_t base, NodeOf node_of, Merge merge) {
  std::vector<Node> level;
  level.reserve((items + base - 1) / base);
  for (size_t first = 0; first < items; first += base) {
    level.push_back(node_of(first));
    const size_t last = std::min(items, first + base);
    for (size_t i = first + 1; i < last; ++i) merge(level.back(), node_of(i));
  }
  Pyramid<Node> levels;
  while (level.size() > 1) {
    std::vector<Node> up;
    up.reserve((level.size() + 1) / 2);
    for (size_t i = 0; i < level.size(); i += 2) {
      up.push_back(level[i]);
      if (i + 1 < level.size()) merge(up.back(), level[i + 1]);
    }
    levels.push_back(std::move(level));
    level = std::move(up);
  }
  levels.push_back(std::move(level));
  return levels;
}

}  // namespace vramscope::query
