#include "profiler/explain/evidence.h"

#include <algorithm>

#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"

namespace vramscope::explain {

using trace::EvidenceKind;

std::vector<EvidenceShare> EvidenceAt(const trace::Trace& trace, trace::EventIndex event) {
  const trace::BlockEvidence of(trace);
  std::vector<EvidenceShare> shares;
  for (const analysis::LiveAllocation& live : analysis::LiveAt(trace, event).allocations) {
    trace::Evidence evidence = of.Of(live.id);
    // This text names the operator of a single block. The share's text must describe all blocks of
    // this kind.
    if (evidence.kind == EvidenceKind::kMade)
      evidence.text = TEXT_MARK(
          "allocated by the program's or PyTorch's own code, in a plan that ran no kernels");
    auto share = std::ranges::find_if(shares, [&](const EvidenceShare& s) {
      return s.evidence.kind == evidence.kind && s.evidence.source == evidence.source;
    });
    if (share == shares.end()) share = shares.insert(share, {.evidence = std::move(evidence)});
    share->bytes += trace.allocations.bytes_rounded[live.id.value];
    ++share->blocks;
  }
  std::ranges::stable_sort(shares, std::greater(), &EvidenceShare::bytes);
  return shares;
}

}  // namespace vramscope::explain
