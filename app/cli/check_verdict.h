// Whether a trace fits a budget, and how that is said: a line, a table, JSON, Markdown for a CI
// job's summary.
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
#include "profiler/run/check_run.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

struct Judged {
  enum class Verdict : uint8_t { kWithin, kOver, kUnknown };
  // The first request that found no room: what the card would have needed for it.
  struct RanOut {
    uint64_t reserved = 0, asked = 0;
    uint64_t needed = 0;  // of the card, with what was reserved and the context
  };
  std::shared_ptr<const trace::Trace> trace;  // of one device
  analysis::Summary summary;
  run::Assumption context;
  uint64_t budget = 0, needed = 0;
  Verdict verdict = Verdict::kWithin;
  std::optional<RanOut> ran_out;
  std::vector<analysis::Group> sites;  // of what is there at the peak, most bytes first

  bool within() const { return verdict == Verdict::kWithin; }
  uint64_t over() const { return needed > budget ? needed - budget : 0; }
};

// A budget is what the device must hold: the reserved memory and the CUDA context beside it.
// `context`: what the caller says of it; else what the trace does, or the default GPU's.
// kFailedPrecondition: the trace can't be compared with a budget.
absl::StatusOr<Judged> Judge(std::shared_ptr<const trace::Trace> trace, uint64_t budget,
                             const std::optional<run::Assumption>& context);

std::string VerdictText(const Judged& judged);  // one line
std::string JudgedText(const Judged& judged);   // and what is at the peak
Json JudgedJson(const Judged& judged);
// A section of a CI job's summary, of `what`.
std::string JudgedMarkdown(const Judged& judged, const std::string& what);

}  // namespace vramscope::cli
