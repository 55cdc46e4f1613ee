// Entry functions for data from other processes: a watched program's folder, and the stream that
// transfers it from another computer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads activities.bin of a process, with corrected checksums.
void ActivityChunks(const uint8_t* data, size_t size);
// Reads a whole folder of files with fixed names. The input is their contents in the order of
// kFiles in folder_entries.cpp, separated by 0x1f bytes.
void ProgramFolder(const uint8_t* data, size_t size);
// Reads the stream of `record --host`, with corrected checksums.
void FolderStream(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
