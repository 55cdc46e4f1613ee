// As trace_entries.h, for memory snapshots.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Bytes as a pickle; what is read is checked, then reconstructed.
void Pickle(const uint8_t* data, size_t size);
// Bytes as JSON.
void SnapshotJson(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
