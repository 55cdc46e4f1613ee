#include "ui/explain/live_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"

namespace vramscope::ui {
namespace {

// The maximum number of frames of a stack. The bytes of deeper frames count for the last of them.
constexpr size_t kDeepest = 64;
constexpr float kLeastSide = 1;     // minimum size of a box in pixels
constexpr float kLeastInside = 24;  // minimum size of a treemap box that shows its children

// Builds a tree. For each block, the caller adds the nodes on its path.
class TreeMaker {
 public:
  explicit TreeMaker(const LiveRows& rows) : rows_(rows) {
    tree_.nodes.push_back({.name = i18n::Text("all")});
  }

  uint32_t Child(uint32_t parent, std::string_view name) {
    const auto [number, fresh_name] =
        numbers_.try_emplace(std::string(name), static_cast<uint32_t>(numbers_.size()));
    const auto [at, fresh] = children_.try_emplace(uint64_t{parent} << 32 | number->second,
                                                   static_cast<uint32_t>(tree_.nodes.size()));
    if (fresh) {
      tree_.nodes.push_back(
          {.name = std::string(name), .parent = parent, .depth = tree_.nodes[parent].depth + 1});
      tree_.nodes[parent].children.push_back(at->second);
    }
    return at->second;
  }
  // Adds a node for a single block.
  uint32_t Leaf(uint32_t parent) {
    const auto node = static_cast<uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back({.parent = parent, .depth = tree_.nodes[parent].depth + 1});
    tree_.nodes[parent].children.push_back(node);
    return node;
  }
  void Put(uint32_t block, uint32_t node) { node_of_.emplace_back(node, block); }

  LiveTree Finish() {
    AddUp();
    for (LiveTree::Node& node : tree_.nodes)
      std::stable_sort(node.children.begin(), node.children.end(), [&](uint32_t x, uint32_t y) {
        return tree_.nodes[x].bytes > tree_.nodes[y].bytes;
      });
    OrderBlocks();
    return std::move(tree_);
  }

 private:
  using ByCategory = std::array<uint64_t, trace::kCategoryCount>;

  void AddUp() {
    const trace::AllocationTable& a = rows_.trace().allocations;
    std::vector<ByCategory> bytes(tree_.nodes.size());
    for (const auto& [node, block] : node_of_) {
      const analysis::LiveAllocation& l = rows_.blocks()[block];
      bytes[node][static_cast<size_t>(l.category)] += a.bytes_rounded[l.id.value];
      ++tree_.nodes[node].count;
    }
    for (size_t i = tree_.nodes.size(); i-- > 0;) {
      LiveTree::Node& node = tree_.nodes[i];
      node.bytes = std::accumulate(bytes[i].begin(), bytes[i].end(), uint64_t{0});
      node.category = static_cast<trace::Category>(
          std::max_element(bytes[i].begin(), bytes[i].end()) - bytes[i].begin());
      if (i == 0) continue;
      for (size_t c = 0; c < bytes[i].size(); ++c) bytes[node.parent][c] += bytes[i][c];
      tree_.nodes[node.parent].count += node.count;
    }
  }

  // Makes the blocks below each node contiguous: a node's own blocks, then its children's.
  void OrderBlocks() {
    std::vector<uint32_t> own(tree_.nodes.size());
    for (const auto& [node, block] : node_of_) ++own[node];
    std::vector<uint32_t> next(tree_.nodes.size());
    for (uint32_t i = 0; i < tree_.nodes.size(); ++i) {
      LiveTree::Node& node = tree_.nodes[i];
      next[i] = node.first;
      uint32_t first = node.first + own[i];
      for (const uint32_t child : node.children) {
        tree_.nodes[child].first = first;
        first += tree_.nodes[child].count;
      }
    }
    tree_.blocks.resize(node_of_.size());
    for (const auto& [node, block] : node_of_)
      tree_.blocks[next[node]++] = rows_.blocks()[block].id;
  }

  const LiveRows& rows_;
  LiveTree tree_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::unordered_map<uint64_t, uint32_t> children_;  // key: parent and name
  std::vector<std::pair<uint32_t, uint32_t>> node_of_;
};

std::string_view TextOr(const trace::Trace& trace, trace::StringId id, std::string_view none) {
  const std::string_view text = trace.String(id);
  return text.empty() ? none : text;
}

}  // namespace

LiveTree StackTree(const LiveRows& rows) {
  const trace::Trace& trace = rows.trace();
  const trace::AllocationTable& a = trace.allocations;
  const analysis::SiteNames names(trace);
  TreeMaker maker(rows);
  std::unordered_map<uint32_t, uint32_t> of_stack;  // the nodes of the stacks added so far
  for (uint32_t i = 0; i < rows.blocks().size(); ++i) {
    const uint32_t id = rows.blocks()[i].id.value;
    const trace::StackId stack = trace.events.StackOf(a.alloc_event[id]);
    uint32_t node = 0;
    if (stack.value != 0) {
      const auto [at, fresh] = of_stack.try_emplace(stack.value, 0);
      if (fresh) {
        std::vector<std::string> callers = names.Callers(stack);
        if (callers.empty()) callers.push_back("(no stack)");
        if (callers.size() > kDeepest)
          callers.erase(callers.begin(), callers.end() - static_cast<std::ptrdiff_t>(kDeepest));
        for (size_t c = callers.size(); c-- > 0;) at->second = maker.Child(at->second, callers[c]);
      }
      node = at->second;
    } else {
      std::string_view module = TextOr(trace, a.module[id], "");
      if (module.empty()) {
        node = maker.Child(node,
                           analysis::IsOlder(trace, id) ? "(before the recording)" : "(no module)");
      }
      for (size_t depth = 0; !module.empty() && depth < kDeepest; ++depth) {
        const size_t dot = module.find('.');
        node = maker.Child(node, module.substr(0, dot));
        module = dot == std::string_view::npos ? std::string_view() : module.substr(dot + 1);
      }
      if (const std::string_view op = TextOr(trace, a.op[id], ""); !op.empty())
        node = maker.Child(node, op);
    }
    maker.Put(i, node);
  }
  return maker.Finish();
}

LiveTree GroupTree(const LiveRows& rows) {
  TreeMaker maker(rows);
  if (rows.groups().empty())
    for (uint32_t i = 0; i < rows.blocks().size(); ++i) maker.Put(i, maker.Leaf(0));
  for (const LiveRows::Group& group : rows.groups()) {
    const uint32_t node = maker.Child(0, group.name);
    for (uint32_t i = group.first; i < group.first + group.count; ++i)
      maker.Put(i, maker.Leaf(node));
  }
  return maker.Finish();
}

namespace {

void Flame(const LiveTree& tree, uint32_t node, float x, float y, float width, float height,
           std::vector<ChartBox>* boxes) {
  if (width < kLeastSide || y + kFlameRow > height) return;
  boxes->push_back({x, y, width, kFlameRow, node});
  const LiveTree::Node& of = tree.nodes[node];
  for (const uint32_t child : of.children) {
    const auto part = static_cast<float>(static_cast<double>(width) *
                                         static_cast<double>(tree.nodes[child].bytes) /
                                         static_cast<double>(of.bytes));
    if (part < kLeastSide) break;  // the remaining children are even smaller
    Flame(tree, child, x, y + kFlameRow, part, height, boxes);
    x += part;
  }
}

struct Area {
  double x, y, w, h;
};

// Returns the worst aspect ratio in a row of boxes along `side`. `sum`, `least` and `most`: the
// bytes of all boxes, of the smallest box and of the largest box.
double Worst(double sum, double least, double most, double side, double scale) {
  const double s = sum * scale, side2 = side * side;
  return std::max(side2 * most * scale / (s * s), s * s / (side2 * least * scale));
}

void Squarify(const LiveTree& tree, uint32_t node, Area area, std::vector<ChartBox>* boxes);

void Place(const LiveTree& tree, uint32_t node, const Area& at, std::vector<ChartBox>* boxes) {
  if (at.w < kLeastSide || at.h < kLeastSide) return;
  boxes->push_back({static_cast<float>(at.x), static_cast<float>(at.y), static_cast<float>(at.w),
                    static_cast<float>(at.h), node});
  if (tree.nodes[node].children.empty() || at.w < kLeastInside || at.h < kLeastInside) return;
  Squarify(tree, node, {at.x + 1, at.y + kTreemapHead, at.w - 2, at.h - kTreemapHead - 1}, boxes);
}

// Fills a row of boxes along the shorter side of the area, then repeats this for the remaining
// area. Boxes are added to a row as long as they make the row's boxes squarer.
void Squarify(const LiveTree& tree, uint32_t node, Area area, std::vector<ChartBox>* boxes) {
  const std::vector<uint32_t>& children = tree.nodes[node].children;
  auto left = static_cast<double>(tree.nodes[node].bytes);
  size_t begin = 0;
  while (begin < children.size() && area.w >= kLeastSide && area.h >= kLeastSide && left > 0) {
    const double side = std::min(area.w, area.h), scale = area.w * area.h / left;
    size_t end = begin;
    double sum = 0, worst = std::numeric_limits<double>::infinity();
    const auto most = static_cast<double>(tree.nodes[children[begin]].bytes);
    for (; end < children.size(); ++end) {
      const auto bytes = static_cast<double>(tree.nodes[children[end]].bytes);
      if (bytes <= 0) break;
      const double now = Worst(sum + bytes, bytes, most, side, scale);
      if (now > worst) break;
      worst = now;
      sum += bytes;
    }
    if (end == begin) return;
    const double depth = sum * scale / side;
    if (depth * side < 1) return;  // less than a pixel is left for the remaining boxes
    double at = area.w >= area.h ? area.y : area.x;
    for (size_t i = begin; i < end; ++i) {
      const double length = static_cast<double>(tree.nodes[children[i]].bytes) * scale / depth;
      Place(tree, children[i],
            area.w >= area.h ? Area{area.x, at, depth, length} : Area{at, area.y, length, depth},
            boxes);
      at += length;
    }
    if (area.w >= area.h) {
      area.x += depth;
      area.w -= depth;
    } else {
      area.y += depth;
      area.h -= depth;
    }
    left -= sum;
    begin = end;
  }
}

}  // namespace

std::vector<ChartBox> FlameLayout(const LiveTree& tree, uint32_t root, float width, float height) {
  std::vector<ChartBox> boxes;
  if (root < tree.nodes.size() && tree.nodes[root].bytes > 0)
    Flame(tree, root, 0, 0, width, height, &boxes);
  return boxes;
}

std::vector<ChartBox> TreemapLayout(const LiveTree& tree, uint32_t root, float width,
                                    float height) {
  std::vector<ChartBox> boxes;
  if (root < tree.nodes.size() && tree.nodes[root].bytes > 0)
    Place(tree, root, {0, 0, width, height}, &boxes);
  return boxes;
}

}  // namespace vramscope::ui
