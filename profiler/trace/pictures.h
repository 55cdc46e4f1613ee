// The traces that a builder has handed out while it goes on (TraceBuilder::Snapshot). One that
// nobody looks at any more is brought up to date and handed out anew: that costs the rows that are
// new. Its columns share with the builder's whatever is full and does not change any more, so that
// a picture takes little memory of its own. Internal to this folder.
//
// Keeps two at most: the one that is shown, and the one that takes its place. One thread at a time;
// whoever looks at a picture may drop it on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

class Pictures {
 public:
  // First rows of the tables that are in order of their begin.
  struct Rows {
    uint32_t activities = 0, operands = 0;
  };
  // A trace with what `now` has; its open ends are as some earlier picture's (CloseOpenEnds). The
  // activities and operands of `now` are in order, and `unchanged` of them are those of the call
  // before.
  Trace Take(const Trace& now, Rows unchanged);
  std::shared_ptr<const Trace> HandOut(Trace&& picture);

 private:
  struct Picture {
    std::shared_ptr<Trace> trace;
    Rows unchanged;  // that are still as `now` has them
  };
  std::vector<Picture> pictures_;  // the oldest first
};

}  // namespace vramscope::trace
