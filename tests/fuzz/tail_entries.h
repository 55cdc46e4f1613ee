// Entry functions over what a process that was killed had not written as a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// profiler/program/history_tail.h: the input is the file.
void HistoryTail(const uint8_t* data, size_t size);

// profiler/program/activity_tail.h: the input is how many rows it has (a byte), the header, these
// rows, the names; what the file has between them is zeros.
void ActivityTail(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
