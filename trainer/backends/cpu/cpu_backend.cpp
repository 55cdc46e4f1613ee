// The cpu backend wraps LibTorch's CPU allocator. It records the allocations of all threads between
// Start and Stop. The host allocator returns separate blocks, so each is recorded as a segment of
// its own. Therefore, reserved equals allocated, and there is no fragmentation.
#include <c10/core/Allocator.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "profiler/allocator/rules.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/ranks.h"
#include "trainer/capture/cancel.h"

namespace vramscope::trainer {
namespace {

// LibTorch's alignment of CPU blocks (c10/core/alignment.h). Requested sizes are rounded up to a
// multiple of it.
constexpr uint64_t kAlignment = 64;

uint64_t RoundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// For each live block that this run allocated, maps the address to the size.
class LiveBlocks {
 public:
  // If `recorder` is null, nothing is recorded.
  void Open(Recorder* recorder) {
    std::lock_guard lock(mutex_);
    recorder_ = recorder;
    blocks_.clear();
    bytes_ = 0;
  }
  // Stops recording. Returns how many blocks are left, and their bytes.
  std::pair<size_t, uint64_t> Close() {
    std::lock_guard lock(mutex_);
    recorder_ = nullptr;
    std::pair<size_t, uint64_t> left{blocks_.size(), bytes_};
    blocks_.clear();
    return left;
  }
  void Add(void* block, uint64_t bytes) {
    std::lock_guard lock(mutex_);
    if (recorder_ == nullptr) return;
    const auto address = reinterpret_cast<uint64_t>(block);
    const uint64_t rounded = RoundUp(bytes);
    const trace::Pool pool = allocator::PoolOf(bytes);
    blocks_[address] = bytes;
    bytes_ += bytes;
    recorder_->OnSegmentAlloc(address, rounded, 0, pool);
    recorder_->OnAlloc(address, bytes, rounded, address, 0, pool);
  }
  void Remove(void* block) {
    std::lock_guard lock(mutex_);
    if (recorder_ == nullptr) return;
    const auto address = reinterpret_cast<uint64_t>(block);
    auto it = blocks_.find(address);
    if (it == blocks_.end()) return;
    bytes_ -= it->second;
    blocks_.erase(it);
    recorder_->OnFree(address);
    recorder_->OnSegmentFree(address);
  }

 private:
  // The recorder is called under this lock, too, so that events of a reused address are in order.
  std::mutex mutex_;
  Recorder* recorder_ = nullptr;
  std::unordered_map<uint64_t, uint64_t> blocks_;
  uint64_t bytes_ = 0;
};

LiveBlocks& Live() {
  static auto* live = new LiveBlocks;  // must outlive every tensor
  return *live;
}

c10::DeleterFnPtr g_base_deleter = nullptr;

void Delete(void* block) {
  if (block == nullptr) return;
  Live().Remove(block);
  g_base_deleter(block);
}

// Returns the DataPtrs of the base allocator with another deleter. Their data and context pointers
// must be equal, because oneDNN uses raw_allocate().
class WrappingAllocator final : public c10::Allocator {
 public:
  explicit WrappingAllocator(c10::Allocator* base) : base_(base) {}

  c10::DataPtr allocate(size_t bytes) override {
    ThrowIfCancelled();
    c10::DataPtr block = base_->allocate(bytes);
    if (block.get() == nullptr || !block.compare_exchange_deleter(g_base_deleter, &Delete)) {
      return block;
    }
    Live().Add(block.get(), bytes);
    return block;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  c10::Allocator* base_;
};

class Cpu final : public Backend {
 public:
  c10::Device device() const override { return c10::Device(c10::kCPU); }
  bool measured() const override { return true; }
  Clock clock() override {
    return [start = std::chrono::steady_clock::now()] {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                  start)
          .count();
    };
  }

  absl::Status Start(const run::DeviceProfile&, const run::AllocConf&,
                     Recorder& recorder) override {
    static const bool installed = [] {
      c10::Allocator* base = c10::GetAllocator(c10::kCPU);
      g_base_deleter = base->raw_deleter();
      if (g_base_deleter == nullptr) return false;
      c10::SetAllocator(c10::kCPU, new WrappingAllocator(base), /*priority=*/1);
      return true;
    }();
    if (!installed) return absl::InternalError("LibTorch's CPU allocator can't be wrapped");
    Live().Open(&recorder);
    return absl::OkStatus();
  }

  c10::intrusive_ptr<c10d::ProcessGroup> JoinRanks(int rank, int ranks) override {
    return MakeProcessGroup(MakeLoneStore(), MakeEqualRanks(rank, ranks), c10::kCPU);
  }

  absl::Status Stop() override {
    const auto [blocks, bytes] = Live().Close();
    if (blocks == 0) return absl::OkStatus();
    return absl::InternalError(
        fmt::format("{} allocations ({} bytes) remain after the run", blocks, bytes));
  }
};

}  // namespace

Backend& CpuBackend() {
  static auto* backend = new Cpu;
  return *backend;
}

}  // namespace vramscope::trainer
