// The rules of inference: what they are called and what each concludes from. Numbers are stored in
// traces (trace::Event::detail): add at the end, never renumber. README.md has the table.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::inference {

enum Rule : uint8_t {
  kSaid = 0,  // no rule: the producer said it

  // From call stacks.
  kStackForward = 1,
  kStackLoss = 2,
  kStackBackward = 3,
  kStackOptimizer = 4,
  kStackZeroGrad = 5,
  kStackData = 6,
  kStackSetup = 7,
  kStackEval = 8,
  kStackAccumulateGrad = 9,
  kStackWorkspace = 10,
  kStackCommunication = 11,
  kStackNone = 12,
  kStackBuffer = 13,

  // From ranges that the program named.
  kAnnotationStep = 14,
  kAnnotationPhase = 15,

  // From the order of what the two above found.
  kOrderLoss = 16,
  kOrderOptimizer = 17,
  kOrderData = 18,
  kOrderSetup = 19,
  kOrderStep = 20,
  kOrderOnePass = 21,

  // From lifetimes, within steps and phases.
  kLifeActivation = 22,
  kLifeActivationHeld = 23,
  kLifeForwardTemporary = 24,
  kLifeOutput = 25,
  kLifeGradient = 26,
  kLifeBackwardTemporary = 27,
  kLifeRecomputed = 28,
  kLifeRecomputedTemporary = 29,
  kLifeState = 30,
  kLifeOptimizerTemporary = 31,
  kLifeInput = 32,
  kLifeTemporary = 33,
  kSizeGradient = 34,
  kSizeWorkspace = 35,

  // Of what stays over steps: older than the recording, or made before its first step.
  kKeptParameter = 36,
  kKeptState = 37,
  kKeptBuffer = 38,
  kKeptInput = 39,
  kKeptFrozen = 40,
  kOldGradient = 41,
  kOldState = 42,
  kOldActivation = 43,
  kOldTemporary = 44,

  // Steps and phases where nothing marks them.
  kStepGradientsDropped = 45,
  kStepRepetition = 46,
  kPhaseForwardGrows = 47,
  kPhaseBackwardShrinks = 48,
  kPhaseAfterGradients = 49,
  kPhaseGradientsDropped = 50,
  kPhaseBeforeSteps = 51,

  kLifeStateReplaces = 52,
  kKeptGradient = 53,

  kRuleCount = 54,
};

// "lifetime: born in forward, freed in backward"; "" for kSaid; "rule 200" style for unknown ones
// is the caller's business ("" is returned).
std::string_view RuleName(uint8_t rule);

}  // namespace vramscope::inference
