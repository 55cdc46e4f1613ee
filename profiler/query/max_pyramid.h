// Finds the index of the maximum of any range of a column in O(log n). Scans only the smallest
// buckets; each larger bucket joins two smaller ones. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/query/pyramid.h"

namespace vramscope::query {

class MaxPyramid {
 public:
  // `values`: a column of unsigned numbers, at most 2^32 - 1 rows. Keeps no reference to it.
  template <class Values>
  explicit MaxPyramid(const Values& values);
  // Returns the index of the first maximum in [begin, end), which must not be empty. `values` must
  // be the column given to the constructor.
  template <class Values>
  size_t ArgMax(const Values& values, size_t begin, size_t end) const;
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kBase = 16;
  struct Node {
    uint64_t value;
    uint32_t index;
  };
  Pyramid<Node> levels_;  // [0]: buckets of kBase values
};

template <class Values>
MaxPyramid::MaxPyramid(const Values& values) {
  levels_ = BuildPyramid<Node>(
      values.size(), kBase,
      [&](size_t i) {
        return Node{values[i], static_cast<uint32_t>(i)};
      },
      [](Node& n, const Node& more) {
        if (more.value > n.value) n = more;
      });
}

template <class Values>
size_t MaxPyramid::ArgMax(const Values& v, size_t begin, size_t end) const {
  Node best{v[begin], static_cast<uint32_t>(begin)};
  const auto take = [&best](Node n) {
    if (n.value > best.value || (n.value == best.value && n.index < best.index)) best = n;
  };
  size_t first = (begin + kBase - 1) / kBase, last = end / kBase;  // whole base buckets
  if (first >= last) {
    for (size_t i = begin; i < end; ++i) take({v[i], static_cast<uint32_t>(i)});
    return best.index;
  }
  for (size_t i = begin; i < first * kBase; ++i) take({v[i], static_cast<uint32_t>(i)});
  for (size_t i = last * kBase; i < end; ++i) take({v[i], static_cast<uint32_t>(i)});
  for (size_t level = 0; first < last; ++level) {
    if (first & 1) take(levels_[level][first++]);
    if (last & 1) take(levels_[level][--last]);
    first /= 2;
    last /= 2;
  }
  return best.index;
}

}  // namespace vramscope::query
