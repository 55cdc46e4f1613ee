#include "emulated/core/platform.h"

#include <dlfcn.h>

#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "emulated/core/kernels.h"
#include "emulated/core/pacing.h"
#include "emulated/core/recorder.h"
#include "emulated/core/report.h"

namespace vramscope::emulated {
namespace {

thread_local int current_device = 0;

void OnFreed(void* context, uint64_t address, uint64_t bytes) {
  static_cast<HostBytes*>(context)->Freed(address, bytes);
}

void AtExit() { WriteReport(ThePlatform()); }

// Objects of this class are never destroyed, because another thread may still be calling them.
class ListenerRecorder final : public Recorder {
 public:
  explicit ListenerRecorder(const Listener& listener) : listener_(listener) {}
  void OnWork(const Activity& activity) override {
    listener_.work(activity, HandleOf(activity.stream));
  }
  void OnMemory(const MemoryActivity& activity) override { listener_.memory(activity); }
  void OnSynchronize(const Synchronization& synchronization) override {
    listener_.synchronize(synchronization, synchronization.stream == 0
                                               ? kAllStreamHandles
                                               : HandleOf(synchronization.stream));
  }

 private:
  static uint64_t HandleOf(uint64_t id) {
    return id <= ThePlatform().gpus.size() ? 0 : kFirstStream + id * kApart;
  }
  const Listener listener_;
};

}  // namespace

Platform::Platform(Settings from)
    : settings(std::move(from)),
      gpus(settings.gpus),
      processes(settings.rooms),
      memory(gpus, settings.placement, &OnFreed, &host_bytes),
      pools(&memory, static_cast<int>(gpus.size())),
      streams(&clock, static_cast<int>(gpus.size())) {
  memory.Share(&processes);
}

Platform& ThePlatform() {
  static auto* platform = [] {
    auto* made = new Platform(SettingsFromEnvironment());
    std::atexit(&AtExit);
    return made;
  }();
  return *platform;
}

int CurrentDevice() { return current_device; }

Result SetCurrentDevice(int device) {
  if (device < 0 || device >= static_cast<int>(ThePlatform().gpus.size())) {
    return Result::kInvalidDevice;
  }
  current_device = device;
  return Result::kSuccess;
}

void* DriverFunction(const char* name) {
  static void* driver = []() -> void* {
    Dl_info here;
    if (dladdr(reinterpret_cast<void*>(&vramscope_emulated_flush), &here) == 0) {
      return nullptr;
    }
    std::string path = here.dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + "libcuda.so.1";
    void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      Log("%s", dlerror());
    }
    return opened;
  }();
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

}  // namespace vramscope::emulated

using vramscope::emulated::ThePlatform;

void vramscope_emulated_assume(const char* what, const char* where, uint64_t bytes) {
  vramscope::emulated::Assume(what ? what : "", where ? where : "", bytes);
}

void vramscope_emulated_keep(uint64_t address, uint64_t bytes, int known) {
  ThePlatform().host_bytes.Keep(address, bytes, known != 0);
}

void vramscope_emulated_count_true(uint64_t address, uint64_t elements, uint64_t count) {
  ThePlatform().masks.Say(address, elements, count);
}

void vramscope_emulated_count_distinct(uint64_t most) {
  vramscope::emulated::Masks::SayDistinct(most);
}

void vramscope_emulated_unknown_truth(int truth) {
  using Truth = vramscope::emulated::HostBytes::Truth;
  vramscope::emulated::HostBytes::SetUnknownTruth(truth == 0   ? Truth::kFalse
                                                  : truth == 1 ? Truth::kTrue
                                                               : Truth::kTrueOnce);
}

int vramscope_emulated_is_known(uint64_t address, uint64_t bytes) {
  return ThePlatform().host_bytes.IsKnown(address, bytes) ? 1 : 0;
}

uint64_t vramscope_emulated_now_ns() { return static_cast<uint64_t>(ThePlatform().clock.now()); }

void vramscope_emulated_record_operands(uint64_t (*requests)(int device)) {
  vramscope::emulated::SetOperandsEnabled(requests);
}
void vramscope_emulated_record_call_sites(const char* (*site)()) {
  vramscope::emulated::SetCallSites(site);
}

void vramscope_emulated_flush() { vramscope::emulated::WriteReport(ThePlatform()); }

int vramscope_emulated_set_gpu(int device, const char* text) {
  vramscope::emulated::Platform& platform = ThePlatform();
  std::string problem = "no text";
  const auto gpu = text == nullptr ? std::nullopt : vramscope::emulated::ParseGpu(text, &problem);
  if (!gpu || device < 0 || device >= static_cast<int>(platform.gpus.size())) {
    vramscope::emulated::Log("invalid GPU for device %d: %s", device, problem.c_str());
    return 1;
  }
  platform.gpus[device] = *gpu;
  platform.memory.SetGpu(device, *gpu);
  return 0;
}

int vramscope_emulated_reread_settings() {
  vramscope::emulated::Platform& platform = ThePlatform();
  const vramscope::emulated::Settings settings = vramscope::emulated::SettingsFromEnvironment();
  const std::vector<vramscope::emulated::Gpu>& gpus = settings.gpus;
  if (gpus.size() != platform.gpus.size() || gpus.empty()) return 1;
  for (size_t i = 0; i < gpus.size(); ++i) {
    platform.gpus[i] = gpus[i];
    platform.memory.SetGpu(static_cast<int>(i), gpus[i]);
  }
  platform.processes.UseFolder(settings.rooms);
  return 0;
}

void vramscope_emulated_overcommit(void (*observer)(void*, int, uint64_t, uint64_t),
                                   void* context) {
  ThePlatform().memory.SetOvercommit(observer, context);
}

void vramscope_emulated_observe(void (*observer)(void*, int, int64_t), void* context) {
  ThePlatform().streams.SetObserver(observer, context);
}

void vramscope_emulated_repeat(int move, int64_t duration_ns, int waits,
                               vramscope::emulated::RepeatedMove* times) {
  const vramscope::emulated::RepeatedMove made = ThePlatform().streams.Repeat(
      static_cast<vramscope::emulated::ClockMove>(move), duration_ns, waits != 0);
  if (times != nullptr) *times = made;
}

void vramscope_emulated_listen(const vramscope::emulated::Listener* listener) {
  using vramscope::emulated::ListenerRecorder;
  // All recorders are kept, because another thread may still be calling an earlier one.
  static auto* const recorders = new std::deque<ListenerRecorder>();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  vramscope::emulated::SetRecorder(listener == nullptr ? nullptr
                                                       : &recorders->emplace_back(*listener));
}

const char* vramscope_emulated_call_name(int call) {
  return vramscope::emulated::NameOf(static_cast<vramscope::emulated::Call>(call));
}

void vramscope_emulated_kernel(const char* name, uint64_t bytes, double flops) {
  vramscope::emulated::Submit({.name = name,
                               .flops = flops,
                               .precision = vramscope::emulated::Precision::kBf16,
                               .bytes = bytes});
}

void vramscope_emulated_reset(int device) {
  ThePlatform().pools.Reset(device);
  ThePlatform().memory.Reset(device);
  ThePlatform().streams.Reset();
  vramscope::emulated::StartPaceAgain();
}
