// Argmax over any range of a column in O(log n): power-of-two buckets above a base bucket that is
// scanned. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/query/pyramid.h"

namespace vramscope::query {

class MaxPyramid {
 public:
  // `values` must outlive the pyramid and stay as it is. At most 2^32 - 1 values.
  explicit MaxPyramid(const std::vector<uint64_t>& values);
  // Index of the first highest value of [begin, end); the range must not be empty.
  size_t ArgMax(size_t begin, size_t end) const;
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kBase = 16;
  struct Node {
    uint64_t value;
    uint32_t index;
  };
  const std::vector<uint64_t>* values_;
  Pyramid<Node> levels_;  // [0]: buckets of kBase values
};

}  // namespace vramscope::query
