#include "trainer/backends/cuda/cuda_backend.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cupti/library.h"
#include "nvml/gpu_probe.h"
#include "profiler/base/install_paths.h"
#include "profiler/run/emulated_gpu.h"
#include "profiler/run/reported_gpu.h"
#include "trainer/backends/cuda/cuda_library.h"
#include "trainer/backends/cuda/emulated.h"
#include "trainer/backends/cuda/emulated_process.h"
#include "trainer/backends/cuda/gpu_activities.h"
#include "trainer/backends/cuda/micro_batch_tape.h"
#include "trainer/backends/cuda/recorded_run.h"
#include "trainer/backends/ranks.h"
#include "trainer/capture/free_order.h"
#include "trainer/capture/host_work.h"
#include "trainer/capture/modelled_kernel.h"

namespace vramscope::trainer {
namespace cuda {

std::atomic<bool> g_gpu_is_there{false};

const EmulatedPlatform& Emulated() {
  static const EmulatedPlatform none;
  if (g_gpu_is_there.load(std::memory_order_relaxed)) return none;
  static const EmulatedPlatform platform = [] {
    EmulatedPlatform found;
    const auto look_up = [](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
      return function != nullptr;
    };
    const bool whole =
        look_up(found.set_gpu, "vramscope_emulated_set_gpu") &&
        look_up(found.overcommit, "vramscope_emulated_overcommit") &&
        look_up(found.reset, "vramscope_emulated_reset") &&
        look_up(found.observe, "vramscope_emulated_observe") &&
        look_up(found.repeat, "vramscope_emulated_repeat") &&
        look_up(found.listen, "vramscope_emulated_listen") &&
        look_up(found.call_name, "vramscope_emulated_call_name") &&
        look_up(found.kernel, "vramscope_emulated_kernel") &&
        look_up(found.host_works, "vramscope_emulated_host_works") &&
        look_up(found.first_optimizer_step, "vramscope_emulated_first_optimizer_step") &&
        look_up(found.now_ns, "vramscope_emulated_now_ns");
    return whole ? found : EmulatedPlatform{};
  }();
  return platform;
}

}  // namespace cuda

namespace {

using cuda::AllocatorEntry;
using cuda::CudaLibrary;
using cuda::Emulated;
using cuda::RecordedRun;

// Returns the settings as text. LibTorch resets most settings that a text does not name, but keeps
// the previous run's value of a few settings. So this text always names these few.
std::string Settings(const run::AllocConf& conf) {
  const std::string text = run::ToString(conf);
  const auto unless_named = [&](std::string_view key, std::string_view value) {
    return text.find(key) == std::string::npos ? fmt::format("{}:{},", key, value) : std::string();
  };
  // LibTorch refuses a max_non_split_rounding_mb that is below the segment size.
  const std::string rounding =
      fmt::format("{}", std::max<uint64_t>(20, conf.large_segment_size >> 20));
  std::string all = unless_named("expandable_segments", "False") +
                    unless_named("large_segment_size_mb", "20") +
                    unless_named("max_non_split_rounding_mb", rounding) + text;
  if (all.ends_with(',')) all.pop_back();
  return all;
}

absl::StatusOr<const CudaLibrary*> LoadLibrary() {
  void* module = dlopen(base::OwnPaths().torch_cuda.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    return absl::FailedPreconditionError(
        fmt::format("LibTorch's CUDA library can't be loaded: {}", dlerror()));
  }
  const auto entry =
      reinterpret_cast<cuda::CudaLibraryEntry>(dlsym(module, cuda::kCudaLibraryEntry));
  if (entry == nullptr)
    return absl::InternalError(
        "libvramscope_torch_cuda.so is not part of this vramscope; reinstall vramscope");
  return entry();
}

// The current run, if any. The tracker, which stays attached until the process ends, reports to it.
std::atomic<RecordedRun*> g_run{nullptr};

void Track(const AllocatorEntry& entry) {
  if (RecordedRun* run = g_run.load(std::memory_order_acquire)) run->Entry(entry);
}
void Granted(void*, int, uint64_t bytes, uint64_t device_free) {
  if (RecordedRun* run = g_run.load(std::memory_order_acquire)) {
    run->OutOfMemory(bytes, device_free);
  }
}

// The platform's listener also stays attached until the process ends. It passes the work of the GPU
// to the current run.
constexpr emulated::Listener kListener{
    .work =
        [](const emulated::Activity& activity, uint64_t stream) {
          if (RecordedRun* run = g_run.load(std::memory_order_acquire)) run->Work(activity, stream);
        },
    .memory =
        [](const emulated::MemoryActivity& activity) {
          if (RecordedRun* run = g_run.load(std::memory_order_acquire)) run->Memory(activity);
        },
    .synchronize =
        [](const emulated::Synchronization& wait, uint64_t stream) {
          if (RecordedRun* run = g_run.load(std::memory_order_acquire)) run->Wait(wait, stream);
        }};

class Cuda final : public Backend {
 public:
  c10::Device device() const override {
    return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device_));
  }
  bool measured() const override { return !Emulated().there(); }
  Clock clock() override {
    if (Emulated().there()) {
      return [] { return static_cast<int64_t>(Emulated().now_ns()); };
    }
    // The activities of the GPU use the same clock.
    const cupti::ClockFunction now = cupti::ClockOfProcess();
    origin_ns_ = static_cast<int64_t>(now());
    return [now, origin = origin_ns_] { return static_cast<int64_t>(now()) - origin; };
  }

  absl::Status Prepare() override { return Load(); }
  std::optional<run::DeviceProfile> gpu() const override { return gpu_; }

  absl::Status Start(const run::DeviceProfile& profile, const run::AllocConf& conf,
                     Recorder& recorder) override {
    if (run_ != nullptr)
      return absl::FailedPreconditionError("the cuda backend is busy with another run");
    if (absl::Status status = Load(); !status.ok()) return status;
    if (Emulated().there()) {
      if (absl::Status status = ChooseGpu(profile); !status.ok()) return status;
    }
    library_->clear_workspaces(device_);
    library_->empty_cache(device_);
    // If the previous run left memory allocated, addresses cannot be reset. (That run has reported
    // an error.)
    if (Emulated().there() && library_->allocated_bytes(device_) == 0) Emulated().reset(device_);
    library_->set_allocator_settings(Settings(conf).c_str());
    library_->set_memory_fraction(conf.memory_fraction > 0 ? conf.memory_fraction : 1.0, device_);
    run_ = std::make_unique<RecordedRun>(recorder, device_, conf, profile.memory_bytes,
                                         library_->workspace_bytes(device_));
    recorder_ = &recorder;
    if (!Emulated().there())
      activities_ = std::make_unique<cuda::GpuActivities>(recorder, origin_ns_);
    g_run.store(run_.get(), std::memory_order_release);
    internal::free_order = run_.get();
    return absl::OkStatus();
  }

  std::unique_ptr<MicroBatchTape> MakeTape(Recorder& recorder) override {
    if (!Emulated().there()) return nullptr;
    return cuda::MakeMicroBatchTape(recorder, run_, device());
  }

  bool rehearses() const override { return Emulated().there(); }
  void FinishWork() override {
    if (Emulated().there() && library_ != nullptr) library_->finish_work(device_);
    // With a real GPU, the host need not wait: each activity has its own times.
    if (activities_) activities_->Now();
  }

  c10::intrusive_ptr<c10d::ProcessGroup> JoinRanks(int rank, int ranks) override {
    const c10::intrusive_ptr<c10d::Store> store = MakeLoneStore();
    return MakeProcessGroup(store, library_->make_nccl(store, rank, ranks), c10::kCUDA);
  }

  absl::Status Stop() override {
    if (run_ == nullptr) return absl::OkStatus();
    library_->synchronize(device_);
    activities_.reset();
    {
      FreeOrderScope by_address;  // LibTorch orders workspaces by a hash of their handles
      for (void* kept : run_->TakeWorkspaces()) c10::GetAllocator(c10::kCUDA)->raw_deallocate(kept);
      library_->clear_workspaces(device_);
    }
    AwaitLastFrees();
    internal::free_order = nullptr;
    library_->empty_cache(device_);
    g_run.store(nullptr, std::memory_order_release);
    run_.reset();
    const uint64_t left = recorder_->live_allocations();
    if (left == 0) return absl::OkStatus();
    return absl::InternalError(
        fmt::format("{} allocations are still alive at the end of the run", left));
  }

 private:
  // Waits up to a second until autograd's thread has freed the graph of a run that ended with an
  // exception (was cancelled). Before that, segments of the next run would get other addresses.
  void AwaitLastFrees() const {
    using namespace std::chrono_literals;
    const auto until = std::chrono::steady_clock::now() + 1s;
    while (recorder_->live_allocations() > 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(1ms);
  }

  absl::Status Load() {
    if (library_ != nullptr) return absl::OkStatus();
    if (Emulated().there()) {
      Emulated().overcommit(&Granted, nullptr);
      Emulated().listen(&kListener);
    }
    const absl::StatusOr<const CudaLibrary*> library = LoadLibrary();
    if (!library.ok()) return library.status();
    if ((*library)->device_count() < 1) {
      return absl::FailedPreconditionError("there is no GPU that LibTorch can use");
    }
    if (!Emulated().there()) {
      const nvml::GpuProbe probe = nvml::ProbeGpu(false);
      if (!probe.initialised) return absl::FailedPreconditionError(probe.error);
      gpu_ = run::ProfileOf(
          {probe.name, probe.memory_bytes, probe.sm_count, probe.compute_capability});
    }
    (*library)->attach(&Track);
    library_ = *library;
    SetHostTime(Emulated().host_works,
                Emulated().first_optimizer_step);  // null on a real GPU
    SetKernelLauncher(Emulated().kernel);
    return absl::OkStatus();
  }

  // LibTorch reads the properties of a device only once, so each kind of GPU gets a device number
  // of its own, in order of first use. Number 0 is not used: LibTorch may read its properties
  // before a run chooses a GPU. The memory size is always read again and may differ between runs.
  absl::Status ChooseGpu(const run::DeviceProfile& profile) {
    run::DeviceProfile kind = profile;
    kind.memory_bytes = 1;
    kind.context_bytes = 0;
    const std::string text = run::EmulatedGpu(kind);
    const auto known = std::ranges::find(kinds_, text);
    const auto device = 1 + static_cast<int>(known - kinds_.begin());
    if (device >= kPlannedDevices) {
      absl::Status full = absl::ResourceExhaustedError(
          fmt::format("this process has planned for {} kinds of GPU, the maximum that LibTorch can "
                      "distinguish; restart it for another GPU",
                      kinds_.size()));
      full.SetPayload(kNeedsNewProcess, absl::Cord());
      return full;
    }
    if (Emulated().set_gpu(device, run::EmulatedGpu(profile).c_str()) != 0) {
      return absl::InvalidArgumentError(
          fmt::format("the emulated platform has no GPU '{}'", profile.key));
    }
    if (known == kinds_.end()) kinds_.push_back(text);
    device_ = device;
    return absl::OkStatus();
  }

  const CudaLibrary* library_ = nullptr;
  std::unique_ptr<RecordedRun> run_;
  std::unique_ptr<cuda::GpuActivities> activities_;  // on a real GPU
  std::optional<run::DeviceProfile> gpu_;
  int64_t origin_ns_ = 0;
  Recorder* recorder_ = nullptr;
  int device_ = 0;
  std::vector<std::string> kinds_;  // kinds of the planned GPUs, at devices 1, 2, ...
};

}  // namespace

bool OnEmulatedPlatform() { return Emulated().there(); }
void UseInstalledGpu() { cuda::g_gpu_is_there = true; }

Backend& CudaBackend() {
  static auto* backend = new Cuda();
  return *backend;
}

}  // namespace vramscope::trainer
