// Cells that several tables use: text, sort key, exact value and tone of a figure.
#pragma once

#include <cstdint>

#include "ui/panels/rows.h"

namespace vramscope::ui {

Cell BytesCell(uint64_t bytes);  // 0 is drawn dim
Cell CountCell(uint64_t count);  // 0 is drawn dim
// `times` is false if the trace's times are numbers of history entries instead of nanoseconds.
Cell DurationCell(int64_t ns, bool times);
Cell CategoryCell(trace::Category category);
// A text that may be elided; the tool tip shows the whole text.
Cell TextCell(std::string text);
// Signed bytes of memory. Less memory is good, more is bad.
Cell DifferenceCell(int64_t bytes);

}  // namespace vramscope::ui
