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
  // A trace with what `now` has; its open ends are as some earlier picture's (CloseOpenEnds). The
  // activities of `now` are in order, and their first `unchanged` rows are those of the call
  // before.
  Trace Take(const Trace& now, uint32_t unchanged);
  std::shared_ptr<const Trace> HandOut(Trace&& picture);

 private:
  struct Picture {
    std::shared_ptr<Trace> trace;
    uint32_t activities = 0;  // first rows that are still as `now` has them
  };
  std::vector<Picture> pictures_;  // the oldest first
};

}  // namespace vramscope::trace
