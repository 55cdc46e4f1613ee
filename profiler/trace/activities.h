// What ran beside the allocator's stream, in CUPTI's terms: kernels, copies, fills,
// synchronisations, collectives, calls of the CUDA runtime and driver, the driver's own
// allocations, named ranges, counters. Each has a begin and an end, and lies on a track: of a
// stream of a device where the card did it, of a thread where the host did.
//
// An activity names its cause by its correlation: the call of the runtime that launched a kernel
// has the same number, in the same process. That call lies in the thread's ops and modules, which
// is how a kernel leads to its op and to what that op allocated.
//
// Producers hand activities over in any order (a card's buffers come late); a Trace has them by
// begin. Plain values; thread rules are those of the table or sink that holds them.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/activity.h"
#include "profiler/trace/packed_column.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

// One row an activity, ordered by begin (as they came, where equal).
struct ActivityTable {
  std::vector<ActivityKind> kind;
  PackedColumn<uint8_t> device;
  PackedColumn<MemorySpace> from;
  PackedColumn<MemorySpace> to;
  PackedColumn<uint32_t> stream;
  PackedColumn<uint32_t> thread;
  PackedColumn<StringId> name;
  PackedColumn<StringId> op;
  PackedColumn<StringId> module;
  PackedColumn<uint64_t> correlation;
  PackedColumn<uint64_t> address;
  PackedColumn<uint64_t> bytes;
  PackedColumn<int64_t> begin_ns;
  PackedColumn<int64_t> end_ns;
  uint32_t size() const { return static_cast<uint32_t>(kind.size()); }
  Activity Row(uint32_t row) const;
  void Append(const Activity& activity);
};

// What kernels, copies and fills were given the address of: rows of kind kOperand, which no other
// table has. Each is of what has its correlation, device and stream and begins when it does.
// `from` is kDevice where it is read, `to` where it is written; neither: it is not known which.
// `bytes` is the time of the Alloc of the block that the address lies in, as signed nanoseconds on
// the clock of the events: of blocks which had the address one after the other it is that one.
using OperandTable = ActivityTable;

// kDataLoss: an end before its begin, a kind or space that is none, a string not yet defined.
absl::Status CheckActivity(const Activity& activity, size_t strings);

// "Memcpy HtoD (Pinned -> Device)", as CUPTI's readers name a copy; between devices "PtoP".
std::string CopyName(MemorySpace from, MemorySpace to, bool peer = false);
std::string SetName(MemorySpace to);  // "Memset (Device)"
// Between memory of two devices: what a copy's name says, no field does.
bool IsPeerCopyName(std::string_view name);
// What such a name says of where it copies or sets; kUnknown where it doesn't.
struct MemorySpaces {
  MemorySpace from = MemorySpace::kUnknown, to = MemorySpace::kUnknown;
};
MemorySpaces SpacesOfName(std::string_view name);
// A kernel of NCCL's, by its name. Inline: the injected library reads it and links no core.
inline constexpr bool IsCollectiveName(std::string_view name) {
  return name.starts_with("nccl") || name.starts_with("void nccl");
}

// Brings the rows into their order; those that are in order cost a look at each.
void SortActivities(ActivityTable& table);

}  // namespace vramscope::trace
