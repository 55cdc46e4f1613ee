#include <map>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using trace::Category;
using trace::Phase;

struct Conclusion {
  Category category = Category::kUnknown;
  uint8_t rule = kStatedByProducer;
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

// A model trained with Adam has four tensors per parameter: the parameter, its gradient and two
// moments. If stacks show nothing, such a model is recognized because the number of blocks of every
// size is a multiple of four. If a model has only parameters, the last norm or an embedding makes
// some of these numbers odd. Categories are given to blocks in order of address, so only the sums
// by category are right.
constexpr uint32_t kOfEach = 4;
constexpr uint32_t kFewestSizes = 3, kFewestBlocks = 32;

void ShareOut(const recording::History& history, Labels& labels) {
  const auto& allocations = history.allocations;
  std::map<uint64_t, std::vector<uint32_t>> of_size;
  uint64_t all = 0, shared = 0;
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    const uint64_t bytes = allocations.requested[a];
    if (labels.category[a] != Category::kUnknown) {
      if (labels.rule[a] != kSizeWorkspace) return;  // the stacks show the categories
      continue;
    }
    all += bytes;
    if (bytes > kScalar) of_size[bytes].push_back(a);
  }
  uint32_t sizes = 0, blocks = 0;
  for (const auto& [bytes, rows] : of_size) {
    if (rows.size() < kOfEach) continue;
    if (rows.size() % kOfEach != 0) return;
    ++sizes;
    blocks += static_cast<uint32_t>(rows.size());
    shared += bytes * rows.size();
  }
  if (sizes < kFewestSizes || blocks < kFewestBlocks || shared < all / 100 * 97) return;
  for (const auto& [bytes, rows] : of_size) {
    if (rows.size() < kOfEach) continue;
    const size_t parameters = rows.size() / kOfEach;
    for (size_t i = 0; i < rows.size(); ++i) {
      labels.category[rows[i]] = i < parameters       ? Category::kParameter
                                 : i < 2 * parameters ? Category::kGradient
                                                      : Category::kOptimizerState;
      labels.rule[rows[i]] = kStateShares;
    }
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
  ShareOut(history, labels);
}

}  // namespace vramscope::inference
