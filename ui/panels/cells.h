// Makes table cells, which have a text, a sort key, an exact value and a tone.
#pragma once

#include <cstdint>

#include "ui/panels/rows.h"

namespace vramscope::ui {

Cell BytesCell(uint64_t bytes);  // 0 is drawn dim
Cell CountCell(uint64_t count);  // 0 is drawn dim
// `times`: false if the trace counts history entries instead of nanoseconds.
Cell DurationCell(int64_t ns, bool times);
Cell CategoryCell(trace::Category category);
// A text that is elided in a narrow column. The tool tip shows the whole text.
Cell TextCell(std::string text);
// A signed number of bytes. Its tone is "good" for less memory, and "bad" for more.
Cell DifferenceCell(int64_t bytes);

}  // namespace vramscope::ui
