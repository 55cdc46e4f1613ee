#include "profiler/run/card.h"

namespace vramscope::run {
namespace {

uint64_t Distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

DeviceProfile ProfileOf(const Card& card) {
  DeviceProfile found;
  if (card.name.empty()) return found;
  uint64_t workspace = 0;
  for (const DeviceProfile& d : Devices()) {
    if (d.compute_capability != card.compute_capability) continue;
    workspace = d.blas_workspace_bytes;
    // The table tells two cards of one name apart: "... 3060 12GB", "... HBM3 (SXM5)".
    if (d.sm_count != card.sm_count || !d.name.starts_with(card.name)) continue;
    if (found.key.empty() || Distance(d.memory_bytes, card.memory_bytes) <
                                 Distance(found.memory_bytes, card.memory_bytes))
      found = d;
  }
  found.name = card.name;
  found.memory_bytes = card.memory_bytes;
  found.sm_count = card.sm_count;
  found.compute_capability = card.compute_capability;
  found.blas_workspace_bytes = workspace;
  found.context_bytes = 0;
  return found;
}

}  // namespace vramscope::run
