// `diff A B`: compares the peak bytes of two traces by step, phase and category. `diff A B --by
// stack`: compares how much each call site has allocated at the peaks. `diff --requests A B`:
// aligns the allocations and frees of one step of A and B. `diff --prediction PLAN RECORDING`: see
// diff_prediction.h.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/diff_prediction.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/requests.h"
#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/run/units.h"

namespace vramscope::cli::diff_command {
namespace {

struct Options {
  std::string a, b, by;
  size_t top = 30;
  bool requests = false, prediction = false;
  int step = -1;
  RangeOptions range;
  bool json = false;
};

int64_t Delta(uint64_t a, uint64_t b) { return static_cast<int64_t>(b - a); }

Json Sides(uint64_t a, uint64_t b) { return {{"a", a}, {"b", b}, {"delta", Delta(a, b)}}; }

// The rows are already ordered by step, phase and category.
Json StepsJson(const std::vector<analysis::DiffRow>& rows) {
  Json steps = Json::array();
  for (const analysis::DiffRow& row : rows) {
    if (steps.empty() || steps.back()["index"] != row.step) {
      steps.push_back({{"index", row.step}, {"phases", Json::array()}});
    }
    Json& phases = steps.back()["phases"];
    const std::string phase(trace::Name(row.phase));
    if (phases.empty() || phases.back()["phase"] != phase) {
      phases.push_back({{"phase", phase}, {"categories", Json::object()}});
    }
    phases.back()["categories"][std::string(trace::Name(row.category))] = Sides(row.a, row.b);
  }
  return steps;
}

// Returns "A  a.pickle: 6.54 GiB allocated at 105.07 ms, step 0, optimizer; 6.74 GiB reserved at
// most".
std::string Side(std::string_view which, const std::string& file, const trace::Trace& trace,
                 const analysis::Peak& peak) {
  return Prose(i18n::Format("{}  {}: {} allocated at {}, at most {} reserved", which,
                            DisplayName(file), run::FormatBytes(peak.allocated),
                            TimeAndContextText(trace, peak.context),
                            run::FormatBytes(peak.reserved)));
}

// The comparison of one device that both files contain.
struct DeviceDiff {
  analysis::DevicePair of;
  analysis::Peak a, b;
  std::vector<analysis::DiffRow> rows = {};
  bool equal = false;
};

DeviceDiff TotalsOf(analysis::DevicePair of) {
  DeviceDiff d{.of = std::move(of)};
  d.a = analysis::FindPeak(*d.of.a, analysis::ComputeCurves(*d.of.a));
  d.b = analysis::FindPeak(*d.of.b, analysis::ComputeCurves(*d.of.b));
  d.rows = analysis::Diff(*d.of.a, *d.of.b);
  d.equal = d.a.allocated == d.b.allocated && d.a.reserved == d.b.reserved &&
            std::ranges::all_of(d.rows, [](const auto& row) { return row.a == row.b; });
  return d;
}

// A pair of traces for each device that A and B contain. Devices are not added up.
struct Pairs {
  std::vector<analysis::DevicePair> pairs;
  size_t shown = 0;  // the device of B whose `peak` is shown
};

absl::StatusOr<Pairs> OpenPairs(const Options& options) {
  const auto a = OpenTrace(options.a, options.range);
  if (!a.ok()) return a.status();
  const auto b = OpenTrace(options.b, options.range);
  if (!b.ok()) return b.status();
  Pairs out{.pairs = analysis::DevicePairs(*a, *b)};
  const std::optional<uint8_t> shown = analysis::DeviceToShow(*b);
  for (size_t i = 0; i < out.pairs.size(); ++i)
    if (shown ? out.pairs[i].device == *shown : trace::DevicesOf(*out.pairs[i].b).size() == 1)
      out.shown = i;
  return out;
}

// Returns the figures of the shown device. If there are several devices, also lists the figures of
// each device.
template <class Of, class ToJson>
Json DevicesJson(const std::vector<Of>& devices, size_t shown, bool equal, ToJson json_of) {
  Json json = json_of(devices[shown]);
  json["equal"] = equal;
  if (devices.size() == 1) return json;
  json["devices"] = Json::array();
  for (const Of& d : devices) json["devices"].push_back(json_of(d));
  return json;
}

std::string DeviceHeading(const std::vector<analysis::DevicePair>& pairs, size_t i) {
  if (pairs.size() == 1) return "";
  return fmt::format("{}cuda:{}\n", i == 0 ? "" : "\n", pairs[i].device);
}

Json ToJson(const DeviceDiff& of) {
  return {{"device", of.of.device},
          {"peak",
           {{"allocated", Sides(of.a.allocated, of.b.allocated)},
            {"reserved", Sides(of.a.reserved, of.b.reserved)}}},
          {"steps", StepsJson(of.rows)}};
}

std::string Text(const Options& options, const DeviceDiff& of) {
  Table table({{i18n::Text("Step"), Table::kRight},
               {i18n::Text("Phase")},
               {i18n::Text("Category")},
               {"A", Table::kRight},
               {"B", Table::kRight},
               {"B - A", Table::kRight}});
  for (const analysis::DiffRow& row : of.rows) {
    if (row.a == row.b) continue;
    table.Row({row.step < 0 ? "-" : fmt::format("{}", row.step),
               row.phase == trace::Phase::kNone ? "-" : i18n::Text(trace::Name(row.phase)),
               i18n::Text(trace::Name(row.category)), run::FormatBytes(row.a),
               run::FormatBytes(row.b), SignedBytes(Delta(row.a, row.b))});
  }
  std::string text = i18n::Format(
      "At the peaks\n{}{}\n  peak allocated  {} -> {} ({})\n  peak reserved   {} -> {} ({})\n\n",
      Side("A", options.a, *of.of.a, of.a), Side("B", options.b, *of.of.b, of.b),
      run::FormatBytes(of.a.allocated), run::FormatBytes(of.b.allocated),
      SignedBytes(Delta(of.a.allocated, of.b.allocated)), run::FormatBytes(of.a.reserved),
      run::FormatBytes(of.b.reserved), SignedBytes(Delta(of.a.reserved, of.b.reserved)));
  return text +
         (of.equal ? i18n::Text("No difference in any step, phase or category.\n")
                   : i18n::Text(
                         "Categories whose maximum differs between A and B, by step and phase\n") +
                         table.Text());
}

ExitCode DiffTotals(const Options& options) {
  absl::StatusOr<Pairs> files = OpenPairs(options);
  if (!files.ok()) return ReportError(files.status());
  std::vector<DeviceDiff> devices;
  for (const analysis::DevicePair& pair : files->pairs) devices.push_back(TotalsOf(pair));
  const bool equal = std::ranges::all_of(devices, &DeviceDiff::equal);
  std::string text;
  if (!options.json)
    for (size_t i = 0; i < devices.size(); ++i)
      text += DeviceHeading(files->pairs, i) + Text(options, devices[i]);
  const ExitCode printed =
      options.json ? PrintJson(DevicesJson(devices, files->shown, equal,
                                           [](const DeviceDiff& d) { return ToJson(d); }))
                   : PrintText(text);
  return printed != kDone ? printed : equal ? kDone : kNo;
}

std::string StepCell(bool there, uint64_t bytes) { return there ? run::FormatBytes(bytes) : "-"; }

// The comparison of one device, call site by call site.
struct SitesDiff {
  analysis::DevicePair of;
  explain::TraceDiff diff;
  bool equal() const {
    return std::ranges::all_of(diff.sites, [](const auto& s) {
      return s.change == explain::TraceDiff::Change::kSame && s.a_count == s.b_count;
    });
  }
};

Json SitesJson(const SitesDiff& of) {
  const explain::TraceDiff& diff = of.diff;
  Json json;
  json["equal"] = of.equal();
  json["headline"] = diff.headline;
  json["device"] = of.of.device;
  json["peak"] = {{"allocated", Sides(diff.a.allocated, diff.b.allocated)},
                  {"reserved", Sides(diff.a.reserved, diff.b.reserved)},
                  {"at_a", ContextJson(*of.of.a, diff.a.context)},
                  {"at_b", ContextJson(*of.of.b, diff.b.context)}};
  json["matched_by"] = diff.by_stack ? "stack" : "module and op";
  json["steps"] = Json::array();
  for (const explain::TraceDiff::Step& s : diff.steps) {
    const auto pair = [&s](uint64_t a, uint64_t b) {
      return Json{{"a", s.in_a ? Json(a) : Json()}, {"b", s.in_b ? Json(b) : Json()}};
    };
    json["steps"].push_back({{"index", s.step},
                             {"peak_allocated", pair(s.a_peak, s.b_peak)},
                             {"peak_reserved", pair(s.a_reserved, s.b_reserved)}});
  }
  json["sites"] = Json::array();
  for (const explain::TraceDiff::Site& s : diff.sites) {
    Json site = Sides(s.a_bytes, s.b_bytes);
    site["name"] = s.name;
    site["change"] = std::string(explain::Name(s.change));
    site["category"] = std::string(trace::Name(s.category));
    site["count"] = Sides(s.a_count, s.b_count);
    json["sites"].push_back(std::move(site));
  }
  return json;
}

std::string SitesText(const Options& options, const SitesDiff& of) {
  const explain::TraceDiff& diff = of.diff;
  std::string text = Prose(diff.headline);
  if (!diff.by_stack)
    text +=
        Prose(i18n::Text("Call sites are matched by module and op, because at least one of the "
                         "files has no stacks."));
  text += "\n" + i18n::Text("At the peaks") + "\n" + Side("A", options.a, *of.of.a, diff.a) +
          Side("B", options.b, *of.of.b, diff.b);
  Table steps({{i18n::Text("Step"), Table::kRight},
               {i18n::Text("A's peak"), Table::kRight},
               {i18n::Text("B's peak"), Table::kRight},
               {i18n::Text("A reserved"), Table::kRight},
               {i18n::Text("B reserved"), Table::kRight}});
  for (size_t i = 0; i < std::min(diff.steps.size(), options.top); ++i) {
    const explain::TraceDiff::Step& s = diff.steps[i];
    steps.Row({s.step < 0 ? i18n::Text("all") : fmt::format("{}", s.step),
               StepCell(s.in_a, s.a_peak), StepCell(s.in_b, s.b_peak),
               StepCell(s.in_a, s.a_reserved), StepCell(s.in_b, s.b_reserved)});
  }
  text += "\n" + steps.Text();
  if (diff.steps.size() > options.top) {
    text += i18n::Format("  ({} more steps)\n", diff.steps.size() - options.top);
  }
  Table table({{"B - A", Table::kRight},
               {"A", Table::kRight},
               {"B", Table::kRight},
               {i18n::Text("Blocks"), Table::kRight},
               {i18n::Text("Change")},
               {i18n::Text("Category")},
               {i18n::Text("Call site")}});
  size_t shown = 0, changed = 0;
  for (const explain::TraceDiff::Site& s : diff.sites) {
    if (s.change == explain::TraceDiff::Change::kSame) continue;
    if (++changed > options.top) continue;
    ++shown;
    table.Row({SignedBytes(s.delta()), run::FormatBytes(s.a_bytes), run::FormatBytes(s.b_bytes),
               fmt::format("{} -> {}", Count(s.a_count), Count(s.b_count)),
               i18n::Text(explain::Name(s.change)), i18n::Text(trace::Name(s.category)),
               analysis::ShownName(s.name)});
  }
  if (changed > 0) text += "\n" + table.Text();
  if (changed > shown) text += i18n::Format("  ({} more call sites)\n", changed - shown);
  return text;
}

ExitCode DiffSites(const Options& options) {
  absl::StatusOr<Pairs> files = OpenPairs(options);
  if (!files.ok()) return ReportError(files.status());
  const auto step = options.step < 0 ? std::nullopt : std::optional<int32_t>(options.step);
  std::vector<SitesDiff> devices;
  for (const analysis::DevicePair& pair : files->pairs) {
    absl::StatusOr<explain::TraceDiff> diff = explain::DiffTraces(*pair.a, *pair.b, step);
    if (!diff.ok()) return ReportError(diff.status());
    devices.push_back({.of = pair, .diff = *std::move(diff)});
  }
  const bool equal = std::ranges::all_of(devices, &SitesDiff::equal);
  std::string text;
  if (!options.json)
    for (size_t i = 0; i < devices.size(); ++i)
      text += DeviceHeading(files->pairs, i) + SitesText(options, devices[i]);
  const ExitCode printed = options.json
                               ? PrintJson(DevicesJson(devices, files->shown, equal, SitesJson))
                               : PrintText(text);
  return printed != kDone ? printed : equal ? kDone : kNo;
}

ExitCode DiffStreams(const Options& options) {
  const auto a = OpenRequests(options.a, options.step);
  if (!a.ok()) return ReportError(a.status());
  const auto b = OpenRequests(options.b, options.step);
  if (!b.ok()) return ReportError(b.status());
  const analysis::RequestDiff diff = analysis::DiffRequests(*a, *b, options.top);
  const ExitCode answer = diff.identical() ? kDone : kNo;

  if (options.json) {
    Json json;
    json["requests"] = {{"equal", diff.equal},
                        {"equal_frees_unordered", diff.equal_frees_unordered},
                        {"total", diff.total}};
    json["first_differences"] = Json::array();
    for (const auto& difference : diff.first_differences) {
      json["first_differences"].push_back({{"index_a", difference.index_a},
                                           {"index_b", difference.index_b},
                                           {"a", difference.a},
                                           {"b", difference.b}});
    }
    json["peak"] = {{"a", diff.peak_a}, {"b", diff.peak_b}};
    const ExitCode printed = PrintJson(json);
    return printed == kDone ? answer : printed;
  }
  std::string text =
      fmt::format("  {}\n  {}\n", EqualRequestsText(diff),
                  i18n::Format("growth from the start to the peak: {} (A), {} (B)",
                               run::FormatBytes(diff.peak_a), run::FormatBytes(diff.peak_b)));
  if (!diff.identical()) {
    Table table({{"A", Table::kRight}, {""}, {"B", Table::kRight}, {""}});
    for (const auto& d : diff.first_differences) {
      table.Row({d.a.empty() ? "" : Count(d.index_a), d.a.empty() ? "-" : i18n::Shown(d.a),
                 d.b.empty() ? "" : Count(d.index_b), d.b.empty() ? "-" : i18n::Shown(d.b)});
    }
    text += "\n  " + i18n::Text("The first differences:") + "\n\n" + table.Text();
  }
  const ExitCode printed = PrintText(text);
  return printed == kDone ? answer : printed;
}

ExitCode HoldPlanAgainst(const Options& options) {
  const absl::StatusOr<Pairs> files = OpenPairs(options);
  if (!files.ok()) return ReportError(files.status());
  const auto step = options.step < 0 ? std::nullopt : std::optional<int32_t>(options.step);
  return DiffPrediction(files->pairs, files->shown, step, options.top, options.json);
}

void DeclareDiff(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command
      ->add_option("A", options->a,
                   "a .trace file or CUDA memory snapshot; with --requests, also the output file "
                   "of `vramscope requests`")
      ->required();
  command->add_option("B", options->b, "the file to compare with")->required();
  CLI::Option* requests = command->add_flag("--requests", options->requests,
                                            "compare the allocations and frees of one step");
  CLI::Option* by =
      command->add_option("--by", options->by, "`stack` compares the call sites at both peaks")
          ->check(CLI::IsMember({"stack", "category"}).description(""))
          ->excludes(requests)
          ->type_name("HOW");
  CLI::Option* prediction =
      command
          ->add_flag("--prediction", options->prediction,
                     "compare a plan A with a recording B of the same run: show the errors of the "
                     "plan, and compare allocations and kernels")
          ->excludes(requests)
          ->excludes(by);
  AddTop(*command, options->top);
  command
      ->add_option(
          "--step", options->step,
          "number of the step; the default is the last complete step, or the peak with --by stack")
      ->check(CLI::Range(0, INT32_MAX).description(""))
      ->type_name("N");
  AddDevice(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(i18n::Text("Exit status: 1 if the files differ."));
  command->callback([options, requests, by, prediction, &context] {
    const bool sites = by->count() > 0 && options->by == "stack";
    if (options->step >= 0 && requests->count() == 0 && prediction->count() == 0 && !sites) {
      throw CLI::RequiresError("--step", TEXT_MARK("--requests, --prediction or --by stack"));
    }
    context.exit_code = options->requests     ? DiffStreams(*options)
                        : options->prediction ? HoldPlanAgainst(*options)
                        : sites               ? DiffSites(*options)
                                              : DiffTotals(*options);
  });
}

}  // namespace

CommandEntry DeclareCommand_diff() {
  return {.place = 110,
          .name = "diff",
          .help = "compare two runs; exit with 1 if they differ",
          .example = "diff before.pickle after.pickle --by stack --top 10",
          .declare = DeclareDiff};
}

}  // namespace vramscope::cli::diff_command
