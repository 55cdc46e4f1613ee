// Round values for the axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::ui::timeline {

struct TimeTick {
  int64_t time_ns;  // since the trace's begin; a number of entries if the trace has no times
  std::string label;
};

// Returns ticks within [begin, end] (ns from the trace's begin). The distance between ticks is 1, 2
// or 5 times a power of ten. It is at least `min_gap_px`, if the whole width is `width_px`, and
// more if the labels need it. All labels have the same unit, and as many decimals as the view
// needs.
std::vector<TimeTick> TimeTicks(double begin_ns, double end_ns, double width_px, double min_gap_px);
// Like TimeTicks(), for a trace that counts entries. `first` is the number of the trace's first
// entry. A label is, for example, "entry 500".
std::vector<TimeTick> EntryTicks(double begin, double end, double width_px, double min_gap_px,
                                 int64_t first);

struct ByteAxis {
  uint64_t max = 0;   // top of the axis, a multiple of step / 4
  uint64_t step = 1;  // a power of two
};

// Returns the smallest axis that has at most `max_ticks` steps and contains `highest`, plus a
// margin of `head` times `highest` above it.
ByteAxis MakeByteAxis(uint64_t highest, int max_ticks, double head = 0.08);

}  // namespace vramscope::ui::timeline
