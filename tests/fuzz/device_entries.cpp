#include "tests/fuzz/device_entries.h"

#include <string>
#include <string_view>

#include "profiler/run/device_file.h"
#include "profiler/run/emulated_gpu.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {
namespace {

// Checks the properties of a GPU on which runs, the emulated platform and traces rely.
void CheckDevice(const absl::StatusOr<run::Device>& device) {
  if (!device.ok()) {
    const std::string message(device.status().message());
    Check(message.starts_with("device: "), "an error that names no key");
    Check(message.size() < 4096, "an error as long as what it is about");
    return;
  }
  Check(!device->name.empty() && !device->key.empty(), "a GPU without a name");
  Check(device->context_bytes < device->memory_bytes, "a context that fills the memory");
  Check(device->memory_bytes <= uint64_t{1} << 42, "more memory than the platform takes");
  Check(device->sm_count > 0 && device->max_threads_per_sm > 0, "no multiprocessors");
  Check(device->bandwidth_bytes_per_s > 0 && device->fp32_flops > 0 && device->tf32_flops > 0 &&
            device->bf16_flops > 0,
        "a rate that divides by zero");
  Check(device->blas_workspace_bytes > 0, "no workspace");
  const std::string gpu = run::EmulatedGpu(*device);
  Check(gpu.find('\n') == std::string::npos, "more than one line");
  const absl::StatusOr<run::Device> again = run::ReadDevice(device->key);
  Check(again.ok() && again->key == device->key && run::EmulatedGpu(*again) == gpu,
        "its text means another GPU");
}

}  // namespace

void DeviceFile(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckDevice(run::DeviceFromJson(text));
  CheckDevice(run::ReadDevice(text));
}

}  // namespace vramscope::fuzz
