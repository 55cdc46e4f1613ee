#include "trainer/backends/plan/plan_memory.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "trainer/capture/cancel.h"
#include "trainer/capture/scopes.h"

namespace vramscope::trainer::plan {
namespace {

// Addresses are multiples of 512: the low bits of a context say which run it belongs to.
constexpr uint64_t kGenerationMask = 511;

// The run whose workspace this thread has. Autograd's device thread lives across runs.
thread_local uint64_t t_workspace_generation = 0;
thread_local int t_meta_requests = 0;

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    return PlanMemory::Get().Allocate(bytes, PlanDevice());
  }
  c10::DeleterFnPtr raw_deleter() const override { return &PlanMemory::Delete; }
  void copy_data(void*, const void*, size_t) const override {}  // nothing is computed
};

class TwinAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device meta(c10::kMeta);
    if (t_meta_requests == 0) return {nullptr, nullptr, &PlanMemory::Delete, meta};
    return PlanMemory::Get().Allocate(bytes, meta);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &PlanMemory::Delete; }
  void copy_data(void*, const void*, size_t) const override {}
};

}  // namespace

c10::Device PlanDevice() { return c10::Device(c10::kCUDA, 0); }

c10::Allocator& PlanAllocator() {
  static DeviceAllocator allocator;
  return allocator;
}

c10::Allocator& MetaTwinAllocator() {
  static TwinAllocator allocator;
  return allocator;
}

MetaRequests::MetaRequests() { ++t_meta_requests; }
MetaRequests::~MetaRequests() { --t_meta_requests; }

PlanMemory& PlanMemory::Get() {
  // Never destroyed: tensors in static storage may be freed after it would have been.
  static auto* memory = new PlanMemory();
  return *memory;
}

absl::Status PlanMemory::Begin(const run::DeviceProfile& profile, const run::AllocConf& conf,
                               Recorder& recorder) {
  std::lock_guard lock(mutex_);
  if (running_) return absl::FailedPreconditionError("the plan device already has a run");
  if (profile.memory_bytes <= profile.context_bytes || profile.sm_count == 0 ||
      profile.max_threads_per_sm == 0) {
    return absl::InvalidArgumentError(
        fmt::format("device '{}': needs memory above its context's {} bytes, sm_count and "
                    "max_threads_per_sm",
                    profile.key, profile.context_bytes));
  }
  profile_ = profile;
  recorder_ = &recorder;
  roofline_.Start(profile);
  allocator::Settings settings;
  settings.device_memory_bytes = profile.memory_bytes - profile.context_bytes;
  settings.device_total_bytes = profile.memory_bytes;
  settings.grant_over_limit = true;
  settings.conf = conf;
  allocator_.emplace(settings, this);
  workspaces_.clear();
  live_ = 0;
  out_of_memory_ = false;
  ++generation_;
  running_ = true;
  internal::free_order = this;
  return absl::OkStatus();
}

absl::Status PlanMemory::End() {
  if (!running_) return absl::OkStatus();
  // Outside the lock: their deleters take it.
  std::vector<c10::DataPtr> workspaces;
  {
    std::lock_guard lock(mutex_);
    workspaces.swap(workspaces_);
  }
  workspaces.clear();
  internal::free_order = nullptr;
  std::lock_guard lock(mutex_);
  const uint64_t left = live_;
  const uint64_t bytes = allocator_->stats().requested;
  if (left == 0) allocator_->EmptyCache();
  running_ = false;
  ++generation_;
  recorder_ = nullptr;
  if (left != 0) {
    return absl::InternalError(fmt::format(
        "{} allocations of {} bytes are still alive at the end of the run", left, bytes));
  }
  return absl::OkStatus();
}

c10::DataPtr PlanMemory::Allocate(size_t bytes, c10::Device device) {
  if (bytes == 0) return {nullptr, nullptr, &Delete, device};
  ThrowIfCancelled();
  std::lock_guard lock(mutex_);
  TORCH_CHECK(running_, "a tensor on cuda:0 was made while no plan is running");
  const absl::StatusOr<allocator::Block> block = allocator_->Malloc(bytes, /*stream=*/0);
  TORCH_CHECK(block.ok(), std::string(block.status().message()));
  ++live_;
  recorder_->OnAlloc(block->address, bytes, block->bytes_rounded, block->address, block->stream,
                     block->pool);
  const uint64_t context = block->address | (generation_ & kGenerationMask);
  return {reinterpret_cast<void*>(block->address), reinterpret_cast<void*>(context), &Delete,
          device};
}

void PlanMemory::Delete(void* context) {
  const auto value = reinterpret_cast<uint64_t>(context);
  if (value != 0) Get().Free(value & ~kGenerationMask, value & kGenerationMask);
}

void PlanMemory::Free(uint64_t address, uint64_t generation) {
  std::lock_guard lock(mutex_);
  // Left over from a run that has ended, and was reported as such.
  if (!running_ || generation != (generation_ & kGenerationMask)) return;
  if (holding_) {
    held_.push_back(address);
  } else {
    FreeLocked(address);
  }
}

void PlanMemory::FreeLocked(uint64_t address) {
  // The event first: a free that empties a segment comes before the segment's own free.
  recorder_->OnFree(address);
  if (allocator_->Free(address).ok()) --live_;
}

void PlanMemory::HoldFrees() {
  std::lock_guard lock(mutex_);
  holding_ = running_;
}

void PlanMemory::ReleaseFrees() {
  std::lock_guard lock(mutex_);
  if (!holding_) return;
  holding_ = false;
  std::sort(held_.begin(), held_.end());
  recorder_->TapeSorted(held_.size());
  for (uint64_t address : held_) FreeLocked(address);
  held_.clear();
}

c10::DataPtr PlanMemory::Adopt(uint64_t address) {
  const uint64_t context = address | (generation_ & kGenerationMask);
  return {reinterpret_cast<void*>(address), reinterpret_cast<void*>(context), &Delete,
          PlanDevice()};
}

std::vector<PlanMemory::Kept> PlanMemory::Play(const Tape& tape) {
  using trace::EventKind;
  std::lock_guard lock(mutex_);
  const int64_t shift = roofline_.now_ns() - tape.begin_ns;
  std::vector<uint64_t> address(tape.skipped.size());
  const auto free = [&](const trace::Event& like, uint64_t at) {
    recorder_->PlayFree(like, at);
    if (allocator_->Free(at).ok()) --live_;
  };
  auto sorted = tape.sorted.begin();
  for (size_t i = 0; i < tape.events.size(); ++i) {
    const trace::Event& e = tape.events[i];
    if (i % 256 == 0) ThrowIfCancelled();
    roofline_.Set(e.time_ns + shift);
    if (sorted != tape.sorted.end() && sorted->first == i) {
      // Those that were freed by address then are freed by their addresses of now.
      std::vector<uint64_t> addresses;
      for (; addresses.size() < sorted->frees; ++i)
        if (tape.events[i].kind == EventKind::kFreeRequested)
          addresses.push_back(std::exchange(address[tape.events[i].id - tape.first_allocation], 0));
      std::sort(addresses.begin(), addresses.end());
      for (uint64_t at : addresses) free(e, at);
      ++sorted;  // i is at the last one's completion
      continue;
    }
    const uint64_t row = e.id - tape.first_allocation;  // of events of allocations
    switch (e.kind) {
      case EventKind::kAlloc: {
        if (tape.skipped[row]) break;
        playing_ = &e;
        const absl::StatusOr<allocator::Block> block = allocator_->Malloc(e.bytes, e.stream);
        playing_ = nullptr;
        TORCH_CHECK(block.ok(), std::string(block.status().message()));
        ++live_;
        address[row] = block->address;
        recorder_->PlayAlloc(e, block->address, block->bytes_rounded, block->pool);
        break;
      }
      case EventKind::kFreeRequested:
        free(e, std::exchange(address[row], 0));
        break;
      case EventKind::kFreeCompleted:
        break;
      case EventKind::kRetag:
        if (!tape.skipped[row]) recorder_->PlayRetag(e, address[row]);
        break;
      default:
        recorder_->PlayOther(e);
    }
  }
  roofline_.Set(tape.end_ns + shift);
  std::vector<Kept> kept;
  for (size_t row = 0; row < address.size(); ++row)
    if (address[row] != 0) kept.push_back({row, address[row]});
  return kept;
}

void PlanMemory::EnsureBlasWorkspace() {
  const uint64_t generation = generation_.load(std::memory_order_relaxed);
  if (t_workspace_generation == generation) return;
  t_workspace_generation = generation;
  CategoryScope category(trace::Category::kWorkspace);
  c10::DataPtr workspace = Allocate(profile_.blas_workspace_bytes, PlanDevice());
  std::lock_guard lock(mutex_);
  workspaces_.push_back(std::move(workspace));
}

void PlanMemory::OnSegmentAlloc(const allocator::Segment& segment) {
  recorder_->OnSegmentAlloc(segment.address, segment.bytes, segment.stream, segment.pool,
                            segment.expandable);
}

void PlanMemory::OnSegmentMap(const allocator::Segment& segment, uint64_t address, uint64_t bytes) {
  recorder_->OnSegmentMap(segment.address, address, bytes);
}

void PlanMemory::OnSegmentUnmap(const allocator::Segment& segment, uint64_t address,
                                uint64_t bytes) {
  recorder_->OnSegmentUnmap(segment.address, address, bytes);
}

void PlanMemory::OnSegmentFree(const allocator::Segment& segment) {
  recorder_->OnSegmentFree(segment.address);
}

void PlanMemory::OnOutOfMemory(uint64_t bytes_requested, uint64_t device_free_bytes) {
  // On a GPU the run would have ended at the first one.
  if (std::exchange(out_of_memory_, true)) return;
  recorder_->OnOutOfMemory(bytes_requested, device_free_bytes, playing_);
}

}  // namespace vramscope::trainer::plan
