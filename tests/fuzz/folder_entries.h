// Entry functions for data from other processes: a watched program's folder, and the stream that
// transfers it from another computer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// activities.bin of a process, with corrected checksums.
void ActivityChunks(const uint8_t* data, size_t size);
// A whole folder: files with fixed names (folder_entries.cpp), in their order, separated by a byte
// 0x1f.
void ProgramFolder(const uint8_t* data, size_t size);
// The stream of `record --host`, with corrected checksums.
void FolderStream(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
