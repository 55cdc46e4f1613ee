// `explain FILE`: explains how memory is used.
#include "app/cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/time_text.h"
#include "profiler/base/i18n.h"
#include "profiler/replay/releases.h"
#include "profiler/run/alloc_conf.h"

namespace vramscope::cli::explain_command {
namespace {

using trace::EventIndex;

struct Options {
  std::string file, at, page;
  bool findings = false;  // --page findings
  int64_t event = -1;
  std::string sort = "held";
  size_t top = 20;
  std::vector<std::string> alloc_confs;
  bool no_replay = false;
  RangeOptions range;
  bool json = false;
};

// Returns the event to explain: the requested event, or the first failed allocation, or the peak.
EventIndex TimeTextOf(const trace::Trace& trace, std::optional<EventIndex> asked) {
  if (asked) return *asked;
  const auto& kinds = trace.events.kind;
  const auto oom = std::find(kinds.begin(), kinds.end(), trace::EventKind::kOutOfMemory);
  if (oom != kinds.end()) return static_cast<EventIndex>(oom - kinds.begin());
  return analysis::FindPeak(trace, analysis::ComputeCurves(trace)).context.event;
}

ExitCode Execute(const Options& options) {
  std::optional<int64_t> time;
  if (!options.at.empty()) {
    const absl::StatusOr<int64_t> at = ParseTime(options.at);
    if (!at.ok()) {
      NoteError("--at: " + std::string(at.status().message()));
      return kUsage;
    }
    time = *at;
  }
  for (const std::string& text : options.alloc_confs) {
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(text);
    if (!conf.ok()) {
      NoteError("--alloc-conf: " + std::string(conf.status().message()));
      return kUsage;
    }
  }
  const auto opened = OpenOneDevice(options.file, options.range);
  if (!opened.ok()) return ReportError(opened.status());
  const trace::Trace& trace = *opened->trace;
  std::optional<EventIndex> asked;
  if (time || options.event >= 0) {
    const absl::StatusOr<EventIndex> event =
        time ? EventAt(trace, *time) : EventNumbered(trace, options.event);
    if (!event.ok()) return ReportError(Named(options.file, event.status()));
    asked = *event;
  }

  if (const std::string_view why = trace::WhyNoSegments(trace);
      options.page == "segments" && !why.empty())
    return ReportError(Named(options.file, absl::FailedPreconditionError(std::string(why))));
  const auto wants = [&](std::string_view page) {
    return options.page.empty() ? page != "segments" : options.page == page;
  };
  ProgressBar bar(true);
  const auto progress = [&bar](const std::string& what) {
    return [&bar, what](double fraction) { bar.Show(fraction, what); };
  };
  ExplainPages pages;
  pages.top = options.top;
  if (options.page == "findings") pages.findings = explain::FindFindings(trace);
  if (wants("fragmentation") || wants("segments")) {
    const EventIndex moment = TimeTextOf(trace, asked);
    pages.fragmentation = explain::FragmentationAt(trace, moment);
    pages.evidence = explain::EvidenceAt(trace, moment);
    if (wants("segments")) pages.segments = explain::SegmentsAt(trace, moment);
  }
  if (wants("leaks") || wants("sites")) pages.call_sites = explain::FindCallSites(trace);
  if (wants("leaks")) pages.held_graph = explain::FindHeldGraph(trace);
  if (wants("leaks")) pages.leaks = explain::FindLeaks(trace, pages.call_sites);
  if (wants("sites")) {
    // Allocations from before the recording are included only if the trace has no
    // others, as in a snapshot without history or a recording without allocator
    // events.
    pages.sites =
        explain::UseOfSites(trace, pages.call_sites, {.older = !replay::HasHistory(trace)});
    pages.order = *explain::ParseSiteOrder(options.sort);
    explain::Sort(*pages.sites, pages.order);
  }
  if (wants("oom")) {
    absl::StatusOr<explain::OutOfMemoryPage> page = explain::ExplainOutOfMemory(
        trace, {.replay = !options.no_replay,
                .progress = progress(i18n::Text("replaying with each remedy"))});
    if (!page.ok()) return ReportError(page.status());
    pages.oom = *std::move(page);
  }
  if (wants("reclaim") && !options.no_replay) {
    absl::StatusOr<explain::Reclaim> page = explain::ComputeReclaim(
        trace, {.at = asked,
                .alloc_confs = options.alloc_confs,
                .progress = progress(i18n::Text("replaying with other settings"))});
    if (page.ok()) {
      pages.reclaim = *std::move(page);
    } else if (options.page == "reclaim" || !options.alloc_confs.empty()) {
      return ReportError(Named(options.file, page.status()));
    } else {
      pages.reclaim_error = std::string(page.status().message());
    }
  }
  bar.Clear();
  return options.json ? PrintJson(ExplainJson(trace, pages)) : PrintText(ExplainText(trace, pages));
}

void DeclareExplain(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  CLI::Option* at =
      command
          ->add_option("--at", options->at,
                       "show the memory at this time (12.5ms, 1.2s, 350us) instead of at the peak")
          ->type_name("TIME");
  AddEvent(*command, options->event)->excludes(at);
  CLI::Option* page = command
                          ->add_option("--page", options->page,
                                       "print only this page: findings, fragmentation, segments, "
                                       "reclaim, leaks, sites or oom")
                          ->check(CLI::IsMember({"findings", "fragmentation", "segments", "reclaim",
                                                 "leaks", "sites", "oom"})
                                      .description(""))
                          ->type_name("PAGE");
  command->add_flag("--findings", options->findings, "short for --page findings")->excludes(page);
  command
      ->add_option(
          "--sort", options->sort,
          "order of call sites: `held` (bytes times lifetime), `count` (number of allocations), "
          "`bytes` (total bytes), `life` (mean lifetime) or `peak` (peak bytes)")
      ->check(CLI::IsMember({"held", "count", "bytes", "life", "peak"}).description(""))
      ->type_name("BY");
  AddTop(*command, options->top);
  command
      ->add_option("--alloc-conf", options->alloc_confs,
                   "settings to replay with, in the syntax of PYTORCH_CUDA_ALLOC_CONF (repeatable)")
      ->allow_extra_args(false)
      ->type_name("S");
  command->add_flag("--no-replay", options->no_replay, "leave out everything that needs a replay");
  AddRangeOptions(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] {
    if (options->findings) options->page = "findings";
    context.exit_code = Execute(*options);
  });
}

}  // namespace

CommandEntry DeclareCommand_explain() {
  return {.place = 120,
          .name = "explain",
          .help = "explain memory use: fragmentation, unused memory, leaks, out of memory",
          .example = "explain snapshot.pickle --page reclaim --alloc-conf max_split_size_mb:128",
          .declare = DeclareExplain};
}

}  // namespace vramscope::cli::explain_command
