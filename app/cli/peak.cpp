// `peak FILE [--at TIME] [--by ...]`: memory at the peak, or at another time.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/device_memory.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "app/cli/time_text.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/run/units.h"
#include "profiler/trace/block_evidence.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli::peak_command {
namespace {

struct Options {
  std::string file, at;
  int64_t event = -1;
  std::string by = "category";
  size_t top = 20;
  RangeOptions range;
  bool json = false;
};

// Live bytes whose sizes come from a model instead of the run, for one explanation (Evidence::text)
// of the plan. ModelledOf() returns the largest group first.
struct ModelledBytes {
  trace::Evidence evidence;
  uint64_t bytes = 0, count = 0;
};
std::vector<ModelledBytes> ModelledOf(const trace::Trace& trace, const analysis::LiveSet& live) {
  const trace::BlockEvidence evidence(trace);
  std::vector<ModelledBytes> out;
  for (const auto& each : live.allocations) {
    trace::Evidence of = evidence.Of(each.id);
    if (of.kind != trace::EvidenceKind::kModelled) continue;
    auto found = std::ranges::find_if(
        out, [&](const ModelledBytes& m) { return m.evidence.text == of.text; });
    if (found == out.end()) found = out.insert(out.end(), {std::move(of), 0, 0});
    found->bytes += trace.allocations.bytes_rounded[each.id.value];
    ++found->count;
  }
  std::ranges::sort(out, std::greater{}, &ModelledBytes::bytes);
  return out;
}

Json ToJson(const trace::Trace& trace, const analysis::LiveSet& live, uint64_t peak_reserved,
            const Options& options, const analysis::GroupExpression& by,
            const std::vector<analysis::Group>& groups) {
  Json json;
  json["at"] = ContextJson(trace, live.context);
  json["allocated"] = live.allocated;
  json["requested"] = live.requested;
  json["reserved"] = live.reserved;
  json["peak_reserved"] = peak_reserved;
  json["by_category"] = CategoriesJson(live.by_category);
  json["by"] = by.Text();
  json["groups"] = Json::array();
  for (const analysis::Group& group : groups) {
    Json row = {{"name", group.name}, {"bytes", group.bytes}, {"count", group.count}};
    if (by.parts().size() > 1) row["parts"] = group.parts;
    json["groups"].push_back(std::move(row));
  }
  json["modelled"] = Json::array();
  for (const ModelledBytes& each : ModelledOf(trace, live)) {
    json["modelled"].push_back({{"bytes", each.bytes},
                                {"count", each.count},
                                {"what", each.evidence.text},
                                {"where", each.evidence.source}});
  }
  const trace::BlockEvidence evidence(trace);
  json["largest"] = Json::array();
  for (size_t i = 0; i < std::min(options.top, live.allocations.size()); ++i) {
    const uint32_t row = live.allocations[i].id.value;
    const trace::AllocationTable& t = trace.allocations;
    json["largest"].push_back({{"allocation", row},
                               {"bytes_requested", t.bytes[row]},
                               {"bytes_rounded", t.bytes_rounded[row]},
                               {"category", std::string(trace::Name(live.allocations[i].category))},
                               {"module", std::string(trace.String(t.module[row]))},
                               {"op", std::string(trace.String(t.op[row]))},
                               {"site", explain::SiteGroupOf(trace, live.allocations[i].id)},
                               {"evidence", EvidenceJson(evidence.Of(live.allocations[i].id))},
                               {"phase", std::string(trace::Name(t.phase[row]))},
                               {"step", t.step[row] < 0 ? Json() : Json(t.step[row])}});
  }
  return json;
}

std::string ToText(const trace::Trace& trace, const analysis::LiveSet& live, uint64_t peak_reserved,
                   const Options& options, const analysis::GroupExpression& by,
                   const std::vector<analysis::Group>& groups) {
  std::string text = i18n::Format("{} allocated", run::FormatBytes(live.allocated));
  text +=
      trace::SizesAreOfBlocks(trace)
          ? i18n::Text(" (the sum of the block sizes, because requested sizes are not recorded)")
          : i18n::Format(" ({} requested)", run::FormatBytes(live.requested));
  if (trace::SegmentRecordOf(trace) != trace::SegmentRecord::kNone)
    text += i18n::Format(", {} reserved", run::FormatBytes(live.reserved));
  else if (!trace::IsOfHostMemory(trace))
    text += i18n::Text("; reserved memory is not recorded");
  if (peak_reserved > live.reserved)
    text += i18n::Format("\n  (the peak of reserved memory is at another time: {})",
                         run::FormatBytes(peak_reserved));
  text += i18n::Format("\n  at {}\n\n", TimeAndContextText(trace, live.context));
  Table table({{i18n::Format("By {}", by.Text())},
               {i18n::Text("Bytes"), Table::kRight},
               {i18n::Text("Share"), Table::kRight},
               {i18n::Text("Blocks"), Table::kRight}});
  const auto row = [&](const std::string& name, uint64_t bytes, uint64_t count) {
    table.Row(
        {name.empty() ? i18n::Text("(none)") : name, run::FormatBytes(bytes),
         fmt::format("{:.1f} %", 100.0 * static_cast<double>(bytes) /
                                     static_cast<double>(std::max<uint64_t>(live.allocated, 1))),
         Count(count)});
  };
  analysis::Group rest;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i < options.top) {
      row(analysis::GroupLabel(by, groups[i]), groups[i].bytes, groups[i].count);
    } else {
      rest.bytes += groups[i].bytes;
      rest.count += groups[i].count;
    }
  }
  if (groups.size() > options.top) {
    row(i18n::Format("({} more)", groups.size() - options.top), rest.bytes, rest.count);
  }
  text += table.Text() + "\n";
  for (const ModelledBytes& each : ModelledOf(trace, live)) {
    text += Prose(i18n::Format("{} in {} blocks are modelled, not recorded. Source: {} ({})",
                               run::FormatBytes(each.bytes), Count(each.count),
                               i18n::Shown(each.evidence.text), i18n::Shown(each.evidence.source)));
  }
  Table largest({{i18n::Text("Largest"), Table::kRight},
                 {i18n::Text("Category")},
                 {i18n::Text("Step"), Table::kRight},
                 {i18n::Text("Phase")},
                 {i18n::Text("Call site")}});
  const trace::AllocationTable& t = trace.allocations;
  for (size_t i = 0; i < std::min(options.top, live.allocations.size()); ++i) {
    const uint32_t id = live.allocations[i].id.value;
    largest.Row({run::FormatBytes(t.bytes_rounded[id]),
                 i18n::Text(trace::Name(live.allocations[i].category)),
                 t.step[id] < 0 ? "-" : fmt::format("{}", t.step[id]),
                 t.phase[id] == trace::Phase::kNone ? "-" : i18n::Text(trace::Name(t.phase[id])),
                 analysis::ShownName(explain::SiteOf(trace, live.allocations[i].id).name)});
  }
  text += largest.Text();
  if (live.allocations.size() > options.top)
    text += i18n::Format("  ({} more blocks)\n", Count(live.allocations.size() - options.top));
  return text;
}

ExitCode Execute(const Options& options) {
  const absl::StatusOr<analysis::GroupExpression> by = analysis::ParseGroupExpression(options.by);
  if (!by.ok()) {
    NoteError("--by: " + std::string(by.status().message()));
    return kUsage;
  }
  absl::StatusOr<int64_t> at = 0;
  if (!options.at.empty()) {
    at = ParseTime(options.at);
    if (!at.ok()) {
      NoteError("--at: " + std::string(at.status().message()));
      return kUsage;
    }
  }
  const auto opened = OpenOneDevice(options.file, options.range);
  if (!opened.ok()) return ReportError(opened.status());
  const trace::Trace& trace = *opened->trace;
  const analysis::Peak peak = analysis::FindPeak(trace, analysis::ComputeCurves(trace));
  const absl::StatusOr<trace::EventIndex> event = options.event >= 0
                                                      ? EventNumbered(trace, options.event)
                                                  : options.at.empty() ? peak.context.event
                                                                       : EventAt(trace, *at);
  if (!event.ok()) return ReportError(Named(options.file, event.status()));
  const analysis::LiveSet live = analysis::LiveAt(trace, *event);
  const std::vector<analysis::Group> groups = by->Is(analysis::GroupBy::kStack)
                                                  ? explain::GroupBySite(trace, live)
                                                  : analysis::GroupLive(trace, live, *by);
  const explain::DeviceMemory memory = explain::DeviceMemoryHistory(trace).At(*event);
  if (options.json) {
    Json json = ToJson(trace, live, peak.reserved, options, *by, groups);
    json["device_memory"] = DeviceMemoryJson(trace, memory);
    if (opened->of_several) json["device"] = *opened->of_several;
    return PrintJson(json);
  }
  return PrintText(ToText(trace, live, peak.reserved, options, *by, groups) + "\n" +
                   DeviceMemoryText(memory));
}

void DeclarePeak(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  CLI::Option* at =
      command
          ->add_option("--at", options->at,
                       "show the memory at this time (12.5ms, 1.2s, 350us) instead of at the peak")
          ->type_name("TIME");
  AddEvent(*command, options->event)->excludes(at);
  command
      ->add_option("--by", options->by,
                   "group by category, module, op, stack, phase, file, size, age or annotation, or "
                   "by several of them, such as \"module:2, category\". \"module:*\" merges equal "
                   "layers. \"stack:3\" adds callers")
      ->type_name("HOW");
  AddTop(*command, options->top);
  AddRangeOptions(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_peak() {
  return {.place = 50,
          .name = "peak",
          .help = "show memory at the peak, or at another time",
          .example = "peak snapshot.pickle --by stack --top 10",
          .declare = DeclarePeak};
}

}  // namespace vramscope::cli::peak_command
