// A summary of a whole `.trace` file from its header and the index in its footer: counts, time
// range, highest memory of every batch, steps and phases. This takes milliseconds for a file of any
// size, because nothing between header and footer is read.
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
  // Consecutive events. Memory figures are sums over all devices: the highest value at the batch's
  // begin or within the batch.
  struct Batch {
    int64_t begin_ns = 0, end_ns = 0;
    uint64_t events = 0;
    uint64_t peak_allocated = 0, peak_reserved = 0;
  };
  // Activities of one batch. Batches may overlap and are in no particular order.
  struct Activities {
    int64_t begin_ns = 0, end_ns = 0;
    uint64_t count = 0;
  };

  // A step or phase that is not nested in another of its kind and process. If a file has very many,
  // each entry combines `count` neighbours.
  struct Slice {
    SliceKind kind = SliceKind::kStep;
    // The number of the step (the first, if combined), or the Phase (the longest, if combined).
    uint32_t number = 0;
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
  std::vector<Slice> steps_and_phases;  // sorted by begin; empty in files of older writers

  // Return the time range of events and activities, or 0 if there are none.
  int64_t begin_ns() const;
  int64_t end_ns() const;
  uint64_t peak_allocated() const;
  uint64_t peak_reserved() const;
};

// kNotFound, kPermissionDenied: as usual; kInvalidArgument: no `.trace`, a `.trace` compressed as a
// whole, or standard input, which cannot be read from its end; kDataLoss: the file is cut off, or
// its index is inconsistent; kUnimplemented: a newer version.
absl::StatusOr<Outline> ReadOutline(const std::string& path);

}  // namespace vramscope::trace
