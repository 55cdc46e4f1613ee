#include "profiler/exporters/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/base/i18n.h"
#include "profiler/base/version.h"
#include "profiler/explain/evidence.h"
#include "profiler/explain/explain.h"
#include "profiler/exporters/exporter.h"
#include "profiler/exporters/json_text.h"
#include "profiler/exporters/memory_svg.h"
#include "profiler/query/kernel_names.h"
#include "profiler/query/kernel_sums.h"
#include "profiler/run/times.h"
#include "profiler/run/units.h"
#include "profiler/trace/assumptions.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::exporters {
namespace {

using run::FormatBytes;
using run::FormatMilliseconds;

constexpr int kPictureWidth = 1000, kPictureHeight = 380;

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ground:#fff;--panel:#f6f7f9;--text:#1c2024;--dim:#5f6770;--line:#d9dde2;--accent:#2563c9;--good:#17703a;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ground:#16181b;--panel:#1f2226;--text:#e4e7ea;--dim:#9aa3ad;--line:#33383e;--accent:#7fb0ff;--good:#6fd08c;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:28px 24px 60px;background:var(--ground);color:var(--text);font:14px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
h1{font-size:24px;margin:0 0 2px;overflow-wrap:anywhere}
h2{font-size:16px;margin:34px 0 8px;padding-top:12px;border-top:1px solid var(--line)}
p{margin:4px 0;overflow-wrap:anywhere}
.dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(158px,1fr));gap:10px;margin:18px 0}
.figures div{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:8px 12px}
.figures b{display:block;font-size:18px;font-variant-numeric:tabular-nums}
.figures span{color:var(--dim);font-size:12px}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px}
th{text-align:left;font-weight:600;color:var(--dim);border-bottom:1px solid var(--line);padding:4px 10px 4px 0;white-space:nowrap}
td{border-bottom:1px solid var(--line);padding:4px 10px 4px 0;vertical-align:top;overflow-wrap:anywhere}
th.n,td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.bar{width:26%;min-width:90px}
td.bar i{display:block;height:11px;margin-top:4px;border-radius:2px;background:var(--accent);min-width:1px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
svg{max-width:100%;height:auto;display:block;margin:8px 0}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:10px 12px;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.45 ui-monospace,Menlo,Consolas,monospace}
li{margin:3px 0;overflow-wrap:anywhere}
footer{margin-top:40px;color:var(--dim);font-size:12px}
@media print{body{max-width:none;padding:0;font-size:11px}h2{break-after:avoid}tr,svg,.figures{break-inside:avoid}}
)";

std::string Paragraph(std::string_view text, std::string_view kind = "") {
  if (text.empty()) return "";
  return kind.empty() ? fmt::format("<p>{}</p>\n", XmlText(text))
                      : fmt::format("<p class=\"{}\">{}</p>\n", kind, XmlText(text));
}

std::string Heading(std::string_view text) { return fmt::format("<h2>{}</h2>\n", XmlText(text)); }

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A table with three kinds of columns: text (left-aligned), figures (right-aligned), and bars that
// show shares.
class HtmlTable {
 public:
  enum Kind { kText, kFigure, kBar };
  using Columns = std::vector<std::pair<std::string_view, Kind>>;
  explicit HtmlTable(Columns columns) : columns_(std::move(columns)) {
    html_ = "<div class=\"wide\"><table><thead><tr>";
    for (const auto& [title, kind] : columns_)
      html_ += fmt::format("<th{}>{}</th>", kind == kFigure ? " class=\"n\"" : "", XmlText(title));
    html_ += "</tr></thead><tbody>\n";
  }
  // For a column of bars, the cell is the bar's length in percent.
  void Row(const std::vector<std::string>& cells) {
    html_ += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].second == kBar)
        html_ += fmt::format("<td class=\"bar\"><i style=\"width:{}%\"></i></td>", cells[i]);
      else
        html_ += fmt::format("<td{}>{}</td>", columns_[i].second == kFigure ? " class=\"n\"" : "",
                             XmlText(cells[i]));
    }
    html_ += "</tr>\n";
    ++rows_;
  }
  bool empty() const { return rows_ == 0; }
  // `all` is the number of rows that the table would have without a limit.
  std::string Html(size_t all = 0) const {
    std::string html = html_ + "</tbody></table></div>\n";
    if (all > rows_) html += Paragraph(fmt::format("and {} more", all - rows_), "dim");
    return html;
  }

 private:
  Columns columns_;
  std::string html_;
  size_t rows_ = 0;
};

std::string BarWidth(double share) {
  return fmt::format("{:.1f}", 100 * std::clamp(share, 0.0, 1.0));
}

std::string SignedBytes(int64_t bytes) {
  if (bytes == 0) return "0";
  return (bytes < 0 ? "-" : "+") + FormatBytes(bytes < 0
                                                   ? uint64_t{0} - static_cast<uint64_t>(bytes)
                                                   : static_cast<uint64_t>(bytes));
}

std::string TitleOf(const trace::Trace& trace) {
  if (!trace.info.title.empty()) return trace.info.title;
  if (!trace.info.model.name.empty()) return trace.info.model.name;
  return trace::IsOfHostMemory(trace) ? "host memory" : "GPU memory";
}

std::string Where(const trace::Trace& trace, const analysis::Context& at) {
  std::vector<std::string> parts;
  if (at.step >= 0) parts.push_back(fmt::format("step {}", at.step));
  if (at.phase != trace::Phase::kNone) parts.push_back(std::string(trace::Name(at.phase)));
  if (!at.module.empty()) parts.push_back(at.module);
  if (!at.op.empty()) parts.push_back(at.op);
  if (trace.info.has_times)
    parts.push_back(fmt::format(
        "after {}", FormatMilliseconds(static_cast<double>(at.time_ns - trace.begin_ns()) * 1e-6)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

class Report {
 public:
  Report(const std::shared_ptr<const trace::Trace>& trace, const HtmlReportOptions& options)
      : shared_(trace),
        trace_(*trace),
        options_(options),
        curves_(analysis::ComputeCurves(trace_)),
        summary_(analysis::Summarize(trace_, curves_)),
        at_peak_(analysis::LiveAt(trace_, summary_.peak.context.event)) {}

  std::string Html() {
    const std::string title = options_.title.empty() ? TitleOf(trace_) : options_.title;
    return fmt::format(
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
               "name=\"viewport\" content=\"width=device-width,initial-scale=1\"><meta "
               "name=\"generator\" content=\"vramscope {}\"><title>{}</title><style>{}</style>"
               "</head><body>\n<h1>{}</h1>\n",
               XmlText(base::Version()), XmlText(title), kStyle, XmlText(title)) +
           Paragraph(Subtitle(), "dim") + Figures() + OverTime(title) + Comparison() +
           ByCategory() + Groups("The peak by module", analysis::GroupBy::kModule) +
           Groups("The peak by call site", analysis::GroupBy::kStack) + Findings() + Steps() +
           Kernels() + Assumptions() + Settings() +
           fmt::format(
               "<footer>Made by vramscope {}. Bytes are those of blocks, as "
               "torch.cuda.memory_allocated() counts them; KiB, MiB and GiB are powers of "
               "1024.</footer>\n</body></html>\n",
               XmlText(base::Version()));
  }

 private:
  std::string Subtitle() const {
    const trace::TraceInfo& info = trace_.info;
    std::vector<std::string> parts;
    parts.push_back(info.backend == trace::Backend::kPlan       ? "planned, nothing ran on a GPU"
                    : info.backend == trace::Backend::kImported ? "recorded"
                    : info.measured                             ? "measured"
                                                                : "computed");
    if (!info.source.empty()) parts.push_back(info.source);
    if (!info.device.name.empty())
      parts.push_back(
          info.device.memory_bytes == 0
              ? info.device.name
              : fmt::format("{} ({})", info.device.name, FormatBytes(info.device.memory_bytes)));
    if (info.model.parameter_count > 0)
      parts.push_back(fmt::format("{:.2f} million parameters",
                                  static_cast<double>(info.model.parameter_count) * 1e-6));
    if (!trace_.complete)
      parts.push_back(trace_.end_message.empty() ? "did not end by itself" : trace_.end_message);
    return fmt::format("{}", fmt::join(parts, " · "));
  }

  static std::string Figure(std::string_view label, const std::string& value,
                            std::string_view tone = "") {
    return fmt::format("<div><span>{}</span><b{}>{}</b></div>\n", XmlText(label),
                       tone.empty() ? "" : fmt::format(" class=\"{}\"", tone), XmlText(value));
  }

  bool KnowsReserved() const {
    return trace::SegmentRecordOf(trace_) != trace::SegmentRecord::kNone;
  }

  std::string Figures() const {
    const analysis::Peak& peak = summary_.peak;
    std::string html = "<div class=\"figures\">\n";
    html += Figure("peak allocated", FormatBytes(peak.allocated));
    if (KnowsReserved()) html += Figure("peak reserved", FormatBytes(peak.reserved));
    if (trace_.info.device.memory_bytes > 0) {
      const int64_t room = summary_.headroom_bytes;
      html += Figure(summary_.fits ? "fits, with room of" : "does not fit, by",
                     FormatBytes(static_cast<uint64_t>(room < 0 ? -room : room)),
                     summary_.fits ? "good" : "bad");
    }
    if (!summary_.steps.empty()) {
      html += Figure("steps", fmt::format("{}", summary_.steps.size()));
      if (trace_.info.has_times)
        html += Figure(trace_.info.measured ? "last step" : "last step, modelled",
                       FormatMilliseconds(summary_.steps.back().total_ms));
    }
    html += Figure("allocations", fmt::format("{}", trace_.allocations.size()));
    if (summary_.out_of_memory) html += Figure("out of memory", "yes", "bad");
    return html + "</div>\n" +
           Paragraph(fmt::format("The peak is at {}.", Where(trace_, peak.context)), "dim");
  }

  std::string OverTime(const std::string& title) const {
    std::string html = Heading("Memory over time");
    MemorySvgOptions picture{.width = kPictureWidth, .height = kPictureHeight};
    if (options_.baseline == nullptr) return html + MemorySvg(trace_, picture) + "\n";
    // Both pictures have the same axes, so that their curves can be compared by eye.
    const MemoryAxes one = MemoryAxesOf(*options_.baseline), other = MemoryAxesOf(trace_);
    picture.at_least.bytes = std::max(one.bytes, other.bytes);
    if (options_.baseline->info.has_times == trace_.info.has_times)
      picture.at_least.length_ns = std::max(one.length_ns, other.length_ns);
    picture.title = title;
    html += MemorySvg(trace_, picture);
    picture.title = Baseline();
    html += MemorySvg(*options_.baseline, picture);
    return html + "\n";
  }

  std::string Baseline() const {
    return options_.baseline_title.empty() ? TitleOf(*options_.baseline) : options_.baseline_title;
  }

  std::string Comparison() const {
    if (options_.baseline == nullptr) return "";
    std::string html = Heading("Compared with " + Baseline());
    const auto diff = explain::DiffTraces(*options_.baseline, trace_, std::nullopt);
    if (!diff.ok()) return html + Paragraph(std::string(diff.status().message()), "bad");
    html += Paragraph("A is the baseline, B is this run. " + diff->headline);
    HtmlTable peaks({{"", HtmlTable::kText},
                     {"Baseline", HtmlTable::kFigure},
                     {"This", HtmlTable::kFigure},
                     {"Difference", HtmlTable::kFigure}});
    const auto row = [&](const std::string& name, uint64_t a, uint64_t b) {
      peaks.Row({name, FormatBytes(a), FormatBytes(b), SignedBytes(static_cast<int64_t>(b - a))});
    };
    row("Peak allocated", diff->a.allocated, diff->b.allocated);
    if (KnowsReserved()) row("Peak reserved", diff->a.reserved, diff->b.reserved);
    for (int c = 0; c < trace::kCategoryCount; ++c) {
      const uint64_t a = diff->a.by_category[static_cast<size_t>(c)];
      const uint64_t b = diff->b.by_category[static_cast<size_t>(c)];
      if (a != 0 || b != 0)
        row(fmt::format("{} at the peak", trace::Name(static_cast<trace::Category>(c))), a, b);
    }
    html += peaks.Html();
    HtmlTable sites({{"Call site", HtmlTable::kText},
                     {"Change", HtmlTable::kText},
                     {"Baseline", HtmlTable::kFigure},
                     {"This", HtmlTable::kFigure},
                     {"Difference", HtmlTable::kFigure}});
    size_t changed = 0;
    for (const explain::TraceDiff::Site& site : diff->sites) {
      if (site.change == explain::TraceDiff::Change::kSame || ++changed > options_.rows) continue;
      sites.Row({site.name, std::string(explain::Name(site.change)), FormatBytes(site.a_bytes),
                 FormatBytes(site.b_bytes), SignedBytes(site.delta())});
    }
    return html + (sites.empty() ? Paragraph("No call site differs at the peak.", "dim")
                                 : sites.Html(changed));
  }

  std::string ByCategory() const {
    std::vector<std::pair<uint64_t, trace::Category>> parts;
    for (int c = 0; c < trace::kCategoryCount; ++c)
      if (const uint64_t bytes = at_peak_.by_category[static_cast<size_t>(c)]; bytes > 0)
        parts.emplace_back(bytes, static_cast<trace::Category>(c));
    if (parts.empty()) return "";
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    HtmlTable table({{"Category", HtmlTable::kText},
                     {"Bytes", HtmlTable::kFigure},
                     {"Share", HtmlTable::kFigure},
                     {"", HtmlTable::kBar}});
    for (const auto& [bytes, category] : parts) {
      const double share = Share(bytes, at_peak_.allocated);
      table.Row({std::string(trace::Name(category)), FormatBytes(bytes), Percent(share),
                 BarWidth(share)});
    }
    return Heading("The peak by category") + table.Html();
  }

  std::string Groups(std::string_view title, analysis::GroupBy by) const {
    const std::vector<analysis::Group> groups = analysis::GroupLive(trace_, at_peak_, by);
    if (groups.empty()) return "";
    HtmlTable table({{by == analysis::GroupBy::kModule ? "Module" : "Call site", HtmlTable::kText},
                     {"Blocks", HtmlTable::kFigure},
                     {"Bytes", HtmlTable::kFigure},
                     {"Share", HtmlTable::kFigure},
                     {"", HtmlTable::kBar}});
    for (size_t i = 0; i < std::min(groups.size(), options_.rows); ++i) {
      const double share = Share(groups[i].bytes, at_peak_.allocated);
      table.Row({groups[i].name.empty() ? "(none)" : groups[i].name,
                 fmt::format("{}", groups[i].count), FormatBytes(groups[i].bytes), Percent(share),
                 BarWidth(share)});
    }
    return Heading(title) + table.Html(groups.size());
  }

  // One sentence for each explanation (profiler/explain). Omits remedies, which need replays.
  std::string Findings() const {
    const trace::EventIndex peak = summary_.peak.context.event;
    std::vector<std::string> found;
    if (trace_.events.size() > 0 && KnowsReserved())
      found.push_back(explain::FragmentationAt(trace_, peak).headline);
    for (const explain::EvidenceShare& share : explain::EvidenceAt(trace_, peak))
      found.push_back(
          fmt::format("{} of the peak: {}", FormatBytes(share.bytes), share.evidence.text));
    const explain::Leaks leaks = explain::FindLeaks(trace_, explain::FindCallSites(trace_));
    if (leaks.known) found.push_back(leaks.headline);
    if (const auto page = explain::ExplainOutOfMemory(trace_, {.replay = false}); page.ok()) {
      found.push_back(page->headline);
      for (const explain::OutOfMemory& event : page->events) found.push_back(event.headline);
    }
    for (const std::string& warning : trace_.warnings) found.push_back(warning);
    std::string list;
    for (const std::string& each : found)
      if (!each.empty()) list += fmt::format("<li>{}</li>\n", XmlText(each));
    return list.empty() ? "" : Heading("Findings") + "<ul>\n" + list + "</ul>\n";
  }

  std::string Steps() const {
    if (summary_.steps.empty()) return "";
    const bool times = trace_.info.has_times;
    HtmlTable::Columns columns = {{"Step", HtmlTable::kFigure}};
    if (times)
      for (const char* phase : {"Forward", "Backward", "Optimizer", "Total"})
        columns.emplace_back(phase, HtmlTable::kFigure);
    columns.emplace_back("Peak allocated", HtmlTable::kFigure);
    if (KnowsReserved()) columns.emplace_back("Reserved", HtmlTable::kFigure);
    columns.emplace_back("Peak in", HtmlTable::kText);
    HtmlTable table(std::move(columns));
    for (size_t i = 0; i < std::min(summary_.steps.size(), options_.rows); ++i) {
      const analysis::StepRow& step = summary_.steps[i];
      std::vector<std::string> row = {fmt::format("{}", step.index)};
      if (times)
        for (const double ms :
             {step.forward_ms, step.backward_ms, step.optimizer_ms, step.total_ms})
          row.push_back(ms == 0 ? "–" : FormatMilliseconds(ms));
      row.push_back(FormatBytes(step.peak_allocated));
      if (KnowsReserved()) row.push_back(FormatBytes(step.peak_reserved));
      row.push_back(
          step.peak_phase == trace::Phase::kNone ? "–" : std::string(trace::Name(step.peak_phase)));
      table.Row(row);
    }
    return Heading(times && !trace_.info.measured ? "Steps (times are modelled)" : "Steps") +
           table.Html(summary_.steps.size());
  }

  std::string Kernels() const {
    if (trace_.activities.size() == 0) return "";
    const query::KernelSums sums =
        query::SumKernels(query::ActivityIndex(shared_), query::KernelsBy::kName);
    if (sums.count == 0) return "";
    HtmlTable table({{"Kernel, memcpy or memset", HtmlTable::kText},
                     {"Count", HtmlTable::kFigure},
                     {"Time", HtmlTable::kFigure},
                     {"Mean", HtmlTable::kFigure},
                     {"Share", HtmlTable::kFigure},
                     {"", HtmlTable::kBar}});
    for (size_t i = 0; i < std::min(sums.sums.size(), options_.rows); ++i) {
      const query::KernelSum& sum = sums.sums[i];
      table.Row({query::ReadableKernel(sum.name), fmt::format("{}", sum.count),
                 FormatMilliseconds(static_cast<double>(sum.takes_ns) * 1e-6),
                 FormatMilliseconds(sum.mean_ns() * 1e-6), Percent(sums.share(sum)),
                 BarWidth(sums.share(sum))});
    }
    return Heading(trace_.info.measured ? "Kernels" : "Kernels (times are modelled)") +
           table.Html(sums.sums.size());
  }

  std::string Assumptions() const {
    const std::vector<run::Assumption> all = trace::AssumptionsOf(trace_);
    std::string list;
    for (const run::Assumption& each : all)
      list += fmt::format("<li>{}{} <span class=\"dim\">{}</span></li>\n", XmlText(each.what),
                          each.bytes == 0 ? "" : fmt::format(" ({})", FormatBytes(each.bytes)),
                          XmlText(each.where));
    return list.empty() ? "" : Heading("Assumptions") + "<ul>\n" + list + "</ul>\n";
  }

  std::string Settings() const {
    std::string html;
    if (!options_.command.empty())
      html += fmt::format("<pre>{}</pre>\n", XmlText(options_.command));
    if (!trace_.info.alloc_conf.empty())
      html += Paragraph("PYTORCH_CUDA_ALLOC_CONF=" + trace_.info.alloc_conf);
    if (trace_.info.has_config)
      html += Paragraph("As a run.json, for vramscope plan --config run.json:", "dim") +
              fmt::format("<pre>{}</pre>\n", XmlText(run::ToJson(trace_.info.config)));
    return html.empty() ? "" : Heading("Settings and command line") + html;
  }

  const std::shared_ptr<const trace::Trace> shared_;
  const trace::Trace& trace_;
  const HtmlReportOptions& options_;
  const analysis::MemoryCurves curves_;
  const analysis::Summary summary_;
  const analysis::LiveSet at_peak_;
};

}  // namespace

std::string HtmlReport(const std::shared_ptr<const trace::Trace>& trace,
                       const HtmlReportOptions& options) {
  return Report(trace, options).Html();
}

namespace {

absl::Status ExportHtml(const ExportRequest& request, std::ostream& out) {
  out << HtmlReport(request.trace, {.title = request.title,
                                    .command = request.command,
                                    .baseline = request.baseline,
                                    .baseline_title = request.baseline_title});
  return absl::OkStatus();
}

}  // namespace

ExporterEntry DeclareExporter_html() {
  return {
      .place = 50,
      .name = "html",
      .help = TEXT_MARK("a page with curves, findings and tables; --baseline adds a comparison"),
      .suffix = "html",
      .one_device = true,
      .uses_title = true,
      .uses_baseline = true,
      .write = ExportHtml};
}

}  // namespace vramscope::exporters
