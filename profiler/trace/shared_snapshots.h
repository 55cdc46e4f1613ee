// The snapshots that a builder returns during a run (TraceBuilder::Snapshot). A snapshot without
// users is updated and returned again, which only costs time for the new rows. Snapshots and the
// builder share the full runs of their columns, which no longer change, so a snapshot needs little
// memory. Internal to this folder.
//
// Keeps at most two snapshots: the one on display and its successor. One thread at a time; users
// may release a snapshot on any thread.
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
    Rows unchanged;  // rows that `now` has unchanged
  };
  std::vector<Version> snapshots_;  // oldest first
};

}  // namespace vramscope::trace
