// The rules of inference: what they are called and what each concludes from. Numbers are stored in
// traces (trace::Event::detail): add at the end, never renumber. README.md has the table.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::inference {

enum Rule : uint8_t {
  kStatedByProducer = 0,  // no rule: the producer said it

  // From call stacks: phases, and of some allocations the category.
  kStackForward = 1,
  kStackLoss = 2,
  kStackBackward = 3,
  kStackOptimizer = 4,
  kStackZeroGrad = 5,
  kStackData = 6,
  kStackSetup = 7,
  kStackEval = 8,
  kStackNone = 9,
  kStackAccumulateGrad = 10,
  kStackWorkspace = 11,
  kStackCommunication = 12,
  kStackBuffer = 13,

  // From ranges that the program named.
  kAnnotationStep = 14,
  kAnnotationPhase = 15,

  // Steps and phases from the order of what stacks and annotations mark.
  kOrderLoss = 16,
  kOrderOptimizer = 17,
  kOrderData = 18,
  kOrderSetup = 19,
  kOrderStep = 20,
  kOrderOnePass = 21,

  // Steps and phases where nothing marks them.
  kStepGradientsDropped = 22,
  kStepRepetition = 23,
  kPhaseForwardGrows = 24,
  kPhaseBackwardShrinks = 25,
  kPhaseAfterGradients = 26,
  kPhaseGradientsDropped = 27,
  kPhaseBeforeSteps = 28,

  // Categories from lifetimes, within steps and phases.
  kLifeActivation = 29,
  kLifeActivationHeld = 30,
  kLifeForwardTemporary = 31,
  kLifeOutput = 32,
  kLifeGradient = 33,
  kLifeBackwardTemporary = 34,
  kLifeRecomputed = 35,
  kLifeRecomputedTemporary = 36,
  kLifeState = 37,
  kLifeStateReplaces = 38,
  kLifeOptimizerTemporary = 39,
  kLifeTemporary = 40,
  kSizeGradient = 41,
  kSizeWorkspace = 42,

  // Of what stays over steps: older than the recording, or made before its first step.
  kPersistentParameter = 43,
  kPersistentFrozen = 44,
  kPersistentState = 45,
  kPersistentGradient = 46,
  kPersistentBuffer = 47,
  kPersistentInput = 48,

  // Of what is older than the recording and let go in it.
  kOldGradient = 49,
  kOldState = 50,
  kOldActivation = 51,
  kOldTemporary = 52,

  // Of what stays, is older, and of which only numbers are known.
  kPersistentFirstStep = 53,

  // Where no backward was recorded, or only a part of one.
  kPersistentUnknown = 54,
  kLifeGraph = 55,

  // More from call stacks.
  kStackKvCache = 56,
  kStackReplica = 57,
  kStackFlatGradients = 58,
  kStackOptimizerSetup = 59,
  kStackCaptured = 60,

  // Keys and values that grow from pass to pass.
  kLifeKvCache = 61,

  // Of a state, which has no history.
  kStateForward = 62,

  // More phases from call stacks.
  kStackGeneration = 63,
  kStackSave = 64,
  kStackLoad = 65,

  // Of a state, from how often its sizes come: a share of each, not block by block.
  kStateShares = 66,

  kRuleCount = 67,
};

// "lifetime: born in forward, freed in backward"; "" for kStatedByProducer; "rule 200" style for
// unknown ones is the caller's business ("" is returned).
std::string_view RuleName(uint8_t rule);

}  // namespace vramscope::inference
