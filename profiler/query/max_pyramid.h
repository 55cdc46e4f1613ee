// Argmax over any range of a column in O(log n): power-of-two buckets above a base bucket that is
// scanned. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/query/pyramid.h"

namespace vramscope::query {

class MaxPyramid {
 public:
  // Keeps nothing of `values`. At most 2^32 - 1 values.
  explicit MaxPyramid(std::span<const uint64_t> values);
  // Index of the first highest value of [begin, end) of the very values that it was made of; the
  // range must not be empty.
  size_t ArgMax(std::span<const uint64_t> values, size_t begin, size_t end) const;
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kBase = 16;
  struct Node {
    uint64_t value;
    uint32_t index;
  };
  Pyramid<Node> levels_;  // [0]: buckets of kBase values
};

}  // namespace vramscope::query
