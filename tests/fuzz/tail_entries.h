// Entry functions for the data of a killed process that it had not yet written as a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Tests profiler/program/history_tail.h. The input is the file.
void HistoryTail(const uint8_t* data, size_t size);

// Tests profiler/program/activity_tail.h. The input consists of the number of rows (one byte), the
// header, the rows and the names. In the file, zeros fill the space between rows and names.
void ActivityTail(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
