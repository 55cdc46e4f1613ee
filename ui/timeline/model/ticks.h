// Round values for the axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::ui::timeline {

struct TimeTick {
  int64_t time_ns;  // from the trace's begin; of a trace without times: entries
  std::string label;
};

// Ticks of 1, 2 or 5 times a power of ten inside [begin, end] (ns from the trace's begin), at least
// `min_gap_px` apart in a picture of `width_px`, wider where the labels need it. Deep in a long
// trace all labels keep one unit and get decimals.
std::vector<TimeTick> TimeTicks(double begin_ns, double end_ns, double width_px, double min_gap_px);
// The same of a trace that counts entries: `first` is the number of the one it begins with. Labels
// are "entry 500".
std::vector<TimeTick> EntryTicks(double begin, double end, double width_px, double min_gap_px,
                                 int64_t first);

struct ByteAxis {
  uint64_t max = 0;   // top of the axis, a multiple of step / 4
  uint64_t step = 1;  // a power of two
};

// The smallest axis that holds `highest`, with a head of `head` (a share of it) above it and at
// most `max_ticks` steps.
ByteAxis MakeByteAxis(uint64_t highest, int max_ticks, double head = 0.08);

}  // namespace vramscope::ui::timeline
