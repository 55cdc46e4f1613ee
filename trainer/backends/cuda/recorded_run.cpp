#include "trainer/backends/cuda/recorded_run.h"

#include <c10/util/Type.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "profiler/allocator/rules.h"
#include "trainer/backends/cuda/emulated.h"
#include "trainer/capture/device_work.h"
#include "trainer/capture/free_request.h"

namespace vramscope::trainer::cuda {
namespace {

using trace::ActivityKind;
using trace::MemorySpace;

MemorySpace SpaceOf(emulated::Place place) {
  switch (place) {
    case emulated::Place::kPageable:
      return MemorySpace::kPageable;
    case emulated::Place::kPinned:
      return MemorySpace::kPinned;
    case emulated::Place::kDevice:
      return MemorySpace::kDevice;
    case emulated::Place::kManaged:
      return MemorySpace::kManaged;
    case emulated::Place::kUnknown:
      break;
  }
  return MemorySpace::kUnknown;
}

// Returns the demangled name. Caches it for the address of the mangled name. Both names exist until
// the process ends.
std::string_view KernelName(const char* mangled) {
  static auto* names = new std::unordered_map<const char*, std::string>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto [it, added] = names->try_emplace(mangled);
  if (added) it->second = *mangled == 0 ? "kernel" : c10::demangle(mangled);
  return it->second;
}

DeviceWork WorkOf(emulated::Call call, int64_t begin_ns, int64_t end_ns) {
  DeviceWork work;
  work.call_name = Emulated().call_name(static_cast<int>(call));
  work.call =
      work.call_name.starts_with("cuda") ? ActivityKind::kRuntimeCall : ActivityKind::kDriverCall;
  work.call_begin_ns = begin_ns;
  work.call_end_ns = end_ns;
  return work;
}

// Whether the operator calls cuBLAS.
bool MultipliesMatrices(std::string_view op) {
  for (const char* name : {"mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot", "linear",
                           "_addmm_activation", "_scaled_mm"}) {
    if (op.starts_with("aten::") && op.substr(6).starts_with(name)) return true;
  }
  return false;
}

}  // namespace

RecordedRun::RecordedRun(Recorder& recorder, int device, const run::AllocConf& conf,
                         uint64_t memory_bytes, const WorkspaceBytes& workspaces)
    : recorder_(recorder),
      device_(device),
      conf_(conf),
      memory_bytes_(memory_bytes),
      workspaces_(workspaces),
      blocks_(conf) {}

void RecordedRun::Entry(const AllocatorEntry& entry) {
  if (entry.device != device_) return;
  using Action = AllocatorEntry::Action;
  switch (entry.action) {
    case Action::kAlloc:
      Alloc(entry);
      break;
    case Action::kFreeRequested:
      if (!holding_ && playing_ == nullptr) {
        const FreeRequestScope scope;
        recorder_.OnFree(entry.address);
      }
      break;
    // This entry directly follows the request, unless another stream still uses the block.
    case Action::kFreeCompleted:
      blocks_.OnFree(entry.address);
      if (holding_) {
        held_.push_back(entry.address);
      } else {
        Free(entry.address);
      }
      break;
    case Action::kSegmentAlloc:
      blocks_.OnSegment(entry.address, entry.bytes, allocator::PoolOfSegment(entry.bytes));
      recorder_.OnSegmentAlloc(entry.address, entry.bytes, Stream(entry.stream),
                               allocator::PoolOfSegment(entry.bytes));
      break;
    case Action::kSegmentFree:
      blocks_.OnSegmentGone(entry.address, entry.bytes);
      recorder_.OnSegmentFree(entry.address);
      break;
    case Action::kSegmentMap:
      Map(entry);
      break;
    case Action::kSegmentUnmap:
      if (const auto segment = SegmentOf(entry.address); segment != expandable_.end()) {
        blocks_.OnSegmentGone(entry.address, entry.bytes);
        recorder_.OnSegmentUnmap(segment->first, entry.address, entry.bytes);
      }
      break;
    case Action::kOutOfMemory:
      OutOfMemory(entry.bytes, entry.address);
      break;
  }
}

void RecordedRun::Alloc(const AllocatorEntry& entry) {
  const BlockSizes::Block block = blocks_.OnAlloc(entry.address, entry.bytes);
  if (playing_ != nullptr) {
    recorder_.PlayAlloc(*playing_, entry.address, block.bytes, block.pool);
    return;
  }
  const bool workspace = IsWorkspace(entry.bytes);
  if (workspace) recorder_.PushCategory(trace::Category::kWorkspace);
  recorder_.OnAlloc(entry.address, entry.bytes, block.bytes, entry.address, Stream(entry.stream),
                    block.pool);
  if (workspace) recorder_.PopCategory();
}

// The first matrix product on a thread allocates cuBLAS's workspaces, so sizes identify them.
bool RecordedRun::IsWorkspace(uint64_t bytes) const {
  return (bytes == workspaces_.cublas || bytes == workspaces_.cublas_lt) &&
         MultipliesMatrices(recorder_.CurrentOp());
}

void RecordedRun::Free(uint64_t address) {
  if (playing_ != nullptr) {
    recorder_.PlayFree(*playing_, address);
  } else {
    recorder_.OnFree(address);
  }
}

void RecordedRun::ReleaseFrees() {
  holding_ = false;
  std::sort(held_.begin(), held_.end());
  recorder_.TapeSorted(held_.size());
  for (uint64_t address : held_) recorder_.OnFree(address);
  held_.clear();
}

void RecordedRun::OutOfMemory(uint64_t bytes, uint64_t device_free) {
  // Records only the first failure, because a real run would have ended there.
  if (!out_of_memory_.exchange(true)) recorder_.OnOutOfMemory(bytes, device_free, playing_);
}

uint32_t RecordedRun::Stream(uint64_t handle) {
  if (handle == 0) return 0;
  if (handle == emulated::kAllStreamHandles) return trace::kAllStreams;
  const std::lock_guard lock(mutex_);
  const auto known = std::find(streams_.begin(), streams_.end(), handle);
  const auto number = static_cast<uint32_t>(known - streams_.begin()) + 1;
  if (known == streams_.end()) streams_.push_back(handle);
  return number;
}

void RecordedRun::Work(const emulated::Activity& activity, uint64_t stream) {
  if (activity.device != device_) return;
  DeviceWork work = WorkOf(activity.call, activity.call_begin_ns, activity.call_end_ns);
  switch (activity.kind) {
    case emulated::ActivityKind::kKernel:
      work.name = KernelName(activity.name);
      work.what.kind =
          trace::IsCollectiveName(work.name) ? ActivityKind::kCollective : ActivityKind::kKernel;
      break;
    case emulated::ActivityKind::kCopy:
      work.what.kind = ActivityKind::kMemcpy;
      break;
    case emulated::ActivityKind::kFill:
      work.what.kind = ActivityKind::kMemset;
      break;
  }
  // For a kernel, `bytes` is only an estimate for the time model; recordings have no such value.
  if (work.what.kind != ActivityKind::kKernel) work.what.bytes = activity.bytes;
  work.what.stream = Stream(stream);
  work.what.from = SpaceOf(activity.from);
  work.what.to = SpaceOf(activity.to);
  work.what.begin_ns = activity.start_ns;
  work.what.end_ns = activity.end_ns;
  work.waits = activity.waits;
  work.moved = true;
  recorder_.OnDeviceWork(work);
}

void RecordedRun::Memory(const emulated::MemoryActivity& activity) {
  // Does not record pinned memory. Later runs reuse it, so only the first run would show it.
  if (activity.place == emulated::Place::kPinned) return;
  if (activity.device != device_) return;
  DeviceWork work = WorkOf(activity.call, activity.begin_ns, activity.end_ns);
  work.first = activity.first;
  work.what.kind = activity.allocated ? ActivityKind::kDriverAlloc : ActivityKind::kDriverFree;
  work.what.to = SpaceOf(activity.place);
  work.what.address = activity.address;
  work.what.bytes = activity.bytes;
  work.what.begin_ns = work.what.end_ns = activity.end_ns;
  {
    const std::lock_guard lock(mutex_);
    if (activity.allocated) {
      driver_bytes_[activity.address] = activity.bytes;
    } else if (const auto made = driver_bytes_.extract(activity.address)) {
      work.what.bytes = made.mapped();
    }
  }
  recorder_.OnDeviceWork(work, playing_);
}

void RecordedRun::Wait(const emulated::Synchronization& wait, uint64_t stream) {
  if (wait.device != device_) return;
  DeviceWork work = WorkOf(wait.call, wait.begin_ns, wait.end_ns);
  work.what.kind = ActivityKind::kSynchronization;
  work.what.stream = Stream(stream);
  work.what.begin_ns = wait.begin_ns;
  work.what.end_ns = wait.end_ns;
  work.moved = true;
  recorder_.OnDeviceWork(work, playing_);
}

std::map<uint64_t, RecordedRun::Expandable>::iterator RecordedRun::SegmentOf(uint64_t address) {
  auto next = expandable_.upper_bound(address);
  if (next == expandable_.begin()) return expandable_.end();
  const auto segment = std::prev(next);
  return address - segment->first < segment->second.bytes ? segment : expandable_.end();
}

void RecordedRun::Map(const AllocatorEntry& entry) {
  // The size of a segment's first range shows its pool: if it is at most the small pool's page
  // size, the segment is of that pool.
  auto segment = SegmentOf(entry.address);
  if (segment == expandable_.end()) {
    const trace::Pool pool = allocator::PoolOfSegment(entry.bytes);
    const Expandable reserved{.pool = pool,
                              .bytes = allocator::ReservedAddresses(memory_bytes_, pool, conf_)};
    segment = expandable_.emplace(entry.address, reserved).first;
    recorder_.OnSegmentAlloc(entry.address, reserved.bytes, Stream(entry.stream), pool,
                             /*expandable=*/true);
  }
  blocks_.OnSegment(entry.address, entry.bytes, segment->second.pool, /*expandable=*/true);
  recorder_.OnSegmentMap(segment->first, entry.address, entry.bytes);
}

}  // namespace vramscope::trainer::cuda
