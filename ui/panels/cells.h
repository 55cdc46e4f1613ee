// Cells that tables share: text, sort key, exact value and tone of a figure.
#pragma once

#include <cstdint>

#include "ui/panels/rows.h"

namespace vramscope::ui {

Cell BytesCell(uint64_t bytes);  // 0 is dim
Cell CountCell(uint64_t count);  // likewise
// `times` false: a trace that counts entries in place of time.
Cell DurationCell(int64_t ns, bool times);
Cell CategoryCell(trace::Category category);
// Of a text that may be cut: the whole is the tool tip.
Cell TextCell(std::string text);
// Signed bytes of memory: less is good, more is bad, everywhere.
Cell DifferenceCell(int64_t bytes);

}  // namespace vramscope::ui
