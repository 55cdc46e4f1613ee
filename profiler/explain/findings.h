// What is wrong with a run's memory, one line each with its bytes: logits in three copies, a graph
// that an evaluation keeps, gradients of the step before. Of plans and recordings alike.
//
//   for (const Finding& finding : FindFindings(*trace)) Print(finding.text);
//
// One table declares the rules (findings.cpp); only those that a test program triggers are
// evaluated. Of one device; pure, thread-safe. A rule treats what a file does not record (phases,
// categories, stacks) as absent: then it finds nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct FindingRule {
  std::string_view id;
  // English texts: pass them to i18n::Text where a window shows them.
  std::string_view rule;    // the condition
  std::string_view remedy;  // what to write
  std::string_view toggle;  // does it without an edit (`vramscope toggles`); "": none
};
size_t FindingRuleCount();  // of the rules that are evaluated

struct Finding {
  const FindingRule* rule = nullptr;  // lives as long as the process
  uint64_t bytes = 0;                 // of the peak, where the text names no other moment
  std::string text;                   // one sentence, in the language of i18n
  std::string where;                  // "train.py:88 main", most of its bytes; "": no stacks
  std::vector<trace::AllocationId> blocks = {};  // the largest of them, at most kMostBlocks
  static constexpr size_t kMostBlocks = 16;
};
// Most bytes first.
std::vector<Finding> FindFindings(const trace::Trace& trace);
std::string NoFindingsText();  // what an empty list means

}  // namespace vramscope::explain
