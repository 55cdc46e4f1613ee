#include "trainer/backends/cuda/emulated_process.h"

#include <sys/personality.h>

#include <cstdlib>
#include <filesystem>

#include "profiler/run/emulated_card.h"

namespace vramscope::trainer {

absl::Status SetEmulatedEnvironment(const std::string& folder) {
  const std::string audit = folder + "/libvramscope-audit.so";
  if (!std::filesystem::exists(audit)) {
    return absl::FailedPreconditionError("the emulated platform is not there: " + audit);
  }
  std::string cards;
  for (const run::DeviceProfile& card : run::Devices()) cards += run::EmulatedCard(card) + "\n";
  setenv("LD_AUDIT", audit.c_str(), 1);
  setenv("VRAMSCOPE_EMULATED_CARD", cards.c_str(), 1);
  unsetenv("VRAMSCOPE_EMULATED_DEVICES");
  setenv("VRAMSCOPE_EMULATED_ALONE", "1", 1);  // a run is one rank, however many it says there are
  const int now = personality(0xffffffff);
  if (now != -1) personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
  return absl::OkStatus();
}

}  // namespace vramscope::trainer
