// What the allocator did since the last chunk of the history: its entries, put into a mapped file
// at the moment at which they happen, so that the death of the process takes none of them. Written
// by the library that is loaded into the process (cupti/allocations.cpp), hence free of everything
// but the C++ library; the process begins another file with every chunk and removes the one before
// when the chunk is there.
//
// FOLDER/history-N.tail: a header, then rows. What lies behind `rows` is being written or nothing.
// Where PyTorch's stacks can be read at that moment, too, (cupti/stacks.h) it is the chunk itself,
// history-N.rows as soon as the next has begun, and nothing else is written of a request.
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
  std::atomic<uint64_t> full{0};  // 1: there was no more room; entries are missing behind the rows
};

// One entry. `action` as PyTorch numbers them (TraceEntry::Action): alike in 2.4, 2.6, 2.11, 2.15
// (tried).
struct HistoryTailRow {
  uint64_t address = 0, bytes = 0, stream = 0;
  int64_t time_ns = 0;  // since 1970
  uint8_t action = 0, device = 0;
  // 0: not all of it is written; else 1 more than the number of the operator that asked
  // (history_stacks.h)
  uint16_t done = 0;
  uint32_t stack = 0;  // of history_stacks.h; 0: none
};

// A reader may run on another computer: what it takes apart is bytes in this order.
static_assert(sizeof(HistoryTailHeader) == 32 && sizeof(HistoryTailRow) == 40);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kMostTailBytes = size_t{512} << 20;

}  // namespace vramscope::program
