// Activities of a trace, in CUPTI's terms: kernels, memcpys, memsets, synchronizations,
// collectives, calls of the CUDA runtime and driver, the driver's own allocations, named ranges,
// counters. Activities are recorded in addition to the allocator's events. Each activity has
// a begin and an end, and belongs to a track: a stream of a device for work of the GPU, a
// thread for work of the host.
//
// A correlation joins an activity to its cause: a kernel has the same number as the runtime call
// that launched it (numbers are unique in a process). The call lies within the thread's open ops
// and modules, so a kernel can be traced to its op and to the memory that the op allocated.
//
// Producers may pass activities in any order, because a GPU's buffers arrive late. A Trace sorts
// them by begin. Plain values, as thread-safe as the table or sink that contains them.
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

// One row per activity, sorted by begin. Rows with equal begins are in order of their arrival.
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

// The addresses that were passed to kernels, memcpys and memsets. The rows have kind kOperand,
// which occurs in no other table. A row belongs to the activity with the same correlation, device
// and stream, and has the same begin. `from` is kDevice if the operand is read, and `to` is kDevice
// if it is written; if neither is kDevice, the access is unknown. `bytes` is a time, in signed
// nanoseconds on the events' clock: when the block with this address was allocated. It
// distinguishes blocks that have the same address at different times.
using OperandTable = ActivityTable;

// kDataLoss: the end is before the begin, the kind or space is invalid, or a string is not defined
// yet.
absl::Status CheckActivity(const Activity& activity, size_t strings);

// Returns the name that tools based on CUPTI show: "Memcpy HtoD (Pinned -> Device)". With `peer` (a
// memcpy between two devices), it contains "PtoP".
std::string CopyName(MemorySpace from, MemorySpace to, bool peer = false);
std::string SetName(MemorySpace to);  // "Memset (Device)"
// Whether a memcpy of this name is between two devices. (No field contains this fact.)
bool IsPeerCopyName(std::string_view name);
// The memory spaces in the name of a memcpy or memset, or kUnknown if it names none.
struct MemorySpaces {
  MemorySpace from = MemorySpace::kUnknown, to = MemorySpace::kUnknown;
};
MemorySpaces SpacesOfName(std::string_view name);
// Whether this is the name of an NCCL kernel. Inline, because the injected library uses it but is
// not linked with the core.
inline constexpr bool IsCollectiveName(std::string_view name) {
  return name.starts_with("nccl") || name.starts_with("void nccl");
}

// Sorts the rows by begin. Rows that are already in order are only checked.
void SortActivities(ActivityTable& table);

}  // namespace vramscope::trace
