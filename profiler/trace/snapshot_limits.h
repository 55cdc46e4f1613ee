// Sizes up to which a memory snapshot is read. What is beyond is on no device: a file that says so
// is damaged, and none is written.
#pragma once

#include <cstdint>

namespace vramscope::trace {

inline constexpr uint64_t kMostSnapshotBytes = uint64_t{1} << 48;  // of a block or segment
inline constexpr uint64_t kMostSnapshotAsked = uint64_t{1} << 62;  // by an allocation that failed

}  // namespace vramscope::trace
