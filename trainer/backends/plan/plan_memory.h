// Memory and time of the planned GPU: what a request costs in addresses and segments (the model of
// the caching allocator), and what an operator costs in nanoseconds (the roofline). One a process,
// as the CUDA dispatch key is; reports to the Recorder of the run.
//
// Locked: the loop's thread and autograd's device thread both allocate. The recorder is called with
// the lock held, so the order of events is the order of decisions.
#pragma once

#include <absl/status/status.h>
#include <c10/core/Allocator.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/run/device_profile.h"
#include "trainer/backends/plan/roofline.h"
#include "trainer/capture/free_order.h"
#include "trainer/capture/recorder.h"
#include "trainer/capture/spin_lock.h"
#include "trainer/capture/tape.h"

namespace vramscope::trainer::plan {

class PlanMemory final : public allocator::SegmentObserver, public FreeOrder {
 public:
  static PlanMemory& Get();

  absl::Status Begin(const run::DeviceProfile& profile, const run::AllocConf& conf,
                     Recorder& recorder);
  // Frees workspaces and cached segments; kInternal when blocks are left, naming their number.
  absl::Status End();
  bool running() const { return running_.load(std::memory_order_relaxed); }

  const run::DeviceProfile& profile() const { return profile_; }
  Roofline& roofline() { return roofline_; }

  // Memory of the GPU, labelled as on `device`. The pointer is the modelled address: unique while
  // it lives, never to be dereferenced. Zero bytes: a null pointer and no request. Throws
  // CancelledError, and c10::Error when no run is active.
  c10::DataPtr Allocate(size_t bytes, c10::Device device);

  // cuBLAS's workspace of this thread: requested at its first matrix product, kept to the end.
  void EnsureBlasWorkspace();

  void OnSegmentAlloc(const allocator::Segment& segment) override;
  void OnSegmentFree(const allocator::Segment& segment) override;
  void OnSegmentMap(const allocator::Segment& segment, uint64_t address, uint64_t bytes) override;
  void OnSegmentUnmap(const allocator::Segment& segment, uint64_t address, uint64_t bytes) override;
  void OnOutOfMemory(uint64_t bytes_requested, uint64_t device_free_bytes) override;

  // Makes the tape's requests again, now. `kept`: what is left of it, in order of the tape's
  // allocations. The caller adopts each address, or it is never freed. Throws CancelledError.
  struct Kept {
    uint64_t allocation = 0;  // number within the tape
    uint64_t address = 0;
  };
  std::vector<Kept> Play(const Tape& tape);
  c10::DataPtr Adopt(uint64_t address);

  void HoldFrees() override;
  void ReleaseFrees() override;

  static void Delete(void* context);

 private:
  PlanMemory() = default;
  void Free(uint64_t address, uint64_t generation);
  void FreeLocked(uint64_t address);

  SpinLock mutex_;
  std::atomic<bool> running_{false};
  std::atomic<uint64_t> generation_{0};  // of the run; what an older run left must not free ours
  run::DeviceProfile profile_;
  Roofline roofline_;
  Recorder* recorder_ = nullptr;
  std::optional<allocator::CachingAllocator> allocator_;
  std::vector<c10::DataPtr> workspaces_;
  uint64_t live_ = 0;
  bool out_of_memory_ = false;
  bool holding_ = false;
  std::vector<uint64_t> held_;             // addresses whose frees are kept back
  const trace::Event* playing_ = nullptr;  // the event of a tape that asks
};

c10::Device PlanDevice();  // cuda:0

// A request that an operator makes for itself and gives back before it returns.
class Scratch {
 public:
  explicit Scratch(uint64_t bytes) : data_(PlanMemory::Get().Allocate(bytes, PlanDevice())) {}
  void Release() { data_.clear(); }

 private:
  c10::DataPtr data_;
};

// What tensors on cuda:0 are allocated with.
c10::Allocator& PlanAllocator();
// For the Meta key: gives memory of the GPU while this thread is inside the fallback, and none
// (as LibTorch's own) outside it.
c10::Allocator& MetaTwinAllocator();

// While it lives, tensors that Meta kernels make on this thread are requests to the GPU.
class MetaRequests {
 public:
  MetaRequests();
  ~MetaRequests();
  MetaRequests(const MetaRequests&) = delete;
  MetaRequests& operator=(const MetaRequests&) = delete;
};

}  // namespace vramscope::trainer::plan
