// Judges whether a trace fits a budget, and formats the verdict as a line, a table, JSON, or
// Markdown for the summary of a CI job.
//
//   ASSIGN_OR_RETURN(const Judged judged, Judge(trace, budget, std::nullopt));
//   return judged.within() ? kDone : kNo;
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/analysis/host_memory.h"
#include "profiler/run/check_run.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

struct Judged {
  enum class Verdict : uint8_t { kWithin, kOver, kUnknown };
  // The first allocation that failed, and the GPU memory needed for it to succeed.
  struct RanOut {
    uint64_t reserved = 0, asked = 0;
    // All GPU memory that the run needs at that allocation, with the CUDA context.
    uint64_t needed = 0;
  };
  std::shared_ptr<const trace::Trace> trace;  // trace of one device
  analysis::Summary summary;
  run::Assumption context;
  uint64_t budget = 0, needed = 0;
  Verdict verdict = Verdict::kWithin;
  std::optional<RanOut> ran_out;
  std::vector<analysis::Group> sites;  // call sites at the peak, most bytes first

  bool within() const { return verdict == Verdict::kWithin; }
  uint64_t over() const { return needed > budget ? needed - budget : 0; }
};

// Compares the budget with the reserved memory plus the CUDA context. `context` overrides the size
// of the context; by default, the size comes from the trace or else from the default GPU. Returns
// kFailedPrecondition if the trace can't be compared with a budget.
absl::StatusOr<Judged> Judge(std::shared_ptr<const trace::Trace> trace, uint64_t budget,
                             const std::optional<run::Assumption>& context);

// The verdict on the host's pinned and managed memory.
struct JudgedHost {
  analysis::HostMemory memory;
  uint64_t budget = 0;
  // kUnknown: the driver's allocations were not recorded.
  Judged::Verdict verdict = Judged::Verdict::kWithin;
};
// `trace` must contain all processes and devices.
JudgedHost JudgeHost(const trace::Trace& trace, uint64_t budget);
std::string VerdictText(const JudgedHost& host);  // one line
std::string JudgedText(const JudgedHost& host);   // includes what is allocated at the peak
Json JudgedJson(const JudgedHost& host);

std::string VerdictText(const Judged& judged);  // one line
std::string JudgedText(const Judged& judged);   // includes what is allocated at the peak
Json JudgedJson(const Judged& judged);
// Returns a section in English, titled `what`, for the summary of a CI job. `host` may be null.
std::string JudgedMarkdown(const Judged& judged, const JudgedHost* host, const std::string& what);

}  // namespace vramscope::cli
