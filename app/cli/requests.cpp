// `requests FILE`: writes every allocation and free as CSV.
#include "profiler/analysis/requests.h"

#include <memory>

#include "app/cli/command.h"
#include "app/cli/input.h"
#include "app/cli/output.h"

namespace vramscope::cli::requests_command {
namespace {

struct Options {
  std::string file;
  RangeOptions range;
  std::string output = "-";
};

ExitCode Execute(const Options& options) {
  if (WouldReplaceInput(options.output, {options.file})) return kUsage;
  const auto trace = OpenTrace(options.file, options.range);
  if (!trace.ok()) return ReportError(trace.status());
  const absl::Status status = WriteStream(options.output, [&](std::ostream& out) {
    analysis::WriteRequestsCsv(**trace, out);
    return absl::OkStatus();
  });
  return status.ok() ? kDone : ReportError(status);
}

void DeclareRequests(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  AddRangeOptions(*command, options->range);
  command->add_option("-o,--output", options->output, "write to this file ('-': stdout)")
      ->type_name("OUT");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_requests() {
  return {.place = 90,
          .name = "requests",
          .help = "write every allocation and free of a trace as CSV",
          .example = "requests run.trace -o requests.csv",
          .declare = DeclareRequests};
}

}  // namespace vramscope::cli::requests_command
