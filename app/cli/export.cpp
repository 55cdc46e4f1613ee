// `export FILE --to FORMAT -o OUT`.
#include <fmt/format.h>

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
#include "profiler/exporters/memory_timeline.h"

namespace vramscope::cli {
namespace {

struct Options {
  std::string file, format, output;
  RangeOptions range;
  bool no_categories = false, no_annotations = false;
};

absl::Status Write(const std::shared_ptr<const trace::Trace>& whole, const Options& options,
                   std::ostream& out) {
  const trace::Trace& trace = *whole;
  if (options.format == "chrome") return exporters::WriteChromeTrace(trace, out);
  if (options.format == "csv") return exporters::WriteCsv(trace, out);
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
  if (options.format == "png" || options.format == "svg" || options.format == "html") {
    return ReportError(absl::UnimplementedError(
        fmt::format("export: \"{}\" is not available in this version; choose from chrome, csv, "
                    "snapshot, memory-timeline{}",
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
  if (WouldReplaceInput(options.output, {options.file})) return kUsage;
  const auto trace = OpenTrace(options.file, options.range);
  if (!trace.ok()) return ReportError(trace.status());
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
                   "snapshot's pickle: PyTorch's memory_viz) or memory-timeline (torch.profiler's "
                   "raw.json.gz: HolisticTraceAnalysis)")
      ->required()
      ->check(CLI::IsMember({"chrome", "csv", "snapshot", "memory-timeline", "png", "svg", "html"})
                  .description(""))
      ->type_name("chrome|csv|snapshot|memory-timeline");
  command->add_option("-o,--output", options->output, "file to write ('-': stdout)")
      ->required()
      ->type_name("OUT");
  AddRangeOptions(*command, options->range);
  command->add_flag("--no-categories", options->no_categories,
                    "of a snapshot: leave out what each block is");
  command->add_flag("--no-annotations", options->no_annotations,
                    "of a snapshot: leave out steps, phases and named ranges");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
