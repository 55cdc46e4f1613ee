// What a whole `.trace` file says of itself at its two ends, its header and the index in its
// footer: how much there is, when, how high memory stood in every batch, steps and phases. Read in
// milliseconds, however large the file; nothing between the ends is looked at.
//
//   ASSIGN_OR_RETURN(Outline o, ReadOutline("run.trace"));
//   for (const Outline::Batch& b : o.batches) Draw(b.begin_ns, b.end_ns, b.peak_allocated);
//
// Plain values; any thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

struct Outline {
  // Consecutive events. Memory is that of all devices together, the highest at the begin of the
  // batch or in it.
  struct Batch {
    int64_t begin_ns = 0, end_ns = 0;
    uint64_t events = 0;
    uint64_t peak_allocated = 0, peak_reserved = 0;
  };
  // Activities of one batch; batches may overlap, and come in any order.
  struct Activities {
    int64_t begin_ns = 0, end_ns = 0;
    uint64_t count = 0;
  };

  // A step or a phase that lies in no other of its kind (of several processes, of one); of very
  // many, so many neighbours together.
  struct Slice {
    SliceKind kind = SliceKind::kStep;
    uint32_t number = 0;  // of a step, the first; Phase, which lasts longest
    int64_t begin_ns = 0, end_ns = 0;
    uint32_t count = 1;
  };

  TraceInfo info;
  uint64_t file_bytes = 0;
  uint64_t events = 0, activities = 0, allocations = 0, slices = 0, strings = 0;
  bool complete = false;
  std::string end_message;
  std::vector<Batch> batches;
  std::vector<Activities> activity_batches;
  std::vector<Slice> steps_and_phases;  // by begin; none in files of older writers

  // Of the events and the activities; 0 where there are none.
  int64_t begin_ns() const;
  int64_t end_ns() const;
  uint64_t peak_allocated() const;
  uint64_t peak_reserved() const;
};

// kNotFound, kPermissionDenied; kInvalidArgument: no `.trace`, compressed as a whole, or standard
// input (what has no second end to look at); kDataLoss: it was cut, or its index contradicts
// itself. kUnimplemented: a newer version.
absl::StatusOr<Outline> ReadOutline(const std::string& path);

}  // namespace vramscope::trace
