// Passes the entries of the allocator's tracker to the recorder of one run, from the backend's
// Start to its Stop.
//
//   RecordedRun run(recorder, device, conf, memory_bytes, workspaces);
//   run.Entry(entry);                                    // from the tracker
//   { PlayedEvent scope(run, event); allocate(...); }    // recorded with the fields of `event`
//
// Simultaneous frees are reported in order of address if their order depends on a hash. The tracker
// calls Entry() with the allocator's lock held, from every thread that allocates. All other
// functions are called on the run's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulated/core/activity.h"
#include "profiler/run/alloc_conf.h"
#include "trainer/backends/cuda/block_sizes.h"
#include "trainer/backends/cuda/cuda_library.h"
#include "trainer/capture/free_order.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer::cuda {

class RecordedRun final : public FreeOrder {
 public:
  RecordedRun(Recorder& recorder, int device, const run::AllocConf& conf, uint64_t memory_bytes,
              const WorkspaceBytes& workspaces);

  void Entry(const AllocatorEntry& entry);
  // Called for the work of the platform. Streams are identified by handles, as in the allocator.
  void Work(const emulated::Activity& activity, uint64_t stream);
  void Memory(const emulated::MemoryActivity& activity);
  void Wait(const emulated::Synchronization& wait, uint64_t stream);
  void HoldFrees() override { holding_ = true; }
  void ReleaseFrees() override;
  void OutOfMemory(uint64_t bytes, uint64_t device_free);
  // Keeps a workspace that a tape allocated, so that it is freed together with LibTorch's own.
  void KeepUntilStop(void* workspace) { workspaces_made_.push_back(workspace); }
  std::vector<void*> TakeWorkspaces() { return std::move(workspaces_made_); }

 private:
  friend class PlayedEvent;
  void Alloc(const AllocatorEntry& entry);
  void Free(uint64_t address);
  bool IsWorkspace(uint64_t bytes) const;
  // Returns 0 for the default stream. Numbers other streams in order of first use, because handles
  // differ between runs.
  uint32_t Stream(uint64_t handle);
  // Memory is mapped from the begin of a segment's addresses on (allocator::ReservedAddresses). So
  // an expandable segment begins where its first mapped range begins.
  struct Expandable {
    trace::Pool pool = trace::Pool::kSmall;
    uint64_t bytes = 0;
  };
  std::map<uint64_t, Expandable>::iterator SegmentOf(uint64_t address);
  void Map(const AllocatorEntry& entry);

  Recorder& recorder_;
  const int device_;
  const run::AllocConf conf_;
  const uint64_t memory_bytes_;
  const WorkspaceBytes workspaces_;
  BlockSizes blocks_;
  std::map<uint64_t, Expandable> expandable_;  // keyed by start address
  std::atomic<bool> out_of_memory_{false};
  bool holding_ = false;
  std::vector<uint64_t> held_;  // addresses whose frees are deferred
  const trace::Event* playing_ = nullptr;
  std::vector<void*> workspaces_made_;

  std::mutex mutex_;  // protects the members below; always locked last
  std::vector<uint64_t> streams_;
  std::unordered_map<uint64_t, uint64_t> driver_bytes_;  // keyed by address
};

// While this object exists, allocations and frees are recorded with the fields of `like`.
class PlayedEvent {
 public:
  PlayedEvent(RecordedRun& run, const trace::Event& like) : run_(run) { run_.playing_ = &like; }
  ~PlayedEvent() { run_.playing_ = nullptr; }
  PlayedEvent(const PlayedEvent&) = delete;
  PlayedEvent& operator=(const PlayedEvent&) = delete;

 private:
  RecordedRun& run_;
};

}  // namespace vramscope::trainer::cuda
