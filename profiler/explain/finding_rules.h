// Declares the rules that produce findings. Each rule is a function that takes the facts of a run
// and returns a finding or nothing. findings.cpp adds the id and the remedy.
//
//   if (MaybeFinding finding = Leaking(facts)) findings.push_back(*std::move(finding));
//
// Thread-safe. FindingFacts::Collect omits blocks that an earlier rule has claimed.
#pragma once

#include <optional>

#include "profiler/explain/finding_facts.h"
#include "profiler/explain/findings.h"

namespace vramscope::explain {

using MaybeFinding = std::optional<Finding>;

MaybeFinding Leaking(const FindingFacts& f);
MaybeFinding RetainedGraph(const FindingFacts& f);
MaybeFinding HeldFromEarlierStep(const FindingFacts& f);
MaybeFinding OutputsHeld(const FindingFacts& f);
MaybeFinding MadeInFirstStep(const FindingFacts& f);
MaybeFinding OldGradients(const FindingFacts& f);
MaybeFinding SecondWeights(const FindingFacts& f);
MaybeFinding HeldSinceSetup(const FindingFacts& f);
MaybeFinding ResidentInputs(const FindingFacts& f);
MaybeFinding NoGradMissing(const FindingFacts& f);
MaybeFinding EvalKeepsGraph(const FindingFacts& f);
MaybeFinding EvalPeak(const FindingFacts& f);
MaybeFinding LoadPeak(const FindingFacts& f);
MaybeFinding LogitsCopies(const FindingFacts& f);
MaybeFinding DtypeCopies(const FindingFacts& f);
MaybeFinding AutocastWeights(const FindingFacts& f);
MaybeFinding GradientCopies(const FindingFacts& f);
MaybeFinding OptimizerTemporaries(const FindingFacts& f);
MaybeFinding AttentionScores(const FindingFacts& f);
MaybeFinding KvCacheInTraining(const FindingFacts& f);
MaybeFinding CheckpointingWithoutEffect(const FindingFacts& f);
MaybeFinding FrozenInThirtyTwoBits(const FindingFacts& f);
MaybeFinding NoGradient(const FindingFacts& f);
MaybeFinding LargeBuffers(const FindingFacts& f);
MaybeFinding Workspaces(const FindingFacts& f);
MaybeFinding UnevenSteps(const FindingFacts& f);
MaybeFinding OtherStreams(const FindingFacts& f);

}  // namespace vramscope::explain
