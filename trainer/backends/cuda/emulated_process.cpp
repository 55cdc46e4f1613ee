#include "trainer/backends/cuda/emulated_process.h"

#include <sys/personality.h>

#include <cstdlib>
#include <filesystem>

#include "profiler/run/emulated_gpu.h"

namespace vramscope::trainer {

absl::Status SetEmulatedEnvironment(const std::string& folder) {
  const std::string audit = folder + "/libvramscope-audit.so";
  if (!std::filesystem::exists(audit)) {
    return absl::FailedPreconditionError("the emulated platform is missing: " + audit);
  }
  // Any GPU will do: before a run is planned, its device gets the right one (cuda_backend.cpp).
  const absl::StatusOr<run::DeviceProfile> first = run::FindDevice("rtx-4090");
  if (!first.ok()) return first.status();
  const std::string gpu = run::EmulatedGpu(*first);
  setenv("LD_AUDIT", audit.c_str(), 1);
  setenv("VRAMSCOPE_EMULATED_GPU", gpu.c_str(), 1);
  setenv("VRAMSCOPE_EMULATED_DEVICES", std::to_string(kPlannedDevices).c_str(), 1);
  // This process may act as one of any number of ranks, while the others have no process.
  setenv("VRAMSCOPE_EMULATED_ALONE", "1", 1);
  const int now = personality(0xffffffff);
  if (now != -1) personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
  return absl::OkStatus();
}

}  // namespace vramscope::trainer
