// Answers "what is in these pixels" in time that depends on the pixels, not on the trace: a
// power-of-two min/max pyramid over curves, and per-lane pyramids over slices and allocations.
// (The owner of this folder completes it.)
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::query {

// Highest values over each of `columns` equal spans of [begin_ns, end_ns): the curves of a picture.
struct CurveColumns {
  std::vector<uint64_t> allocated_max, reserved_max;
  // Per column, the category split at the column's highest allocated value: category[c][column].
  std::array<std::vector<uint64_t>, trace::kCategoryCount> category;
};

class CurveIndex {
 public:
  explicit CurveIndex(const analysis::MemoryCurves& curves);
  CurveColumns Query(int64_t begin_ns, int64_t end_ns, int columns) const;

 private:
  const analysis::MemoryCurves& curves_;
  std::vector<std::vector<uint32_t>> levels_;  // argmax of allocated per power-of-two bucket
};

}  // namespace vramscope::query
