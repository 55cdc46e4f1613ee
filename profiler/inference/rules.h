// The rules of inference. Their numbers are stored in traces (trace::Event::detail): add new rules
// at the end and never renumber. docs/inference.md has the table.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::inference {

enum Rule : uint8_t {
  kStatedByProducer = 0,  // no rule: recorded by the producer

  // Phases, and the categories of some allocations, from call stacks.
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

  // Steps and phases from ranges that the program names.
  kAnnotationStep = 14,
  kAnnotationPhase = 15,

  // Steps and phases from the order of other marks.
  kOrderLoss = 16,
  kOrderOptimizer = 17,
  kOrderData = 18,
  kOrderSetup = 19,
  kOrderStep = 20,
  kOrderOnePass = 21,

  // Steps and phases without any marks.
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

  // For blocks that are live over several steps. They are older than the recording, or allocated
  // before its first step.
  kPersistentParameter = 43,
  kPersistentFrozen = 44,
  kPersistentState = 45,
  kPersistentGradient = 46,
  kPersistentBuffer = 47,
  kPersistentInput = 48,

  // For blocks that are older than the recording and freed during the recording.
  kOldGradient = 49,
  kOldState = 50,
  kOldActivation = 51,
  kOldTemporary = 52,

  // For older blocks that are never freed, if at first only the number of blocks in each category
  // is known.
  kPersistentFirstStep = 53,

  // For recordings without a complete backward pass.
  kPersistentUnknown = 54,
  kLifeGraph = 55,

  // Further categories from call stacks.
  kStackKvCache = 56,
  kStackReplica = 57,
  kStackFlatGradients = 58,
  kStackOptimizerSetup = 59,
  kStackCaptured = 60,

  // Caches of keys and values that grow from pass to pass.
  kLifeKvCache = 61,

  // For a snapshot without history.
  kStateForward = 62,

  // More phases from call stacks.
  kStackGeneration = 63,
  kStackSave = 64,
  kStackLoad = 65,

  // For a snapshot without history, from the number of blocks of each size. The bytes of each
  // category are right, but not the category of each block.
  kStateShares = 66,

  kRuleCount = 67,
};

// Returns, for example, "lifetime: allocated in forward, freed in backward". Returns "" for
// kStatedByProducer and for unknown numbers, which the caller must handle.
std::string_view RuleName(uint8_t rule);

}  // namespace vramscope::inference
