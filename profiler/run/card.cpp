#include "profiler/run/card.h"

#include <tuple>

namespace vramscope::run {

std::optional<DeviceProfile> TableEntryOf(const Card& card) {
  std::optional<DeviceProfile> found;
  std::tuple<bool, uint64_t> best;  // of another name, how far off in memory
  for (const DeviceProfile& d : Devices()) {
    const uint64_t off = d.memory_bytes < card.memory_bytes ? card.memory_bytes - d.memory_bytes
                                                            : d.memory_bytes - card.memory_bytes;
    if (d.compute_capability != card.compute_capability || d.sm_count != card.sm_count ||
        off > d.memory_bytes / 20)
      continue;
    // The table says more where a driver's name is not enough: "... HBM3 (SXM5)".
    const std::tuple<bool, uint64_t> now{!d.name.starts_with(card.name), off};
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
