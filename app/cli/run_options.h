// RUN of DESIGN section 11: --preset NAME | --model config.json | --config run.json, then --set.
#pragma once

#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::cli {

struct RunOptions {
  std::string preset, model, config;
  std::vector<std::string> sets;

  bool given() const {
    return !preset.empty() || !model.empty() || !config.empty() || !sets.empty();
  }
};

void AddRunOptions(CLI::App& command, RunOptions& options);
absl::StatusOr<run::RunConfig> BuildRun(const RunOptions& options, run::Backend backend);

// Of --budget, in bytes. "24" is no 24 GiB, and nothing fits into it: kInvalidArgument.
absl::StatusOr<uint64_t> ParseBudget(const std::string& text);

}  // namespace vramscope::cli
