// `plan` and `run`: one run in the worker, then its summary or its trace or both.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/run/run_config.h"

namespace vramscope::cli {

struct RunOutput {
  // empty: not written; "-": standard output, and nothing else is printed there
  std::string trace_path;
  bool json = false;
};
ExitCode RunAndReport(const run::RunConfig& config, const RunOutput& output,
                      const std::vector<std::string>& worker_arguments = {});

}  // namespace vramscope::cli
