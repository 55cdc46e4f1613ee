#include "profiler/explain/layers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/base/hash_map.h"

namespace vramscope::explain {
namespace {

using trace::Category;

struct Block {
  uint32_t id = 0;
  uint32_t layer = 0;
};

// Splits "model.layers.3.mlp" into "model.layers" and 3. Returns nullopt if no part is a number.
std::optional<std::pair<std::string_view, uint32_t>> NumberIn(std::string_view path) {
  for (size_t begin = path.find('.'); begin != std::string_view::npos;
       begin = path.find('.', begin + 1)) {
    const size_t end = std::min(path.find('.', begin + 1), path.size());
    const std::string_view part = path.substr(begin + 1, end - begin - 1);
    if (part.empty() || part.size() > 5 ||
        !std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    uint32_t number = 0;
    for (const char c : part) number = 10 * number + static_cast<uint32_t>(c - '0');
    return std::pair(path.substr(0, begin), number);
  }
  return std::nullopt;
}

// Finds the list of modules whose blocks have the most bytes, such as "model.layers". Returns these
// blocks.
std::vector<Block> ByModule(const trace::Trace& trace, const std::vector<uint32_t>& ids) {
  const trace::AllocationTable& a = trace.allocations;
  base::HashMap<std::string_view, uint64_t> lists;
  for (const uint32_t id : ids) {
    if (const auto found = NumberIn(trace.String(a.module[id])); found)
      lists[found->first] += a.bytes_rounded[id];
  }
  std::vector<Block> out;
  const auto most = std::max_element(lists.begin(), lists.end(), [](const auto& x, const auto& y) {
    return x.second != y.second ? x.second < y.second : x.first > y.first;
  });
  if (most == lists.end()) return out;
  for (const uint32_t id : ids) {
    const auto found = NumberIn(trace.String(a.module[id]));
    if (found && found->first == most->first) out.push_back({id, found->second});
  }
  return out;
}

std::vector<Block> ByRepetition(const trace::Trace& trace, const std::vector<uint32_t>& ids) {
  const trace::AllocationTable& a = trace.allocations;
  struct Stack {
    uint32_t count = 0, first = 0;
  };
  base::HashMap<uint32_t, Stack> stacks;
  for (const uint32_t id : ids) {
    const uint32_t stack = trace.events.StackOf(a.alloc_event[id]).value;
    if (stack == 0) continue;
    Stack& s = stacks[stack];
    if (s.count++ == 0) s.first = id;
  }
  // Finds the number of layers. This is the largest n for which 90 % of the repeated bytes are in
  // stacks that occur n, 2n, 3n ... times. A count may be off by 1, 2, 3 ..., because the last
  // layer may be incomplete.
  std::map<uint32_t, uint64_t> by_count;
  uint64_t repeated = 0;
  for (const uint32_t id : ids) {
    const auto it = stacks.find(trace.events.StackOf(a.alloc_event[id]).value);
    if (it == stacks.end() || it->second.count < 2) continue;
    by_count[it->second.count] += a.bytes_rounded[id];
    repeated += a.bytes_rounded[id];
  }
  const auto agrees = [](uint32_t count, uint32_t layers) {
    const uint32_t times = std::max(1u, (count + layers / 2) / layers);
    const uint32_t whole = times * layers;
    return (count > whole ? count - whole : whole - count) <= times;
  };
  uint32_t layers = 0;
  for (const auto& [candidate, ignored] : by_count) {
    uint64_t agreeing = 0;
    for (const auto& [count, bytes] : by_count) agreeing += agrees(count, candidate) ? bytes : 0;
    if (agreeing / 9 >= repeated / 10) layers = candidate;
  }
  if (layers < 2) return {};
  // A layer begins at the first stack that occurs once per layer.
  uint32_t anchor = 0;
  for (const auto& [stack, s] : stacks) {
    if (s.count != layers && s.count != layers + 1) continue;
    if (anchor == 0 || s.first < stacks[anchor].first) anchor = stack;
  }
  std::vector<Block> out;
  uint32_t layer = 0;
  bool begun = false;
  for (const uint32_t id : ids) {
    const uint32_t stack = trace.events.StackOf(a.alloc_event[id]).value;
    const auto it = stacks.find(stack);
    if (it == stacks.end() || it->second.count < 2 || !agrees(it->second.count, layers)) continue;
    if (stack == anchor && std::exchange(begun, true)) ++layer;
    out.push_back({id, layer});
  }
  return out;
}

// Sums the blocks of each layer. Returns nothing if they have less than a quarter of `all` bytes.
Layers LayersOf(const trace::Trace& trace, const std::vector<Block>& blocks, uint64_t all) {
  Layers out;
  base::HashMap<uint32_t, uint32_t> row;  // layer number -> row of the result
  std::vector<uint32_t> row_of, first;
  for (const Block& b : blocks) {
    const auto [it, fresh] = row.try_emplace(b.layer, static_cast<uint32_t>(row.size()));
    if (fresh) {
      out.bytes.push_back(0);
      first.push_back(b.id);
    }
    row_of.push_back(it->second);
    out.bytes[it->second] += trace.allocations.bytes_rounded[b.id];
  }
  uint64_t inside = 0;
  for (const uint64_t bytes : out.bytes) inside += bytes;
  if (out.bytes.size() < 2 || 4 * inside < all) return {};
  out.count = out.bytes.size();
  const auto largest = static_cast<uint32_t>(std::max_element(out.bytes.begin(), out.bytes.end()) -
                                             out.bytes.begin());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (row_of[i] != largest && blocks[i].id != first[row_of[i]])
      out.recomputed.insert(blocks[i].id);
  }
  return out;
}

}  // namespace

Layers FindLayers(const trace::Trace& trace, const analysis::LiveSet& live) {
  std::vector<uint32_t> ids;
  uint64_t all = 0;
  for (const analysis::LiveAllocation& l : live.allocations) {
    if (l.category != Category::kActivation) continue;
    ids.push_back(l.id.value);
    all += trace.allocations.bytes_rounded[l.id.value];
  }
  std::sort(ids.begin(), ids.end());  // in order of allocation
  Layers layers = LayersOf(trace, ByModule(trace, ids), all);
  return layers.count > 0 ? layers : LayersOf(trace, ByRepetition(trace, ids), all);
}

}  // namespace vramscope::explain
