// `check [RUN|FILE] --budget SIZE`: exit 1 when the run needs more.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/input.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/worker_run.h"
#include "profiler/analysis/analysis.h"
#include "profiler/explain/device_memory.h"
#include "profiler/explain/explain.h"
#include "profiler/fit/fit.h"
#include "profiler/run/check_run.h"
#include "profiler/run/saturating.h"
#include "profiler/run/units.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli {
namespace {

struct Options {
  RunOptions run;
  RangeOptions range;
  std::string file, budget, context;
  bool json = false;
};

// Sizes, or a name of the device table, whose context is meant.
absl::StatusOr<run::Assumption> ParseContext(const std::string& text) {
  const absl::StatusOr<run::DeviceProfile> device = run::FindDevice(text);
  if (device.ok()) return run::ContextAssumption(*device);
  const absl::StatusOr<uint64_t> bytes = run::ParseBytes(text);
  if (bytes.ok())
    return run::Assumption{"CUDA context and libraries take what was given", "--context", *bytes};
  return absl::InvalidArgumentError(std::string(bytes.status().message()) +
                                    ", and no name of `vramscope devices`");
}

// The CUDA context beside the allocator's memory: what NVML said in the recording; else of the GPU
// that it states, from the device table. A recording that states neither is taken to have run on
// the device that plans are made for.
run::Assumption ContextOf(const trace::Trace& trace, const Options& options) {
  if (!options.context.empty()) return ParseContext(options.context).value();
  const explain::DeviceMemory memory = explain::DeviceMemoryHistory(trace).At(trace.events.size());
  const auto* measured = memory.Of(explain::DeviceMemory::What::kContext);
  if (memory.asked_ns && measured != nullptr && measured->bytes > 0 && trace.info.measured)
    return {"CUDA context and libraries take what NVML said in the recording", "recording: NVML",
            static_cast<uint64_t>(measured->bytes)};
  if (trace.info.device.context_bytes > 0) return run::ContextAssumption(trace.info.device);
  run::Assumption assumed =
      run::ContextAssumption(run::FindDevice(run::RunConfig().device).value());
  assumed.what += ", as for a plan; a recording does not say (--context does)";
  return assumed;
}

// Why the trace can't be compared with a budget; OK where it can.
absl::Status Comparable(const trace::Trace& trace) {
  if (trace.segments.size() == 0 && (trace.allocations.size() == 0 || trace::IsOfHostMemory(trace)))
    return absl::FailedPreconditionError(
        "GPU memory was not recorded, so that there is nothing to compare with a budget. Record a "
        "memory snapshot with torch.cuda.memory._record_memory_history(max_entries=100000)");
  return absl::OkStatus();
}

// The first request that did not fit: what the card would have needed for it.
struct RanOut {
  uint64_t reserved = 0, asked = 0;
  uint64_t needed = 0;  // of the card, with what was reserved and the context
};
std::optional<RanOut> FirstRanOut(const trace::Trace& trace, uint64_t context) {
  const auto& kinds = trace.events.kind;
  const auto at = std::find(kinds.begin(), kinds.end(), trace::EventKind::kOutOfMemory);
  if (at == kinds.end()) return std::nullopt;
  const auto event = static_cast<trace::EventIndex>(at - kinds.begin());
  const uint64_t reserved = trace::MemoryCursor::Behind(trace, event).sums().reserved;
  return RanOut{reserved, trace.events.bytes[event],
                run::AddSaturating(explain::SegmentNeededAt(trace, event), reserved + context)};
}

struct Verdict {
  enum class Kind : uint8_t { kWithin, kOver, kUnknown };
  Kind kind = Kind::kWithin;
  uint64_t needed = 0;
  std::optional<RanOut> ran_out;
};

// A budget is what the device must hold: the reserved memory and the CUDA context beside it. A run
// that ran out of memory is known up to the request that failed, and no further.
Verdict VerdictOf(const trace::Trace& trace, const analysis::Summary& summary, uint64_t context,
                  uint64_t budget) {
  Verdict v;
  v.needed = summary.most_used.sum() + context;
  const bool reserved_known = trace::SegmentRecordOf(trace) != trace::SegmentRecord::kNone;
  if (!reserved_known) v.needed = summary.peak.allocated + context;
  if (summary.out_of_memory && !summary.went_on) v.ran_out = FirstRanOut(trace, context);
  if (v.ran_out) v.needed = std::max(v.needed, v.ran_out->needed);
  if (v.needed > budget)
    v.kind = Verdict::Kind::kOver;
  else if (v.ran_out || !reserved_known)
    v.kind = Verdict::Kind::kUnknown;
  return v;
}

std::string RanOutText(const RanOut& at, uint64_t context) {
  return fmt::format(
      "the run ran out of memory: {} were asked for with {} reserved, which takes {} with {} CUDA "
      "context",
      run::FormatBytes(at.asked), run::FormatBytes(at.reserved), run::FormatBytes(at.needed),
      run::FormatBytes(context));
}

std::string VerdictText(const Verdict& v, const analysis::Summary& summary, uint64_t context,
                        uint64_t budget) {
  const std::string parts =
      fmt::format("{} + {} CUDA context", UseText(summary.most_used), run::FormatBytes(context));
  switch (v.kind) {
    case Verdict::Kind::kWithin:
      return fmt::format("within the budget: needs {} ({}), budget {}: {} to spare\n",
                         run::FormatBytes(v.needed), parts, run::FormatBytes(budget),
                         run::FormatBytes(budget - v.needed));
    case Verdict::Kind::kOver:
      return fmt::format("over the budget: needs {}{} ({}), budget {}: {} too much{}\n",
                         v.ran_out ? "at least " : "", run::FormatBytes(v.needed), parts,
                         run::FormatBytes(budget), run::FormatBytes(v.needed - budget),
                         v.ran_out ? "; " + RanOutText(*v.ran_out, context) : std::string());
    case Verdict::Kind::kUnknown:
      break;
  }
  if (!v.ran_out) return "";
  return fmt::format(
      "not known to fit: {}. A budget of {} would have granted that allocation; what follows is "
      "unknown\n",
      RanOutText(*v.ran_out, context), run::FormatBytes(budget));
}

ExitCode Judge(const std::string& file, const trace::Trace& trace, uint64_t budget,
               const Options& options) {
  if (const absl::Status status = Comparable(trace); !status.ok())
    return ReportError(file.empty() ? status : Named(file, status));
  const analysis::Summary summary = analysis::Summarize(trace, analysis::ComputeCurves(trace));
  const run::Assumption assumed = ContextOf(trace, options);
  const uint64_t context = assumed.bytes;
  const Verdict verdict = VerdictOf(trace, summary, context, budget);
  if (verdict.kind == Verdict::Kind::kUnknown && !verdict.ran_out)
    return ReportError(Named(
        file, absl::FailedPreconditionError(fmt::format(
                  "how much was reserved is not recorded: {} allocated and {} CUDA context are "
                  "within the budget, but more was reserved than that",
                  run::FormatBytes(summary.peak.allocated), run::FormatBytes(context)))));
  const bool within = verdict.kind == Verdict::Kind::kWithin;
  const uint64_t needed = verdict.needed;
  ExitCode printed;
  if (options.json) {
    Json json;
    json["within_budget"] = within;
    json["verdict"] = within                                    ? "within"
                      : verdict.kind == Verdict::Kind::kUnknown ? "unknown"
                                                                : "over";
    json["budget"] = budget;
    json["needed"] = needed;
    json["over"] = needed > budget ? needed - budget : 0;
    json["context"] = context;
    json["past_allocator"] = summary.most_used.past_allocator;
    json["out_of_memory"] = summary.out_of_memory;
    json["went_on"] = summary.went_on;
    json["ran_out_at"] = Json();
    if (verdict.ran_out)
      json["ran_out_at"] = {{"reserved", verdict.ran_out->reserved},
                            {"asked", verdict.ran_out->asked},
                            {"needed", verdict.ran_out->needed}};
    json["peak"] = {{"allocated", summary.peak.allocated},
                    {"reserved", summary.peak.reserved},
                    {"reserved_then", summary.peak.reserved_then}};
    json["peak_by_category"] = CategoriesJson(summary.peak.by_category);
    json["assumptions"] = AssumptionsJson({assumed});
    printed = PrintJson(json);
  } else {
    printed =
        PrintText(VerdictText(verdict, summary, context, budget) + AssumptionsText({assumed}));
  }
  if (printed != kDone) return printed;
  // What the file does not tell is no "no": it is told apart by the status, too.
  if (verdict.kind == Verdict::Kind::kUnknown) return kBadInput;
  return within ? kDone : kNo;
}

ExitCode Execute(const Options& options) {
  const absl::StatusOr<uint64_t> budget = ParseBudget(options.budget);
  if (!budget.ok()) {
    Note("error: " + std::string(budget.status().message()));
    return kUsage;
  }
  if (!options.context.empty()) {
    const absl::StatusOr<run::Assumption> context = ParseContext(options.context);
    if (!context.ok()) {
      Note("error: --context: " + std::string(context.status().message()));
      return kUsage;
    }
  }
  if (!options.file.empty()) {
    if (options.run.given()) {
      Note("error: check takes a FILE or a RUN (--preset, --model, --config, --set), not both");
      return kUsage;
    }
    const auto opened = OpenOneDevice(options.file, options.range);
    if (!opened.ok()) return ReportError(opened.status());
    return Judge(options.file, *opened->trace, *budget, options);
  }
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, run::Backend::kPlan);
  if (!config.ok()) return ReportError(config.status());
  const WorkerRun result = RunInWorker(fit::UnderBudget(*config, *budget));
  if (!result.status.ok()) return ReportError(result.status);
  if (result.trace == nullptr) return ReportError(absl::InternalError("the run left no trace"));
  return Judge("", *result.trace, *budget, options);
}

}  // namespace

void RegisterCheck(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("check", "exit 1 when a run or a trace needs more memory");
  command->footer(
      "Exit status: 1 when more is needed than the budget, 3 when the file does not tell (it ran out "
      "of memory and the budget would have granted that request; no reserved memory recorded).\n" +
      command->get_footer());
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file,
                      "a .trace or CUDA memory snapshot; without it RUN is planned");
  AddRunOptions(*command, options->run);
  AddDevice(*command, options->range);
  command->add_option("--budget", options->budget, "what the device may hold, as 24GiB")
      ->required()
      ->type_name("SIZE");
  command
      ->add_option(
          "--context", options->context,
          "what the CUDA context takes beside the allocator's memory: 450MiB, or that of a "
          "GPU of `vramscope devices`; default: of the run's device, for a recording of " +
              run::RunConfig().device)
      ->type_name("SIZE|NAME");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
