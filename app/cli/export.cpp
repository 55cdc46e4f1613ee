// `export FILE --to FORMAT -o OUT`.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/output.h"
#include "profiler/exporters/chrome.h"
#include "profiler/exporters/csv.h"
#include "profiler/exporters/html_report.h"
#include "profiler/exporters/memory_snapshot.h"
#include "profiler/exporters/memory_svg.h"
#include "profiler/exporters/memory_timeline.h"
#include "profiler/program/verdict.h"

#ifdef VRAMSCOPE_WITH_WINDOW
#include "ui/shell/window_main.h"
#endif

namespace vramscope::cli {
namespace {

struct Options {
  std::string file, format, output, title, baseline, size, theme = "light";
  double scale = 1;
  RangeOptions range;
  bool no_categories = false, no_annotations = false;

  // As the window draws it. An SVG of no size is of the memory alone, as notebooks show it.
  bool drawn() const {
    return format == "png" || format == "pdf" || (format == "svg" && !size.empty());
  }
  bool shown() const { return drawn() || format == "svg" || format == "html"; }
  bool made_otherwise() const { return !size.empty() || scale != 1 || theme != "light"; }
};

// What ran, else the file's name.
std::string TitleOf(const trace::Trace& trace, const std::string& file) {
  if (!trace.info.title.empty()) return program::ShortCommand(trace.info.title);
  if (!trace.info.model.name.empty()) return trace.info.model.name;
  return std::filesystem::path(DisplayName(file)).filename().string();
}

std::string TitleOf(const trace::Trace& trace, const Options& options) {
  return options.title.empty() ? TitleOf(trace, options.file) : options.title;
}

absl::Status WriteReport(const std::shared_ptr<const trace::Trace>& whole, const Options& options,
                         std::ostream& out) {
  exporters::HtmlReportOptions report;
  const std::shared_ptr<const trace::Trace> shown = DeviceToShow(whole).trace;
  report.title = TitleOf(*shown, options);
  report.command = fmt::format("vramscope export {} --to html -o {}", options.file, options.output);
  if (!options.baseline.empty()) {
    const auto baseline = OpenTrace(options.baseline);
    if (!baseline.ok()) return baseline.status();
    report.baseline = DeviceToShow(*baseline).trace;
    report.baseline_title = TitleOf(*report.baseline, options.baseline);
    // The same model twice: told apart by their files.
    if (report.baseline_title == report.title) {
      const auto with_file = [](std::string& title, const std::string& file) {
        title += fmt::format(" ({})", std::filesystem::path(DisplayName(file)).filename().string());
      };
      with_file(report.title, options.file);
      with_file(report.baseline_title, options.baseline);
    }
    report.command += " --baseline " + options.baseline;
  }
  out << exporters::HtmlReport(shown, report);
  return absl::OkStatus();
}

// By the window's canvas, which needs no display for it.
absl::Status WritePicture([[maybe_unused]] const std::shared_ptr<const trace::Trace>& whole,
                          [[maybe_unused]] const Options& options,
                          [[maybe_unused]] std::ostream& out) {
#ifdef VRAMSCOPE_WITH_WINDOW
  const ShownDevice shown = DeviceToShow(whole);
  const absl::StatusOr<std::string> bytes =
      ui::DrawTimeline(shown.trace, shown.of_several ? whole : nullptr,
                       {.format = options.format,
                        .size = options.size,
                        .theme = options.theme,
                        .scale = options.scale,
                        .title = TitleOf(*shown.trace, options)});
  if (!bytes.ok()) return bytes.status();
  out << *bytes;
  return absl::OkStatus();
#else
  return absl::UnimplementedError(fmt::format(
      "export: this vramscope was built without its window, which draws \"{}\"; --to svg without "
      "--size is drawn without it",
      options.format));
#endif
}

absl::Status Write(const std::shared_ptr<const trace::Trace>& whole, const Options& options,
                   std::ostream& out) {
  const trace::Trace& trace = *whole;
  if (options.format == "chrome") return exporters::WriteChromeTrace(trace, out);
  if (options.format == "csv") return exporters::WriteCsv(trace, out);
  if (options.drawn()) return WritePicture(whole, options, out);
  if (options.format == "svg") {
    out << exporters::MemorySvg(*DeviceToShow(whole).trace, {.title = TitleOf(trace, options)})
        << "\n";
    return absl::OkStatus();
  }
  if (options.format == "html") return WriteReport(whole, options, out);
  ProgressBar bar(true);
  const auto progress = [&](double fraction) { bar.Show(fraction, "writing " + options.output); };
  if (options.format == "snapshot")
    return exporters::WriteSnapshot(trace, out,
                                    {.categories = !options.no_categories,
                                     .annotations = !options.no_annotations,
                                     .progress = progress});
  // A memory timeline holds one device.
  return exporters::WriteMemoryTimeline(*DeviceToShow(whole).trace, out, {.progress = progress});
}

ExitCode Execute(const Options& options) {
  if ((options.no_categories || options.no_annotations) && options.format != "snapshot") {
    ReportError(absl::InvalidArgumentError(
        "--no-categories and --no-annotations are for --to snapshot only"));
    return kUsage;
  }
  const auto only_for = [](std::string_view option, std::string_view formats) {
    Note(fmt::format("error: {} is for --to {} only", option, formats));
    return kUsage;
  };
  if (!options.title.empty() && !options.shown())
    return only_for("--title", "html, svg, png and pdf");
  if (!options.baseline.empty() && options.format != "html") return only_for("--baseline", "html");
  if (options.made_otherwise() && !options.drawn())
    return only_for("each of --size, --scale and --theme", "png, pdf and (with --size) svg");
  if (WouldReplaceInput(options.output, {options.file, options.baseline})) return kUsage;
  const auto trace = OpenTrace(options.file, options.range);
  if (!trace.ok()) return ReportError(trace.status());
  // A part, or one device, as a file of its own.
  if (options.format == "trace") {
    const absl::Status status = WriteTrace(**trace, options.output);
    return status.ok() ? kDone : ReportError(status);
  }
  const absl::Status status =
      WriteStream(options.output, [&](std::ostream& out) { return Write(*trace, options, out); });
  return status.ok() ? kDone : ReportError(status);
}

}  // namespace

void RegisterExport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "a trace in another format");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  command
      ->add_option(
          "--to", options->format,
          "chrome (Perfetto, HolisticTraceAnalysis), csv, snapshot (a CUDA memory "
          "snapshot's pickle: PyTorch's memory_viz), memory-timeline (torch.profiler's "
          "raw.json.gz: HolisticTraceAnalysis), html (a page with curves, findings and tables, of "
          "one run or against --baseline), png or pdf (the timeline as the window draws "
          "it), svg (the memory over time; with --size the timeline) or trace (with --time A:B or "
          "--device: a part)")
      ->required()
      ->check(CLI::IsMember({"chrome", "csv", "snapshot", "memory-timeline", "html", "png", "pdf",
                             "svg", "trace"})
                  .description(""))
      ->type_name("chrome|csv|snapshot|memory-timeline|html|png|pdf|svg|trace");
  command->add_option("-o,--output", options->output, "file to write ('-': stdout)")
      ->required()
      ->type_name("OUT");
  AddRangeOptions(*command, options->range);
  command->add_flag("--no-categories", options->no_categories,
                    "of a snapshot: leave out what each block is");
  command->add_flag("--no-annotations", options->no_annotations,
                    "of a snapshot: leave out steps, phases and named ranges");
  command->add_option("--title", options->title, "title of the image or page")->type_name("TEXT");
  command->add_option("--baseline", options->baseline, "of a page: a trace to compare with")
      ->type_name("FILE");
  command->add_option("--size", options->size, "of png, pdf and svg (1680x1050)")->type_name("WxH");
  command->add_option("--scale", options->scale, "of png: device pixels a pixel, 0.5 to 4")
      ->type_name("N");
  command->add_option("--theme", options->theme, "of png, pdf and svg: light or dark")
      ->check(CLI::IsMember({"light", "dark"}).description(""))
      ->type_name("light|dark");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
