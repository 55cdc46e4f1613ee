#include "profiler/inference/categories.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using trace::Category;
using trace::Phase;

struct Conclusion {
  Category category = Category::kUnknown;
  uint8_t rule = kSaid;
};

Conclusion Conclude(const StackFacts& facts, uint64_t bytes) {
  if (facts.workspace) return {Category::kWorkspace, kStackWorkspace};
  if (facts.communication) return {Category::kCommunication, kStackCommunication};
  if (facts.kv_cache) return {Category::kKvCache, kStackKvCache};
  if (facts.replica) return {Category::kParameter, kStackReplica};
  if (facts.gradients) return {Category::kGradient, kStackFlatGradients};
  if (facts.accumulates) return {Category::kGradient, kStackAccumulateGrad};
  if (bytes == kBlasWorkspace) return {Category::kWorkspace, kSizeWorkspace};
  switch (facts.phase) {
    case Phase::kOptimizer:
      return {Category::kOptimizerState, kStackOptimizer};
    case Phase::kBackward:
      return {Category::kGradient, kStackBackward};
    case Phase::kSetup:
      if (facts.loads_state) return {Category::kOptimizerState, kStackOptimizerSetup};
      if (facts.buffer) return {Category::kBuffer, kStackBuffer};
      if (facts.captured) return {Category::kTemporary, kStackCaptured};
      return {Category::kParameter, kStackSetup};
    case Phase::kData:
      return {Category::kInput, kStackData};
    case Phase::kForward:
    case Phase::kLoss:
    case Phase::kEval:
    case Phase::kGeneration:
      if (facts.captured) return {Category::kTemporary, kStackCaptured};
      return {Category::kActivation, kStateForward};
    default:
      return {};
  }
}

}  // namespace

void CategorizeState(const recording::History& history, const Stacks& stacks, Labels& labels) {
  const auto& allocations = history.allocations;
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    const Conclusion concluded =
        Conclude(stacks.facts[allocations.stack[a].value], allocations.requested[a]);
    labels.category[a] = concluded.category;
    labels.rule[a] = concluded.rule;
  }
}

}  // namespace vramscope::inference
