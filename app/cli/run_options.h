// A RUN on the command line: --preset NAME | --model config.json | --config run.json, then any
// number of --set KEY=VALUE.
#pragma once

#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/command.h"
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
  // Returns the words that may be names of files, for WouldReplaceInput().
  std::vector<std::string> inputs() const {
    std::vector<std::string> all = {model, config, device};
    all.insert(all.end(), sets.begin(), sets.end());
    return all;
  }
};

// kElsewhere leaves out --device and --gpu-memory, for commands that give them another
// meaning.
enum class DeviceOptions { kHere, kElsewhere };
void AddRunOptions(CLI::App& command, RunOptions& options,
                   DeviceOptions devices = DeviceOptions::kHere);
// The help texts of --device and --gpu-memory.
extern const char* const kDeviceHelp;
extern const char* const kGpuMemoryHelp;
absl::StatusOr<run::RunConfig> BuildRun(const RunOptions& options, run::Backend backend);

// Returns the value of --budget. If it is not given, returns the memory of the GPU that --device or
// --gpu-memory names.
absl::StatusOr<uint64_t> BudgetOf(const std::string& budget, const RunOptions& options);
// Reports an error of BudgetOf(). Returns kUsage for a wrong --budget. Returns kBadInput for a
// wrong setting of the run, such as an unknown GPU.
ExitCode ReportBudgetError(const std::string& budget, const RunOptions& options,
                           const absl::Status& status);
// Parses the value of --budget and returns bytes. A number without a unit, such as "24", is refused
// (kInvalidArgument), because it would mean 24 bytes and not 24 GiB.
absl::StatusOr<uint64_t> ParseBudget(const std::string& text);

}  // namespace vramscope::cli
