// What a watched process has told of its activities and not yet written as a chunk
// (activity_chunk.h): rows and new names in a mapped file, put there at the moment at which they
// come, so that the death of the process takes none of them. Written by the library that is loaded
// into the process (cupti/activity_tail_writer.h), hence free of everything but the C++ library.
//
// FOLDER/activities.tail: a header, kTailRows rows, the names: each its length in four bytes and
// its text. Rows and names count from the beginning of activities.bin; what is in both is once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profiler/trace/activities.h"

namespace vramscope::program {

struct ActivityTailHeader {
  static constexpr std::array<char, 8> kMagic = {'V', 'S', 'A', 'T', 'A', 'I', 'L', '1'};

  std::array<char, 8> magic = kMagic;
  uint64_t row_bytes = 0;
  std::atomic<uint64_t> first_row{0}, rows{0};
  std::atomic<uint64_t> first_name{0}, names{0};
};
static_assert(sizeof(ActivityTailHeader) == 48 && std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::is_trivially_copyable_v<trace::Activity>);

inline constexpr size_t kTailRows = size_t{1} << 13;
inline constexpr size_t kTailNameBytes = size_t{1} << 18;
inline constexpr size_t kActivityTailBytes =
    sizeof(ActivityTailHeader) + kTailRows * sizeof(trace::Activity) + kTailNameBytes;

}  // namespace vramscope::program
