// Size limits for reading a memory snapshot. No device has larger sizes, so a file with larger
// sizes is damaged. vramscope never writes larger sizes.
#pragma once

#include <cstdint>

namespace vramscope::trace {

inline constexpr uint64_t kMostSnapshotBytes = uint64_t{1} << 48;  // size of a block or segment
inline constexpr uint64_t kMostSnapshotAsked = uint64_t{1} << 62;  // size of a failed allocation

}  // namespace vramscope::trace
