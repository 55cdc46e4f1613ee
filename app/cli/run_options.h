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
  std::string device, gpu_memory;

  bool given() const {
    return !preset.empty() || !model.empty() || !config.empty() || !sets.empty() ||
           !device.empty() || !gpu_memory.empty();
  }
};

// Without --device and --gpu-memory where a command has them for something else, too.
enum class DeviceOptions { kHere, kElsewhere };
void AddRunOptions(CLI::App& command, RunOptions& options,
                   DeviceOptions devices = DeviceOptions::kHere);
// What --device and --gpu-memory say, for their help.
extern const char* const kDeviceHelp;
extern const char* const kGpuMemoryHelp;
absl::StatusOr<run::RunConfig> BuildRun(const RunOptions& options, run::Backend backend);

// What --budget says; where it is left out and --device or --gpu-memory is given, what that GPU
// has.
absl::StatusOr<uint64_t> BudgetOf(const std::string& budget, const RunOptions& options);
// Of --budget, in bytes. "24" is no 24 GiB, and nothing fits into it: kInvalidArgument.
absl::StatusOr<uint64_t> ParseBudget(const std::string& text);

}  // namespace vramscope::cli
