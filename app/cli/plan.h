// `plan` and `run`: one run in the worker, then its summary, its trace or both.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/run/run_config.h"

namespace vramscope::cli {

struct RunOutput {
  std::string trace_path;  // empty: none; "-": standard output, and then nothing else there
  bool json = false;
};
ExitCode RunAndReport(const run::RunConfig& config, const RunOutput& output,
                      const std::vector<std::string>& worker_arguments = {});

}  // namespace vramscope::cli
