// The allocator's entries since the last chunk of the history. Each entry is put into a mapped file
// (the tail) as soon as it is made, so a killed process loses none. The entries are written by the
// library in the process (cupti/allocations.cpp), so this header depends only on the C++ standard
// library. When the process begins to write a chunk, it begins a new tail. When the chunk is
// complete, it removes the old tail.
//
// FOLDER/history-N.tail: a header, then rows. The header has the number of rows; what follows these
// rows is incomplete or unused. If PyTorch's stacks can be read when an entry is made
// (cupti/stacks.h), no pickle is written. The tail is then the chunk itself, and is renamed to
// history-N.rows when the next tail begins.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramscope::program {

struct HistoryTailHeader {
  static constexpr std::array<char, 8> kMagic = {'V', 'S', 'T', 'A', 'I', 'L', '0', '1'};

  std::array<char, 8> magic = kMagic;
  uint64_t row_bytes = 0;
  std::atomic<uint64_t> rows{0};
  std::atomic<uint64_t> full{0};  // 1: the file is full; later entries are missing
};

// One entry. `action` has the numbers of PyTorch's TraceEntry::Action. Tests show that these
// numbers are the same in PyTorch 2.4, 2.6, 2.11 and 2.15.
struct HistoryTailRow {
  uint64_t address = 0, bytes = 0, stream = 0;
  int64_t time_ns = 0;  // since 1970
  uint8_t action = 0, device = 0;
  // 0: the row is incomplete. Otherwise, 1 plus the number of the operator that made the allocation
  // (history_stacks.h).
  uint16_t done = 0;
  uint32_t stack = 0;  // number in history_stacks.h; 0: none
};

// The file may be read on another computer, so the layout of its bytes is fixed.
static_assert(sizeof(HistoryTailHeader) == 32 && sizeof(HistoryTailRow) == 40);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kMostTailBytes = size_t{512} << 20;

}  // namespace vramscope::program
