#include "profiler/run/card.h"

#include <tuple>

#include "profiler/run/emulated_card.h"

namespace vramscope::run {

std::optional<DeviceProfile> TableEntryOf(const Card& card) {
  std::optional<DeviceProfile> found;
  std::tuple<int, uint64_t> best;  // difference of names, difference in memory
  for (const DeviceProfile& d : Devices()) {
    const uint64_t off = d.memory_bytes < card.memory_bytes ? card.memory_bytes - d.memory_bytes
                                                            : d.memory_bytes - card.memory_bytes;
    if (d.compute_capability != card.compute_capability || d.sm_count != card.sm_count ||
        off > d.memory_bytes / 20)
      continue;
    // The table adds a variant where the driver's name is ambiguous: "... HBM3 (SXM5)". "NVIDIA
    // A10" must not match the A10G.
    const int name = CudaName(d.name) == card.name ? 0 : d.name.starts_with(card.name) ? 1 : 2;
    const std::tuple<int, uint64_t> now{name, off};
    if (found && best <= now) continue;
    found = d;
    best = now;
  }
  return found;
}

DeviceProfile ProfileOf(const Card& card) {
  if (card.name.empty()) return {};
  DeviceProfile profile = TableEntryOf(card).value_or(DeviceProfile{});
  profile.name = card.name;
  profile.memory_bytes = card.memory_bytes;
  profile.sm_count = card.sm_count;
  profile.compute_capability = card.compute_capability;
  for (const DeviceProfile& d : Devices()) {
    if (d.compute_capability == card.compute_capability)
      profile.blas_workspace_bytes = d.blas_workspace_bytes;
  }
  return profile;
}

}  // namespace vramscope::run
