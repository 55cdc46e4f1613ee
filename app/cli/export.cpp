// `export FILE --to FORMAT -o OUT`.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/input.h"
#include "app/cli/output.h"
#include "profiler/exporters/chrome.h"
#include "profiler/exporters/csv.h"

namespace vramscope::cli {
namespace {

struct Options {
  std::string file, format, output;
};

ExitCode Execute(const Options& options) {
  using Writer = absl::Status (*)(const trace::Trace&, std::ostream&);
  const Writer writer = options.format == "chrome" ? exporters::WriteChromeTrace
                        : options.format == "csv"  ? exporters::WriteCsv
                                                   : nullptr;
  if (writer == nullptr) {
    return ReportError(absl::UnimplementedError(
        fmt::format("export: \"{}\" is not available in this version; choose from: chrome, csv",
                    options.format)));
  }
  const auto trace = OpenTrace(options.file);
  if (!trace.ok()) return ReportError(trace.status());
  const absl::Status status =
      WriteStream(options.output, [&](std::ostream& out) { return writer(**trace, out); });
  return status.ok() ? kDone : ReportError(status);
}

}  // namespace

void RegisterExport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "a trace in another format");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "a .trace ('-': standard input)")->required();
  command->add_option("--to", options->format, "chrome (Perfetto, HolisticTraceAnalysis) or csv")
      ->required()
      ->check(CLI::IsMember({"chrome", "csv", "snapshot", "memory-timeline", "png", "svg", "html"}))
      ->type_name("chrome|csv");
  command->add_option("-o,--output", options->output, "file to write ('-': stdout)")
      ->required()
      ->type_name("OUT");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
