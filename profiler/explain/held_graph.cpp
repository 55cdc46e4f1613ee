#include "profiler/explain/held_graph.h"

#include <fmt/format.h>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::explain {

HeldGraph FindHeldGraph(const trace::Trace& trace) {
  // Fewer live blocks are not a graph, but a loss or a result that a variable refers to.
  constexpr uint64_t kFewestBlocks = 8;
  HeldGraph held;
  if (trace.info.content == trace::Content::kState) return held;
  const trace::SliceTable& s = trace.slices;
  for (uint32_t i = 0; i < s.size(); ++i)
    if (s.kind[i] == trace::SliceKind::kPhase && s.phase(i) == trace::Phase::kBackward) return held;
  const trace::AllocationTable& a = trace.allocations;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.free_event[row] != trace::kNoEvent || a.category[row] != trace::Category::kActivation)
      continue;
    held.bytes += a.bytes_rounded[row];
    ++held.blocks;
  }
  if (held.blocks < kFewestBlocks) return {};
  held.headline = i18n::Format(
      "{} in {} from a forward pass are still live when the recording ends, but the recording has "
      "no backward pass. If the program needs no backward pass, run the model under "
      "torch.no_grad() or torch.inference_mode(): autograd then keeps no activations.",
      run::FormatBytes(held.bytes), i18n::Format("{} blocks", held.blocks));
  return held;
}

}  // namespace vramscope::explain
