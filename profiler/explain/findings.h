// What is wrong with a run's memory, one line each with its bytes: logits in three copies, a graph
// that an evaluation keeps, gradients of the step before. Of plans and recordings alike.
//
//   for (const Finding& finding : FindFindings(*trace)) Print(finding.text);
//
// One table declares them (FindingRules); only those that tests hold say something. Of one device;
// pure, thread-safe. What a file does not record (phases, categories, stacks) a rule takes for
// absent: then it says nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct FindingRule {
  std::string_view id;
  std::string_view rule;    // when it is said
  std::string_view remedy;  // what to write
  std::string_view toggle;  // that does it from outside (`vramscope toggles`); "": none
};
std::span<const FindingRule> FindingRules();

struct Finding {
  const FindingRule* rule = nullptr;  // a row of FindingRules()
  uint64_t bytes = 0;                 // of the peak, where the text names no other moment
  std::string text;                   // one sentence
  std::string where;                  // "train.py:88 main", most of its bytes; "": no stacks
  std::vector<trace::AllocationId> blocks = {};  // the largest of them, at most kMostBlocks
  static constexpr size_t kMostBlocks = 16;
};
// Most bytes first.
std::vector<Finding> FindFindings(const trace::Trace& trace);

}  // namespace vramscope::explain
