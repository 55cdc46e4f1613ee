// What the explain pages say, as tables and facts: decided here, without Qt.
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

// Row::blocks are the largest of what a finding is about.
Table FindingTable(const std::vector<explain::Finding>& findings);

// Of a moment's memory: labels, bytes, and what the words mean.
struct FragmentFact {
  std::string label;
  uint64_t bytes = 0;
  std::string meaning;
};
std::vector<FragmentFact> FragmentFacts(const explain::Fragmentation& f);
// Who keeps free memory from going back: site, bytes; then the segments that are held so.
Table PinnedByTable(const explain::Fragmentation& f);
Table PinnedTable(const explain::Fragmentation& f);

Table RemedyTable(const explain::Reclaim& reclaim);
// As recorded, the model under the recorded settings, and under others; absent ones are left out.
struct WhatIf {
  uint64_t recorded_peak_reserved = 0, recorded_out_of_memory = 0;
  // The same baseline as of what could be given back (explain::Reclaim).
  const replay::Baseline* base = nullptr;
  const replay::Replayed* under = nullptr;
  // What `under` is compared with: from a start as its own.
  const replay::Replayed* against() const {
    return base == nullptr                   ? nullptr
           : under != nullptr && under->kept ? &base->own
                                             : &base->of_settings();
  }
};
Table WhatIfTable(const WhatIf& what_if);

// What a table of sites is grouped by. The same of one user metadata, say, are one "site".
enum class SiteBy : uint8_t {
  kCallSite,
  kModule,
  kOp,
  kAnnotation,  // the innermost range of the program that an allocation is made in
  kUserMetadata,
  kCompileContext,
};
// Those that tell anything about the trace; kCallSite always.
std::vector<SiteBy> SiteGroupings(const trace::Trace& trace);
std::string_view Name(SiteBy by);  // "call site"
explain::CallSites GroupSites(const trace::Trace& trace, SiteBy by);

// Row::allocation is the largest allocation of the site.
Table CallSiteTable(const trace::Trace& trace, const explain::CallSites& sites,
                    const std::vector<explain::SiteUse>& uses, SiteBy by = SiteBy::kCallSite);
Table LeakTable(const explain::Leaks& leaks, const explain::CallSites& sites);
// "▁▂▄█": bytes over steps.
std::string Sparkline(const std::vector<uint64_t>& values, size_t most);

std::vector<Fact> OutOfMemoryFacts(const explain::OutOfMemory& oom);
Table WaysOutTable(const explain::OutOfMemory& oom);
Table GroupTable(const std::string& title, const std::vector<analysis::Group>& groups);

// Categories of all allocations at an event.
std::vector<trace::Category> CategoriesAt(const trace::Trace& trace, trace::EventIndex event);
// "at the peak · step 1 · backward · 71.2 ms".
std::string MomentText(const trace::Trace& trace, const analysis::Context& at);

// Keys of PYTORCH_CUDA_ALLOC_CONF that change decisions, each with a value to begin with.
struct ConfKey {
  const char* text;     // "max_split_size_mb:128"
  const char* meaning;  // in a few words, in English
};
const std::vector<ConfKey>& ConfKeys();

}  // namespace vramscope::ui
