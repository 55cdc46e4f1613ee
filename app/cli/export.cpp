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
#include "profiler/exporters/memory_snapshot.h"
#include "profiler/exporters/memory_svg.h"
#include "profiler/exporters/memory_timeline.h"
#include "profiler/program/verdict.h"

namespace vramscope::cli {
namespace {

struct Options {
  std::string file, format, output, title;
  RangeOptions range;
  bool no_categories = false, no_annotations = false;
};

// What ran, else the file's name.
std::string TitleOf(const trace::Trace& trace, const std::string& file) {
  if (!trace.info.title.empty()) return program::ShortCommand(trace.info.title);
  if (!trace.info.model.name.empty()) return trace.info.model.name;
  return std::filesystem::path(DisplayName(file)).filename().string();
}

absl::Status Write(const std::shared_ptr<const trace::Trace>& whole, const Options& options,
                   std::ostream& out) {
  const trace::Trace& trace = *whole;
  if (options.format == "chrome") return exporters::WriteChromeTrace(trace, out);
  if (options.format == "csv") return exporters::WriteCsv(trace, out);
  if (options.format == "svg") {
    const std::string& title = options.title.empty() ? TitleOf(trace, options.file) : options.title;
    out << exporters::MemorySvg(*DeviceToShow(whole).trace, {.title = title}) << "\n";
    return absl::OkStatus();
  }
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
  // Of the command line's contract, and not there yet.
  if (options.format == "png" || options.format == "html") {
    return ReportError(absl::UnimplementedError(
        fmt::format("export: \"{}\" is not available in this version; choose from chrome, csv, "
                    "snapshot, memory-timeline, svg, trace{}",
                    options.format,
                    options.format == "png"
                        ? fmt::format("; `vramscope {} --screenshot {}` saves the window's picture",
                                      options.file, options.output)
                        : std::string())));
  }
  if ((options.no_categories || options.no_annotations) && options.format != "snapshot") {
    ReportError(absl::InvalidArgumentError(
        "--no-categories and --no-annotations are for --to snapshot only"));
    return kUsage;
  }
  if (!options.title.empty() && options.format != "svg") {
    Note("error: --title is for --to svg only");
    return kUsage;
  }
  if (WouldReplaceInput(options.output, {options.file})) return kUsage;
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
      ->add_option("--to", options->format,
                   "chrome (Perfetto, HolisticTraceAnalysis), csv, snapshot (a CUDA memory "
                   "snapshot's pickle: PyTorch's memory_viz), memory-timeline (torch.profiler's "
                   "raw.json.gz: HolisticTraceAnalysis), svg (a picture of the memory over time) "
                   "or trace (with --time "
                   "A:B or --device: a part)")
      ->required()
      ->check(CLI::IsMember(
                  {"chrome", "csv", "snapshot", "memory-timeline", "png", "svg", "html", "trace"})
                  .description(""))
      ->type_name("chrome|csv|snapshot|memory-timeline|svg|trace");
  command->add_option("-o,--output", options->output, "file to write ('-': stdout)")
      ->required()
      ->type_name("OUT");
  AddRangeOptions(*command, options->range);
  command->add_flag("--no-categories", options->no_categories,
                    "of a snapshot: leave out what each block is");
  command->add_flag("--no-annotations", options->no_annotations,
                    "of a snapshot: leave out steps, phases and named ranges");
  command->add_option("--title", options->title, "of a picture: what stands above it")
      ->type_name("TEXT");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
