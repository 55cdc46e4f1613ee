// The contents of the explain pages, as tables and facts. Does not use Qt.
//
//   Table t = RemedyTable(reclaim);
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "profiler/explain/explain.h"
#include "profiler/explain/findings.h"
#include "profiler/replay/replay.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// Sets Row::blocks to the largest blocks of the finding.
Table FindingTable(const std::vector<explain::Finding>& findings);

// A number of bytes at an event, with a label and an explanation of the label.
struct FragmentFact {
  std::string label;
  uint64_t bytes = 0;
  std::string meaning;
};
std::vector<FragmentFact> FragmentFacts(const explain::Fragmentation& f);
// PinnedByTable() lists call sites whose blocks prevent the release of free memory. PinnedTable()
// lists the segments that contain such memory.
Table PinnedByTable(const explain::Fragmentation& f);
Table PinnedTable(const explain::Fragmentation& f);

Table RemedyTable(const explain::Reclaim& reclaim);
// The rows to compare: the recorded figures, the replays under the recorded settings (`base`), and
// the replay under other settings (`under`). A null replay has no row.
struct WhatIf {
  uint64_t recorded_peak_reserved = 0, recorded_out_of_memory = 0;
  // the same as the baseline of explain::Reclaim
  const replay::Baseline* base = nullptr;
  const replay::Replayed* under = nullptr;
  // Returns the replay with which `under` is compared. Both begin in the same state.
  const replay::Replayed* against() const {
    return base == nullptr                              ? nullptr
           : under != nullptr && under->older_unchanged ? &base->own
                                                        : &base->of_settings();
  }
};
Table WhatIfTable(const WhatIf& what_if);

// By what a table of sites groups allocations. Each group is a "site": for example, all allocations
// with the same user metadata.
enum class SiteBy : uint8_t {
  kCallSite,
  kModule,
  kOp,
  kAnnotation,  // the innermost annotation of the program that was open at the allocation
  kUserMetadata,
  kCompileContext,
};
// The groupings for which the trace has data; kCallSite is always among them.
std::vector<SiteBy> SiteGroupings(const trace::Trace& trace);
std::string_view Name(SiteBy by);  // "call site"
explain::CallSites GroupSites(const trace::Trace& trace, SiteBy by);

// Sets Row::allocation to the largest allocation of the site.
Table CallSiteTable(const trace::Trace& trace, const explain::CallSites& sites,
                    const std::vector<explain::SiteUse>& uses, SiteBy by = SiteBy::kCallSite);
Table LeakTable(const explain::Leaks& leaks, const explain::CallSites& sites);
// Returns a text such as "▁▂▄█", with a bar for each of `values`.
std::string Sparkline(const std::vector<uint64_t>& values, size_t most);

std::vector<Fact> OutOfMemoryFacts(const explain::OutOfMemory& oom);
Table WaysOutTable(const explain::OutOfMemory& oom);
Table GroupTable(const std::string& title, const std::vector<analysis::Group>& groups);

// Returns the category that each allocation of the trace has at `event`.
std::vector<trace::Category> CategoriesAt(const trace::Trace& trace, trace::EventIndex event);
// Returns a text such as "at the peak · step 1 · backward · 71.2 ms".
std::string TimeAndContextText(const trace::Trace& trace, const analysis::Context& at);

// A key of PYTORCH_CUDA_ALLOC_CONF that changes the allocator's decisions, with a typical
// value.
struct ConfKey {
  const char* text;     // "max_split_size_mb:128"
  const char* meaning;  // a few English words
};
const std::vector<ConfKey>& ConfKeys();

}  // namespace vramscope::ui
