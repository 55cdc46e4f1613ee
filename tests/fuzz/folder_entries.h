// Entry functions over what comes from other processes: a watched program's folder and what carries
// it from another computer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// activities.bin of a process; right checksums are set.
void ActivityChunks(const uint8_t* data, size_t size);
// A whole folder: files of fixed names (folder_entries.cpp), in their order, a byte 0x1f between.
void ProgramFolder(const uint8_t* data, size_t size);
// The stream of `record --host`; right checksums are set.
void FolderStream(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
