#include "trainer/backends/plan/device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <memory>

#include "trainer/backends/plan/fallback.h"
#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"

namespace vramscope::trainer::plan {
namespace {

// One device with one stream, on which everything is done as soon as it is asked for.
class PlanGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return PlanDevice(); }
  c10::Device getDevice() const override { return PlanDevice(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return DefaultStream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return DefaultStream(); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(c10::DeviceIndex) const override {}
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}

 private:
  static c10::Stream DefaultStream() { return c10::Stream(c10::Stream::DEFAULT, PlanDevice()); }
};

class PlanHooks final : public at::CUDAHooksInterface {
 public:
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  int getNumGPUs() const override { return 1; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex current_device() const override { return 0; }
  void deviceSynchronize(c10::DeviceIndex) const override {}
  at::Device getDeviceFromPtr(void*) const override { return PlanDevice(); }
  // Random numbers are never drawn; a CPU generator keeps seeds and states.
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const at::Generator generator = at::detail::createCPUGenerator();
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::detail::createCPUGenerator();
  }
};

absl::Status Register() {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto probe = dispatcher.findSchema({"aten::empty", "memory_format"});
  if (!probe.has_value() || probe->hasKernelForDispatchKey(c10::DispatchKey::CUDA)) {
    return absl::FailedPreconditionError(
        "plan backend: this process has loaded LibTorch's CUDA library; plan and cuda need a "
        "worker process each");
  }
  // LibTorch looks the hooks up under this name, once.
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs) -> std::unique_ptr<at::CUDAHooksInterface> {
        return std::make_unique<PlanHooks>();
      });
  if (!at::detail::getCUDAHooks().hasCUDA()) {
    return absl::FailedPreconditionError(
        "plan backend: LibTorch was asked about CUDA before the plan device was registered");
  }
  // Both live as long as the process, as LibTorch expects of a device.
  static const c10::impl::DeviceGuardImplRegistrar guard(c10::kCUDA, new PlanGuard());
  c10::SetAllocator(c10::kCUDA, &PlanAllocator(), /*priority=*/1);
  c10::SetAllocator(c10::kMeta, &MetaTwinAllocator(), /*priority=*/1);
  RegisterKernels();
  RegisterFallback();
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterPlanDevice() {
  static const absl::Status status = [] {
    try {
      return Register();
    } catch (const std::exception& error) {
      return absl::InternalError(std::string("plan backend: ") + error.what());
    }
  }();
  return status;
}

}  // namespace vramscope::trainer::plan
