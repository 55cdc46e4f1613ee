// `plan` and `run`: execute one run in the worker, then output its summary, its trace, or both.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/run/run_config.h"

namespace vramscope::cli {

struct RunOutput {
  // The file to which the trace is written. "": no trace is written. "-": the trace is written to
  // standard output, and nothing else is.
  std::string trace_path;
  bool json = false;
};
ExitCode RunAndReport(const run::RunConfig& config, const RunOutput& output,
                      const std::vector<std::string>& worker_arguments = {});

}  // namespace vramscope::cli
