#include "app/cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/cli/input.h"
#include "profiler/base/i18n.h"
#include "profiler/run/check_run.h"
#include "profiler/run/device_file.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

constexpr size_t kMaxConfigFile = size_t{16} << 20;

absl::Status Prefixed(const std::string& what, const absl::Status& status) {
  return absl::Status(status.code(), fmt::format("{}: {}", what, std::string(status.message())));
}

// Returns the table of settings for --help: key, meaning, allowed values.
std::string SettingsHelp() {
  std::string text = i18n::Text(
      "Settings: give --set optimizer.lr=0.1, or write {\"optimizer.lr\": 0.1} or\n{\"optimizer\": "
      "{\"lr\": 0.1}} into a run.json\n");
  for (const run::KeyInfo& key : run::Keys()) {
    text += fmt::format("  {:<26}{}", std::string(key.key), i18n::Text(key.help));
    for (size_t i = 0; i < key.choices.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? ": " : " | ", std::string(key.choices[i]));
    }
    text += '\n';
  }
  return text;
}

// Adds the option for a preset to the error of a file that does not exist, if a preset has its
// name.
absl::Status WithPreset(const std::string& model, const absl::Status& status) {
  if (!absl::IsNotFound(status)) return status;
  const std::vector<run::ModelPreset> presets = run::ModelPresets();
  if (std::ranges::none_of(presets, [&](const auto& preset) { return preset.name == model; }))
    return status;
  return absl::NotFoundError(i18n::Format("{}. To use the preset of this name, give --preset {}",
                                          std::string(status.message()), model));
}

// A device file is replaced by its figures, so that the run does not depend on the file.
absl::Status SetKey(const std::string& key, const std::string& value,
                    run::RunConfigBuilder& builder) {
  if (key != "device") return builder.Set(key, value);
  const absl::StatusOr<std::string> device = run::DeviceTextOf(value);
  return device.ok() ? builder.Set(key, *device) : device.status();
}

}  // namespace

const char* const kDeviceHelp = TEXT_MARK(
    "the GPU: a name in `vramscope devices`, a MIG slice (a100-80gb:1g.10gb), a file (my_gpu.json) "
    "or properties (memory=24GiB,compute_capability=8.6,multiprocessors=28)");
const char* const kGpuMemoryHelp =
    TEXT_MARK("memory of the GPU, such as 8GiB; replaces the value in the device table");

void AddRunOptions(CLI::App& command, RunOptions& options, DeviceOptions devices) {
  CLI::Option* preset =
      command.add_option("--preset", options.preset, "a model preset (see `vramscope presets`)");
  CLI::Option* model = command.add_option("--model", options.model,
                                          "a Hugging Face config.json ('-': standard input)");
  CLI::Option* config =
      command.add_option("--config", options.config,
                         "a run.json ('-': standard input). Keys are nested or contain dots");
  preset->excludes(model)->excludes(config);
  model->excludes(config);
  for (CLI::Option* option : {preset, model, config}) option->type_name("NAME");
  model->type_name("FILE");
  config->type_name("FILE");
  command
      .add_option("--set", options.sets,
                  "a setting, such as batch=4 or optimizer.name=adamw; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return text.find('=') == std::string::npos || text.front() == '='
                   ? i18n::Format("expected KEY=VALUE, got \"{}\"", text)
                   : std::string();
      });
  if (devices == DeviceOptions::kHere) {
    command.add_option("--device", options.device, kDeviceHelp)->type_name("GPU");
    command.add_option("--gpu-memory", options.gpu_memory, kGpuMemoryHelp)->type_name("SIZE");
  }
  command.footer(SettingsHelp());
}

absl::StatusOr<run::RunConfig> BuildRun(const RunOptions& options, run::Backend backend) {
  run::RunConfigBuilder builder;
  absl::Status status;
  if (!options.preset.empty()) {
    status = builder.SetPreset(options.preset);
  } else if (!options.model.empty()) {
    absl::StatusOr<std::string> text = ReadText(options.model, kMaxConfigFile);
    if (!text.ok()) return WithPreset(options.model, text.status());
    status = builder.SetModelConfig(options.model, *text);
  } else if (!options.config.empty()) {
    absl::StatusOr<std::string> text = ReadText(options.config, kMaxConfigFile);
    if (!text.ok()) return text.status();
    status = builder.SetRunJson(*text);
    if (!status.ok()) status = Prefixed(options.config, status);
  }
  if (!status.ok()) return status;
  for (const std::string& set : options.sets) {
    const size_t equals = set.find('=');
    status = SetKey(set.substr(0, equals), set.substr(equals + 1), builder);
    if (!status.ok()) return status;
  }
  if (!options.device.empty()) status = SetKey("device", options.device, builder);
  if (status.ok() && !options.gpu_memory.empty())
    status = builder.Set("custom_device.memory", options.gpu_memory);
  if (!status.ok()) return status;
  status = builder.Set("backend", run::Name(backend));
  if (!status.ok()) return status;
  absl::StatusOr<run::RunConfig> config = builder.Build();
  if (!config.ok()) return config;
  // Checks the run before the worker starts, with the worker's own rules.
  status = run::CheckRun(*config).status();
  if (!status.ok()) return options.model.empty() ? status : Prefixed(options.model, status);
  return config;
}

ExitCode ReportBudgetError(const std::string& budget, const RunOptions& options,
                           const absl::Status& status) {
  const bool of_gpu = budget.empty() && (!options.device.empty() || !options.gpu_memory.empty());
  const ExitCode code = ReportError(status);
  return of_gpu ? code : kUsage;
}

absl::StatusOr<uint64_t> BudgetOf(const std::string& budget, const RunOptions& options) {
  if (!budget.empty()) return ParseBudget(budget);
  if (options.device.empty() && options.gpu_memory.empty()) {
    return absl::InvalidArgumentError(
        i18n::Text("--budget is missing: give the memory of the device, such as 24GiB, or name a "
                   "GPU with --device"));
  }
  const absl::StatusOr<run::RunConfig> config = BuildRun(options, run::Backend::kPlan);
  if (!config.ok()) return config.status();
  const absl::StatusOr<run::DeviceProfile> device = run::ResolveDevice(*config);
  if (!device.ok()) return device.status();
  return device->memory_bytes;
}

absl::StatusOr<uint64_t> ParseBudget(const std::string& text) {
  constexpr uint64_t kLeast = 1 << 20;
  absl::StatusOr<uint64_t> budget = run::ParseBytes(text);
  if (!budget.ok()) {
    return absl::InvalidArgumentError("--budget: " + std::string(budget.status().message()));
  }
  if (*budget >= kLeast) return budget;
  return absl::InvalidArgumentError(i18n::Format(
      "--budget: \"{}\" is {} bytes, but a budget must be at least 1 MiB; for example 24GiB",
      text.substr(0, 40), *budget));
}

}  // namespace vramscope::cli
