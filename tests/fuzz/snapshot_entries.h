// Like trace_entries.h, for memory snapshots.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads the bytes as a pickle; then checks and reconstructs the recording.
void Pickle(const uint8_t* data, size_t size);
// Reads the bytes as JSON.
void SnapshotJson(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
