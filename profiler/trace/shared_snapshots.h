// The snapshots that a builder returns during a run (TraceBuilder::Snapshot). A snapshot that is no
// longer used is updated and returned again, which costs only the new rows. Its columns and the
// builder's share the full runs that no longer change, so that a snapshot needs little memory.
// Internal to this folder.
//
// Keeps at most two: the one that is shown and the one that replaces it. One thread at a time;
// users may release a snapshot on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

class SharedSnapshots {
 public:
  // Numbers of rows at the beginning of two tables, which are sorted by the activities' begin.
  struct Rows {
    uint32_t activities = 0, operands = 0;
  };
  // A trace with the rows of `now`. Its open ends are still those of an earlier snapshot;
  // CloseOpenEnds updates them. The activities and operands of `now` are sorted, and the first
  // `unchanged` of them are the same as in the previous call.
  Trace Take(const Trace& now, Rows unchanged);
  std::shared_ptr<const Trace> HandOut(Trace&& snapshot);

 private:
  struct Version {
    std::shared_ptr<Trace> trace;
    Rows unchanged;  // rows that are still the same in `now`
  };
  std::vector<Version> snapshots_;  // oldest first
};

}  // namespace vramscope::trace
