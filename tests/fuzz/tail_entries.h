// Entry functions for data that a process had not yet written as a chunk when it was killed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Tests profiler/program/history_tail.h. The input is the file.
void HistoryTail(const uint8_t* data, size_t size);

// Tests profiler/program/activity_tail.h. The input is the number of rows (one byte), the header,
// the rows and the names. The space between rows and names in the file is filled with zeros.
void ActivityTail(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
