#include "profiler/trace/block_evidence.h"

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/facts.h"

namespace vramscope::trace {

std::string_view Name(EvidenceKind kind) {
  constexpr std::string_view kNames[] = {"recorded", "made", "modelled"};
  return kNames[static_cast<size_t>(kind)];
}

BlockEvidence::BlockEvidence(const Trace& trace) : trace_(trace) {
  if (!trace.info.has_config || trace.info.backend != Backend::kPlan) return;
  const run::RunConfig& config = trace.info.config;
  const run::Catalogue& catalogue = run::TheCatalogue();
  for (const run::ModelledBlocks& blocks : catalogue.modelled) {
    const run::TechniqueDeclaration* technique = catalogue.FindTechnique(blocks.technique);
    if (technique == nullptr || blocks.assumed >= technique->assumes.size()) continue;
    const run::Assumed& assumed = technique->assumes[blocks.assumed];
    const bool holds = std::ranges::all_of(
        assumed.when, [&](const run::Condition& c) { return run::Holds(c, config); });
    if (!holds) continue;
    modelled_.push_back({blocks.category, blocks.ops, assumed.what,
                         i18n::English("technique: {}", technique->title)});
  }
  const run::OptimizerDeclaration* optimizer =
      catalogue.FindOptimizer(config.Get("optimizer.name"));
  if (optimizer == nullptr || !config.Is("mode", "train")) return;
  for (const std::string& what : optimizer->assumes) {
    modelled_.push_back({std::string(Name(Category::kOptimizerState)),
                         {},
                         what,
                         i18n::English("optimizer: {}", optimizer->title)});
  }
}

Evidence BlockEvidence::Of(AllocationId id) const {
  switch (trace_.info.backend) {
    case Backend::kPlan:
      break;
    case Backend::kCpu:
      return {EvidenceKind::kRecorded,
              TEXT_MARK("the step really ran on the CPU, so these bytes are in host memory"), ""};
    case Backend::kCuda:
      return {EvidenceKind::kRecorded, TEXT_MARK("the step really ran on the GPU"), ""};
    case Backend::kImported:
      return {EvidenceKind::kRecorded, TEXT_MARK("recorded in a run on a GPU"), ""};
  }
  const AllocationTable& table = trace_.allocations;
  const std::string_view category = Name(table.main_category[id.value]);
  const std::string_view op = trace_.String(table.op[id.value]);
  for (const Modelled& each : modelled_) {
    if (each.category != category) continue;
    if (!each.ops.empty() && std::ranges::find(each.ops, op) == each.ops.end()) continue;
    return {EvidenceKind::kModelled, each.what, each.source};
  }
  if (!trace_.info.has_config) {
    return {EvidenceKind::kMade,
            TEXT_MARK("allocated by the program's own code, planned without running kernels"), ""};
  }
  return {EvidenceKind::kMade,
          op.empty() ? TEXT_MARK("allocated by PyTorch's own code")
                     : i18n::English("allocated by PyTorch's own {}", op),
          ""};
}

}  // namespace vramscope::trace
