// Problems in a run's use of memory, for example three copies of the logits, a graph kept by an
// evaluation, or gradients of the previous step. Each finding is one line with its bytes.
// Works for plans and recordings.
//
//   for (const Finding& finding : FindFindings(*trace)) Print(finding.text);
//
// The rules are declared in one table (findings.cpp), and a test program triggers each of them.
// Rules that need phases, categories or stacks find nothing in a file without these. The trace must
// contain one device. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct FindingRule {
  std::string_view id;
  // English texts; pass them to i18n::Text before showing them.
  std::string_view rule;    // condition for the finding
  std::string_view remedy;  // how to fix it
  // The toggle (`vramscope toggles`) that applies the remedy without editing the program.
  std::string_view toggle;
};
size_t FindingRuleCount();  // number of rules in the table

struct Finding {
  const FindingRule* rule = nullptr;  // lives as long as the process
  uint64_t bytes = 0;                 // bytes at the peak, unless the text names another time
  std::string text;                   // one sentence, in the language of i18n
  std::string where;  // call site with most bytes, "train.py:88 main"; "": no stacks
  std::vector<trace::AllocationId> blocks = {};  // the kMostBlocks largest
  static constexpr size_t kMostBlocks = 16;
};
// Most bytes first.
std::vector<Finding> FindFindings(const trace::Trace& trace);
std::string NoFindingsText();  // text for an empty list

}  // namespace vramscope::explain
