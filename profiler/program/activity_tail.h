// The activities that a watched process has not yet written as a chunk (activity_chunk.h). Rows and
// new names are put into a mapped file as soon as they arrive, so a killed process loses none. They
// are written by the library in the process (cupti/activity_tail_writer.h), so this header depends
// only on the C++ standard library.
//
// FOLDER/activities.tail consists of a header, kTailRows rows, and the names, each with its length
// in four bytes. Rows and names are numbered from the beginning of activities.bin. A row or name
// that is in both files has the same number in both and counts once.
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
