#include "app/cli/check_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/cli/device_memory.h"
#include "app/cli/format.h"
#include "app/cli/summary.h"
#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/device_memory.h"
#include "profiler/explain/explain.h"
#include "profiler/exporters/json_text.h"
#include "profiler/run/run_config.h"
#include "profiler/run/saturating.h"
#include "profiler/run/units.h"
#include "profiler/trace/assumptions.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli {
namespace {

using run::FormatBytes;

constexpr size_t kSites = 10;  // rows in the table of call sites at the peak

// Returns the CUDA context, whose size is added to the allocator's memory. The size that NVML
// reported in the recording is preferred to the size in the device table.
// If the recording names no GPU, the default GPU of plans is assumed.
run::Assumption ContextOf(const trace::Trace& trace) {
  const explain::DeviceMemory memory = explain::DeviceMemoryHistory(trace).At(trace.events.size());
  const auto* measured = memory.Of(explain::DeviceMemory::What::kContext);
  if (memory.asked_ns && measured != nullptr && measured->bytes > 0 && trace.info.measured)
    return {
        i18n::Text("CUDA context and libraries take the size that NVML reported in the recording"),
        "recording: NVML", static_cast<uint64_t>(measured->bytes)};
  if (trace.info.device.context_bytes > 0) return run::ContextAssumption(trace.info.device);
  run::Assumption assumed =
      run::ContextAssumption(run::FindDevice(run::RunConfig().device).value());
  assumed.what = i18n::English(
      "{}, because the recording does not contain the size of the context; set the size with "
      "--context",
      assumed.what);
  return assumed;
}

// Returns OK, or an error that says why the trace can't be compared with a budget.
absl::Status Comparable(const trace::Trace& trace) {
  if (trace.segments.size() > 0) return absl::OkStatus();
  // A plan or a recording without allocations needs only the memory of its CUDA context, unless its
  // first allocation failed. If an imported file has no allocations, they may not have been
  // recorded.
  const auto& kinds = trace.events.kind;
  const bool allocated_nothing =
      trace.allocations.size() == 0 && trace.info.backend == trace::Backend::kImported &&
      std::find(kinds.begin(), kinds.end(), trace::EventKind::kOutOfMemory) == kinds.end();
  if (allocated_nothing || trace::IsOfHostMemory(trace))
    return absl::FailedPreconditionError(i18n::Text(
        "GPU memory was not recorded, so there is nothing to compare with the budget; record a "
        "memory snapshot with torch.cuda.memory._record_memory_history(max_entries=100000)"));
  return absl::OkStatus();
}

std::optional<Judged::RanOut> FirstRanOut(const trace::Trace& trace, uint64_t context) {
  const auto& kinds = trace.events.kind;
  const auto at = std::find(kinds.begin(), kinds.end(), trace::EventKind::kOutOfMemory);
  if (at == kinds.end()) return std::nullopt;
  const auto event = static_cast<trace::EventIndex>(at - kinds.begin());
  const uint64_t reserved = trace::MemoryCursor::Behind(trace, event).sums().reserved;
  return Judged::RanOut{
      reserved, trace.events.bytes[event],
      run::AddSaturating(explain::SegmentNeededAt(trace, event), reserved + context)};
}

std::string RanOutText(const Judged::RanOut& at, uint64_t context) {
  return i18n::Format(
      "the run ran out of memory, because an allocation of {} failed when {} was already reserved. "
      "At that time, the run needed {}: the reserved memory, a segment for this allocation, and {} "
      "for the CUDA context",
      run::FormatBytes(at.asked), run::FormatBytes(at.reserved), run::FormatBytes(at.needed),
      run::FormatBytes(context));
}

// Returns the names of the categories and their bytes, largest first.
std::vector<std::pair<uint64_t, std::string>> CategoriesOf(const analysis::Summary& summary) {
  std::vector<std::pair<uint64_t, std::string>> rows;
  for (int c = 0; c < trace::kCategoryCount; ++c)
    if (const uint64_t bytes = summary.peak.by_category[static_cast<size_t>(c)]; bytes > 0)
      rows.emplace_back(bytes, i18n::Text(trace::Name(static_cast<trace::Category>(c))));
  std::ranges::stable_sort(rows, std::greater{}, &std::pair<uint64_t, std::string>::first);
  return rows;
}

std::string Share(uint64_t bytes, const analysis::Summary& summary) {
  const uint64_t all = std::max<uint64_t>(summary.peak.allocated, 1);
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(bytes) / static_cast<double>(all));
}

// Escapes text from files, such as names, for a cell of a Markdown table.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : exporters::XmlText(Printable(text))) {
    if (c == '|' || c == '`' || c == '*' || c == '_' || c == '[' || c == ']' || c == '\\')
      out += '\\';
    out += c == '\n' || c == '\t' ? ' ' : c;
  }
  return out;
}

std::string PartsText(const Judged& judged) {
  const analysis::Summary& summary = judged.summary;
  if (summary.most_used.sum() < summary.peak.allocated)
    return i18n::Format("{} allocated + {} CUDA context; reserved memory is not known",
                        FormatBytes(summary.peak.allocated), FormatBytes(judged.context.bytes));
  return i18n::Format("{} + {} CUDA context", UseText(judged.summary.most_used),
                      FormatBytes(judged.context.bytes));
}

}  // namespace

absl::StatusOr<Judged> Judge(std::shared_ptr<const trace::Trace> trace, uint64_t budget,
                             const std::optional<run::Assumption>& context) {
  if (absl::Status status = Comparable(*trace); !status.ok()) return status;
  Judged judged;
  judged.trace = std::move(trace);
  const trace::Trace& t = *judged.trace;
  judged.budget = budget;
  judged.context = context ? *context : ContextOf(t);
  judged.summary = analysis::Summarize(t, analysis::ComputeCurves(t));
  const analysis::Summary& summary = judged.summary;
  // In contradictory files, more is allocated than reserved.
  const bool reserved_known = trace::SegmentRecordOf(t) != trace::SegmentRecord::kNone &&
                              summary.peak.reserved_then >= summary.peak.allocated;
  judged.needed = summary.needed() + judged.context.bytes;
  // If a run stopped at a failed allocation, the memory that it needs after that is unknown.
  if (summary.out_of_memory && !summary.went_on)
    judged.ran_out = FirstRanOut(t, judged.context.bytes);
  if (judged.ran_out) judged.needed = std::max(judged.needed, judged.ran_out->needed);
  if (judged.needed > budget)
    judged.verdict = Judged::Verdict::kOver;
  else if (judged.ran_out)
    judged.verdict = Judged::Verdict::kUnknown;
  else if (!reserved_known)
    return absl::FailedPreconditionError(
        i18n::Format("it is unknown whether the run fits the budget, because reserved memory was "
                     "not recorded. The allocated memory ({}) and the CUDA context ({}) fit, but "
                     "the run may have reserved more memory",
                     FormatBytes(summary.peak.allocated), FormatBytes(judged.context.bytes)));
  if (summary.peak.allocated > 0)
    judged.sites = explain::GroupBySite(t, analysis::LiveAt(t, summary.peak.context.event));
  return judged;
}

std::string VerdictText(const Judged& judged) {
  switch (judged.verdict) {
    case Judged::Verdict::kWithin:
      return i18n::Format("within the budget: needs {} ({}), {} less than the budget of {}\n",
                          FormatBytes(judged.needed), PartsText(judged),
                          FormatBytes(judged.budget - judged.needed), FormatBytes(judged.budget));
    case Judged::Verdict::kOver:
      if (judged.ran_out)
        return i18n::Format(
            "over the budget: needs at least {} ({}), {} more than the budget of {}; {}\n",
            FormatBytes(judged.needed), PartsText(judged), FormatBytes(judged.over()),
            FormatBytes(judged.budget), RanOutText(*judged.ran_out, judged.context.bytes));
      return i18n::Format("over the budget: needs {} ({}), {} more than the budget of {}\n",
                          FormatBytes(judged.needed), PartsText(judged), FormatBytes(judged.over()),
                          FormatBytes(judged.budget));
    case Judged::Verdict::kUnknown:
      break;
  }
  std::string text = i18n::Format(
      "it is unknown whether the run fits the budget: {}. A budget of {} is enough for the "
      "failed allocation, but it is unknown how much memory the run needs afterwards",
      RanOutText(*judged.ran_out, judged.context.bytes), FormatBytes(judged.budget));
  // A plan continues after it has reached its limit. With a higher limit, the allocator would have
  // kept more memory cached, so the plan would have needed more.
  if (const trace::TraceInfo& info = judged.trace->info; info.has_config && !info.measured)
    text += i18n::Format(
        ". With {} of GPU memory, the planned run needs {}. On a GPU with a different amount of "
        "memory, the run may need more or less. To be certain, plan the run with --gpu-memory {}B",
        FormatBytes(info.device.memory_bytes), FormatBytes(judged.needed), judged.budget);
  return text + "\n";
}

std::string JudgedText(const Judged& judged) {
  const analysis::Summary& summary = judged.summary;
  std::string text = VerdictText(judged);
  if (summary.peak.allocated == 0) return text;
  text += i18n::Format("\n  Allocated at the peak: {} ({})\n", FormatBytes(summary.peak.allocated),
                       TimeAndContextText(*judged.trace, summary.peak.context));
  Table table({{i18n::Text("Category")},
               {i18n::Text("Bytes"), Table::kRight},
               {i18n::Text("Share"), Table::kRight}});
  for (const auto& [bytes, name] : CategoriesOf(summary))
    table.Row({name, FormatBytes(bytes), Share(bytes, summary)});
  Table sites({{i18n::Text("Call site")},
               {i18n::Text("Bytes"), Table::kRight},
               {i18n::Text("Blocks"), Table::kRight}});
  for (size_t i = 0; i < std::min(kSites, judged.sites.size()); ++i)
    sites.Row({analysis::ShownName(judged.sites[i].name), FormatBytes(judged.sites[i].bytes),
               Count(judged.sites[i].count)});
  return text + table.Text() + "\n" + sites.Text();
}

Json JudgedJson(const Judged& judged) {
  const analysis::Summary& summary = judged.summary;
  Json json;
  json["within_budget"] = judged.within();
  json["verdict"] = judged.within()                               ? "within"
                    : judged.verdict == Judged::Verdict::kUnknown ? "unknown"
                                                                  : "over";
  json["budget"] = judged.budget;
  json["needed"] = judged.needed;
  json["over"] = judged.over();
  json["context"] = judged.context.bytes;
  json["past_allocator"] = summary.most_used.past_allocator;
  json["out_of_memory"] = summary.out_of_memory;
  json["went_on"] = summary.went_on;
  json["ran_out_at"] = Json();
  if (judged.ran_out)
    json["ran_out_at"] = {{"reserved", judged.ran_out->reserved},
                          {"asked", judged.ran_out->asked},
                          {"needed", judged.ran_out->needed}};
  json["device"] = judged.trace->info.device.key;
  json["device_name"] = judged.trace->info.device.name;
  json["measured"] = judged.trace->info.measured;
  Json peak{{"allocated", summary.peak.allocated},
            {"reserved", summary.peak.reserved},
            {"reserved_then", summary.peak.reserved_then}};
  peak.update(ContextJson(*judged.trace, summary.peak.context));
  json["peak"] = std::move(peak);
  json["peak_by_category"] = CategoriesJson(summary.peak.by_category);
  json["sites"] = Json::array();
  for (size_t i = 0; i < std::min(kSites, judged.sites.size()); ++i)
    json["sites"].push_back({{"name", judged.sites[i].name},
                             {"bytes", judged.sites[i].bytes},
                             {"count", judged.sites[i].count}});
  std::vector<run::Assumption> assumptions = trace::AssumptionsOf(*judged.trace);
  std::erase_if(assumptions,
                [&](const run::Assumption& a) { return a.where == judged.context.where; });
  assumptions.insert(assumptions.begin(), judged.context);
  json["assumptions"] = AssumptionsJson(assumptions);
  return json;
}

JudgedHost JudgeHost(const trace::Trace& trace, uint64_t budget) {
  JudgedHost host{.memory = analysis::HostMemoryOf(trace), .budget = budget};
  if (!host.memory.recorded)
    host.verdict = Judged::Verdict::kUnknown;
  else if (host.memory.peak > budget)
    host.verdict = Judged::Verdict::kOver;
  return host;
}

std::string VerdictText(const JudgedHost& host) {
  const std::string needed = FormatBytes(host.memory.peak), budget = FormatBytes(host.budget);
  switch (host.verdict) {
    case Judged::Verdict::kWithin:
      return i18n::Format(
          "host memory within the budget: needs {} (pinned and managed), {} less than the budget "
          "of {}\n",
          needed, FormatBytes(host.budget - host.memory.peak), budget);
    case Judged::Verdict::kOver:
      return i18n::Format(
          "host memory over the budget: needs {} (pinned and managed), {} more than the budget of "
          "{}\n",
          needed, FormatBytes(host.memory.peak - host.budget), budget);
    case Judged::Verdict::kUnknown:
      break;
  }
  return i18n::Text(
      "it is unknown whether host memory fits the budget, because not all of the driver's "
      "allocations were recorded (possible reasons: --no-activities, a built-in model, or memory "
      "pinned before CUDA was initialized)\n");
}

std::string JudgedText(const JudgedHost& host) {
  std::string text = VerdictText(host);
  if (host.memory.sites.empty()) return text;
  text += LargestText(host.memory) + "\n";
  Table table({{i18n::Text("Host memory, by call site")},
               {i18n::Text("Kind")},
               {i18n::Text("Bytes"), Table::kRight},
               {i18n::Text("Blocks"), Table::kRight}});
  for (size_t i = 0; i < std::min(kSites, host.memory.sites.size()); ++i) {
    const analysis::HostMemory::Site& site = host.memory.sites[i];
    table.Row({Printable(analysis::ShownName(site.name)), i18n::Text(trace::Name(site.space)),
               FormatBytes(site.bytes), Count(site.count)});
  }
  return text + "\n" + table.Text();
}

Json JudgedJson(const JudgedHost& host) {
  Json json{{"budget", host.budget},
            {"within_budget", Json()},
            {"needed", Json()},
            {"peak_ns", Json()},
            {"sites", HostSitesJson(host.memory)}};
  if (host.verdict == Judged::Verdict::kUnknown) return json;
  json["within_budget"] = host.verdict == Judged::Verdict::kWithin;
  json["needed"] = host.memory.peak;
  json["peak_ns"] = host.memory.peak_ns;
  return json;
}

std::string JudgedMarkdown(const Judged& judged, const JudgedHost* host, const std::string& what) {
  const i18n::InEnglish english;
  const analysis::Summary& summary = judged.summary;
  const bool host_fits = host == nullptr || host->verdict == Judged::Verdict::kWithin;
  const std::string_view mark = judged.within() && host_fits ? "&#x2705;" : "&#x274C;";
  std::string verdict = VerdictText(judged);
  verdict.pop_back();  // the final newline
  std::string text = fmt::format("### {} GPU memory: {}\n\n{} ({}, {}).\n\n", mark, Cell(what),
                                 Cell(verdict), Cell(judged.trace->info.device.name),
                                 judged.trace->info.measured ? "measured" : "planned");
  if (host != nullptr) {
    std::string of_host = VerdictText(*host);
    of_host.pop_back();
    text += Cell(of_host) + ".\n\n";
    if (!host->memory.sites.empty()) text += Cell(LargestText(host->memory)) + ".\n\n";
  }
  if (summary.peak.allocated == 0) return text;
  text +=
      fmt::format("Allocated at the peak: {} ({})\n\n| Category | Bytes | Share |\n|---|--:|--:|\n",
                  FormatBytes(summary.peak.allocated),
                  Cell(TimeAndContextText(*judged.trace, summary.peak.context)));
  for (const auto& [bytes, name] : CategoriesOf(summary))
    text +=
        fmt::format("| {} | {} | {} |\n", Cell(name), FormatBytes(bytes), Share(bytes, summary));
  text += "\n| Call site | Bytes | Blocks |\n|---|--:|--:|\n";
  for (size_t i = 0; i < std::min(kSites, judged.sites.size()); ++i)
    text += fmt::format("| {} | {} | {} |\n", Cell(judged.sites[i].name),
                        FormatBytes(judged.sites[i].bytes), Count(judged.sites[i].count));
  return text + "\n";
}

}  // namespace vramscope::cli
