#include "trainer/backends/cuda/recorded_run.h"

#include <algorithm>
#include <iterator>

#include "profiler/allocator/rules.h"

namespace vramscope::trainer::cuda {
namespace {

uint32_t Stream(const AllocatorEntry& entry) { return static_cast<uint32_t>(entry.stream); }

// Operators that ask cuBLAS.
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
      reservation_(memory_bytes / 8 * 9),
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
      break;
    case Action::kFreeCompleted:  // the loop has one stream: right after its request
      blocks_.OnFree(entry.address);
      if (holding_) {
        held_.push_back(entry.address);
      } else {
        Free(entry.address);
      }
      break;
    case Action::kSegmentAlloc:
      blocks_.OnSegment(entry.address, entry.bytes, allocator::PoolOfSegment(entry.bytes));
      recorder_.OnSegmentAlloc(entry.address, entry.bytes, Stream(entry),
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
  recorder_.OnAlloc(entry.address, entry.bytes, block.bytes, entry.address, Stream(entry),
                    block.pool);
  if (workspace) recorder_.PopCategory();
}

// cuBLAS's workspaces are asked for by whichever product a thread makes first.
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
  // On a GPU the run would have ended at the first one.
  if (!out_of_memory_.exchange(true)) recorder_.OnOutOfMemory(bytes, device_free, playing_);
}

std::map<uint64_t, trace::Pool>::iterator RecordedRun::SegmentOf(uint64_t address) {
  auto next = expandable_.upper_bound(address);
  if (next == expandable_.begin()) return expandable_.end();
  const auto segment = std::prev(next);
  return address - segment->first < reservation_ ? segment : expandable_.end();
}

void RecordedRun::Map(const AllocatorEntry& entry) {
  // The first range says whose pool it is: a page of the small pool or of the large one.
  auto segment = SegmentOf(entry.address);
  if (segment == expandable_.end()) {
    segment = expandable_.emplace(entry.address, allocator::PoolOfSegment(entry.bytes)).first;
    recorder_.OnSegmentAlloc(entry.address, reservation_, Stream(entry), segment->second,
                             /*expandable=*/true);
  }
  blocks_.OnSegment(entry.address, entry.bytes, segment->second, /*expandable=*/true);
  recorder_.OnSegmentMap(segment->first, entry.address, entry.bytes);
}

}  // namespace vramscope::trainer::cuda
