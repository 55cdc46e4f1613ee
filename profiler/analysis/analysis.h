// Computes figures of a Trace as plain values: curves, peak, phases, summary, diff. The bytes of a
// category are the rounded sizes of its blocks, so the categories add up to the allocated bytes.
// Requested bytes are a separate figure. Pure functions of an immutable Trace; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/packed_column.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

using trace::CategoryBytes;

// Memory over time. There is one point for each event that changes memory (Alloc, FreeCompleted,
// Retag, segment events), in the order of the events. Between points, memory does not change.
struct MemoryCurves {
  using Bytes = trace::PackedColumn<uint64_t>;
  trace::PackedColumn<trace::EventIndex> event;
  trace::PackedColumn<int64_t> time_ns;
  Bytes allocated;  // sum of live blocks
  Bytes requested;
  Bytes reserved;  // sum of live segments
  // Indexed as category[static_cast<int>(c)][point]. The column of a category that never occurs is
  // empty.
  std::array<Bytes, trace::kCategoryCount> category;
  size_t size() const { return time_ns.size(); }
  size_t MemoryBytes() const;
};
MemoryCurves ComputeCurves(const trace::Trace& trace);
// Returns the curves of a trace that continues an earlier trace (EventTable::GoOnFrom). Computes
// only the new points, and shares the other points with the earlier curves.
MemoryCurves ContinueCurves(const trace::Trace& trace, const trace::Trace& earlier,
                            const MemoryCurves& of_earlier);
// Returns the last point at or before the event, or nullopt if there is none.
std::optional<size_t> PointAt(const MemoryCurves& curves, trace::EventIndex event);

// What the run is doing at an event.
struct Context {
  trace::EventIndex event = 0;
  int64_t time_ns = 0;
  int32_t step = -1;
  int32_t micro_batch = -1;
  trace::Phase phase = trace::Phase::kNone;
  std::string module;  // module of the allocation or op at the event
  std::string op;
};

struct LiveAllocation {
  trace::AllocationId id;
  trace::Category category;  // its category at the live set's event
};

// Returns the innermost slices that are open at the event. For an Alloc event, returns the context
// that was recorded with the allocation.
Context ContextAt(const trace::Trace& trace, trace::EventIndex event);

// The live memory directly after `event`. An index after the end means the last event. A block is
// live until its free has completed. Allocations are sorted by block size, largest first.
struct LiveSet {
  Context context;
  uint64_t allocated = 0, requested = 0, reserved = 0;
  CategoryBytes by_category{};
  std::vector<LiveAllocation> allocations;
};
LiveSet LiveAt(const trace::Trace& trace, trace::EventIndex event);
// Returns the last event at or before the time, or the first event if the time is before the trace.
// Returns 0 if the trace is empty.
trace::EventIndex EventAtTime(const trace::Trace& trace, int64_t time_ns);

// The maximum of allocated memory. Events before a recording begins are ignored, because they are
// only for blocks that already existed.
struct Peak {
  uint64_t allocated = 0;      // maximum, at the event in `context`
  uint64_t reserved = 0;       // maximum over the trace, independent of `allocated`
  uint64_t reserved_then = 0;  // reserved bytes at the event in `context`
  Context context;
  CategoryBytes by_category{};
};
Peak FindPeak(const trace::Trace& trace, const MemoryCurves& curves);

// Returns the peak as torch.cuda.max_memory_allocated() counts it. PyTorch subtracts a block when
// its free is requested. In Peak::allocated, a block that another stream still uses (record_stream,
// FSDP) counts until its free has completed. The two peaks are equal if no free waits for a stream.
// Walks over the events once.
uint64_t MostByCounter(const trace::Trace& trace);

// All memory figures in this file are for one device. If a trace has several devices, pass only the
// part of one of them (trace/one_device.h). Only the next two functions accept a trace of several
// devices. They handle each device separately.
using trace::DevicesOf;
struct DevicePeak {
  uint8_t device = 0;
  Peak peak;
  uint64_t needed = 0;  // see NeededOf()
};
// Sorted by device.
std::vector<DevicePeak> PeakOfEachDevice(const std::shared_ptr<const trace::Trace>& trace);
// Returns the device to show if figures of one device are needed. It is the first device that ran
// out of memory or, if none did, the device on which most memory is needed. Returns nullopt if the
// trace has only one device.
std::optional<uint8_t> DeviceToShow(const std::shared_ptr<const trace::Trace>& trace);

// One step. The times are sums over its phases in milliseconds; forward includes the loss. A nested
// phase counts as the outer phase: for example, recomputation within backward counts as backward.
struct StepRow {
  int32_t index = 0;
  int64_t begin_ns = 0, end_ns = 0;
  double forward_ms = 0, backward_ms = 0, optimizer_ms = 0, total_ms = 0;
  uint64_t peak_allocated = 0, peak_reserved = 0;
  trace::Phase peak_phase = trace::Phase::kNone;
};
std::vector<StepRow> StepTable(const trace::Trace& trace, const MemoryCurves& curves);

// Allocated and reserved bytes at one time.
struct MemoryPair {
  uint64_t allocated = 0, reserved = 0;
};
// GPU memory reserved by the allocator, and GPU memory that libraries allocate from the driver
// (past_allocator.h).
struct GpuUse {
  uint64_t reserved = 0, past_allocator = 0;
  uint64_t sum() const { return reserved + past_allocator; }
};
// Returns the GPU memory without the CUDA context. If more is allocated than reserved, not all
// reserved memory was recorded, and the result is a lower bound.
inline uint64_t NeededOf(const GpuUse& most_used, const Peak& peak) {
  return std::max(most_used.sum(), peak.allocated);
}
// The figures that `plan --json` and `run --json` print. before_training and after_training are
// taken at the markers kMarkerTrainingBegin and kMarkerTrainingEnd. Without markers, they are taken
// at the begin of the first step and the end of the last step. Without steps, they are taken at the
// begin and end of the trace or recording.
struct Summary {
  MemoryPair before_training, after_training;
  Peak peak;
  GpuUse most_used;  // the figures at the time when sum() is highest
  std::vector<StepRow> steps;
  uint64_t events = 0;
  bool fits = true;
  // The device memory minus the CUDA context and most_used. If it is negative, its absolute value
  // is the amount of missing memory.
  int64_t headroom_bytes = 0;
  bool out_of_memory = false;  // the run has an OutOfMemory event
  bool went_on = false;  // a planned program caught the error, allocated again and ended normally

  uint64_t needed() const { return NeededOf(most_used, peak); }
};
Summary Summarize(const trace::Trace& trace, const MemoryCurves& curves);

// The peak bytes of a category in a phase of a step (-1: outside of steps), including bytes from
// before the phase. Rows with zero bytes are left out. Sorted by step, phase, category.
struct PhaseTotal {
  int32_t step = 0;
  trace::Phase phase = trace::Phase::kNone;
  trace::Category category = trace::Category::kUnknown;
  uint64_t bytes = 0;
};
std::vector<PhaseTotal> PhaseTotals(const trace::Trace& trace, const MemoryCurves& curves);
// Two devices to compare, one of each trace. If each trace has at most one device, these are the
// only pair. Otherwise, devices with equal numbers are paired. Sorted by device.
struct DevicePair {
  uint8_t device = 0;                        // number in `b`, or in `a` if `b` lacks the device
  std::shared_ptr<const trace::Trace> a, b;  // one-device slices; empty if a trace lacks the device
};
std::vector<DevicePair> DevicePairs(const std::shared_ptr<const trace::Trace>& a,
                                    const std::shared_ptr<const trace::Trace>& b);
struct DiffRow {
  int32_t step = 0;
  trace::Phase phase = trace::Phase::kNone;
  trace::Category category = trace::Category::kUnknown;
  uint64_t a = 0, b = 0;
};
// Matches steps by number. Returns a row for each (step, phase, category) that occurs in `a` or
// `b`.
std::vector<DiffRow> Diff(const trace::Trace& a, const trace::Trace& b);

}  // namespace vramscope::analysis
