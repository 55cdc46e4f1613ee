// Entry functions for data that a killed process had not written as a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// profiler/program/history_tail.h: the input is the file.
void HistoryTail(const uint8_t* data, size_t size);

// profiler/program/activity_tail.h: the input is the number of rows (a byte), the header, these
// rows, the names; the space between them in the file is zeros.
void ActivityTail(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
