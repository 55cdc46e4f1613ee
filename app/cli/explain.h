// What `explain` prints: the pages of profiler/explain as JSON and as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/explain/evidence.h"
#include "profiler/explain/explain.h"
#include "profiler/explain/findings.h"
#include "profiler/explain/held_graph.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

// The pages that were requested.
struct ExplainPages {
  std::optional<std::vector<explain::Finding>> findings;
  std::optional<explain::Fragmentation> fragmentation;
  // How many live bytes at the explained event are recorded, made or modelled (EvidenceKind).
  std::vector<explain::EvidenceShare> evidence;
  // Segments at the explained event. They are missing unless the caller requested them.
  std::vector<explain::SegmentView> segments;
  explain::HeldGraph held_graph;  // shown on the leaks page
  std::optional<explain::Reclaim> reclaim;
  std::string reclaim_error;  // why the page `reclaim` could not be computed
  explain::CallSites call_sites;
  std::optional<explain::Leaks> leaks;
  std::optional<std::vector<explain::SiteUse>> sites;
  explain::SiteOrder order = explain::SiteOrder::kByteSeconds;
  std::optional<explain::OutOfMemoryPage> oom;
  size_t top = 20;  // maximum number of rows of a table
};

Json ExplainJson(const trace::Trace& trace, const ExplainPages& pages);
std::string ExplainText(const trace::Trace& trace, const ExplainPages& pages);

}  // namespace vramscope::cli
