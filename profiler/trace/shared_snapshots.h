// The snapshots that a builder returns during a run (TraceBuilder::Snapshot). A snapshot that
// nobody uses any more is updated and returned again. The update only takes time for the new rows.
// Full pieces of a column no longer change and are shared by the snapshots and the builder, so a
// snapshot needs little memory. Internal to this folder.
//
// Keeps at most two snapshots: the one on display and its successor. One thread at a time may call
// this class; users may release a snapshot on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

class SharedSnapshots {
 public:
  // The number of rows at the beginning of each of two tables. Both tables are sorted by the
  // activities' begin.
  struct Rows {
    uint32_t activities = 0, operands = 0;
  };
  // Returns a trace with the rows of `now`. Call CloseOpenEnds next, because ends of open slices
  // are still those of an earlier snapshot. The activities and operands of `now` are sorted, and
  // the first `unchanged` of them are the same as in the previous call.
  Trace Take(const Trace& now, Rows unchanged);
  std::shared_ptr<const Trace> HandOut(Trace&& snapshot);

 private:
  struct Version {
    std::shared_ptr<Trace> trace;
    Rows unchanged;  // rows that are the same in `now`
  };
  std::vector<Version> snapshots_;  // oldest first
};

}  // namespace vramscope::trace
