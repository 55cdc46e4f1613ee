// A run as plain values: model, sizes, device, and the settings of techniques. The trainer, the
// window and the command line all use this struct; proto/run.proto is its serialised form.
//
//   RunConfigBuilder b;                                  // defaults
//   RETURN_IF_ERROR(b.SetPreset("qwen2-0.5b"));
//   RETURN_IF_ERROR(b.Set("optimizer.name", "adamw"));   // same as --set optimizer.name=adamw
//   ASSIGN_OR_RETURN(RunConfig config, b.Build());       // validated
//
// Consists of values and uses no types of LibTorch, Qt or protobuf. As thread-safe as any value.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/device_profile.h"
#include "profiler/run/settings.h"

namespace vramscope::run {

enum class Backend : uint8_t { kPlan, kCpu, kCuda };

// Figures that replace the named device's figures. 0 means the figure in the device table.
struct CustomDevice {
  uint64_t memory_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  double flops = 0;  // dense rate of the run's precision
  bool any() const { return memory_bytes > 0 || bandwidth_bytes_per_s > 0 || flops > 0; }
};

struct RunConfig {
  Backend backend = Backend::kPlan;
  // The name of a preset. For a config.json: the name of that file, only for display.
  std::string model = "qwen2-0.5b";
  std::string model_config_json;  // text of the Hugging Face config (also for a preset)
  int batch = 2;
  int seq = 512;
  int micro_batches = 1;
  // The first step creates the optimizer's state. All steps after the second repeat it.
  int steps = 2;
  std::string device = "rtx-4090";
  CustomDevice custom_device;
  std::string alloc_conf;  // as PYTORCH_CUDA_ALLOC_CONF (alloc_conf.h); "": PyTorch's defaults
  int64_t seed = 0;
  // Settings of techniques (catalogue.h). Only values that differ from the default are stored.
  SettingValues settings;

  // Returns a technique's setting, or its default. `key` must be in the catalogue.
  const std::string& Get(std::string_view key) const;
  bool Is(std::string_view key, std::string_view value) const { return Get(key) == value; }
  int64_t Integer(std::string_view key) const;
  double Number(std::string_view key) const;
  std::vector<std::string> Names(std::string_view key) const;  // "q_proj,v_proj"
  // Sets a value without checks. A builder that starts with this config checks it in Build().
  void Set(std::string_view key, std::string_view value);
};

// Sets PyTorch's weight decay for the chosen optimizer: 0.01 for AdamW, 0 for the others. A builder
// does this unless the key was set.
void SetDefaultWeightDecay(RunConfig& config);

// Returns the device table's entry for `config.device`, changed by `config.custom_device`.
absl::StatusOr<DeviceProfile> ResolveDevice(const RunConfig& config);

// A settable key, for --set, the window's forms, documentation and completion.
struct KeyInfo {
  std::string_view key;                   // "optimizer.impl"
  std::string_view help;                  // one line
  std::vector<std::string_view> choices;  // empty: any value (a number, a pattern)
};
const std::vector<KeyInfo>& Keys();

// Collects settings; a later setting overrides an earlier one. Every error names the key, the value
// and the allowed values; for an unknown key it suggests the nearest known key. The format reserves
// some keys for techniques that this version lacks. For these, Set() returns kUnimplemented unless
// the value is the default.
class RunConfigBuilder {
 public:
  RunConfigBuilder();
  explicit RunConfigBuilder(const RunConfig& start);
  ~RunConfigBuilder();
  RunConfigBuilder(RunConfigBuilder&&) noexcept;
  RunConfigBuilder& operator=(RunConfigBuilder&&) noexcept;

  absl::Status SetPreset(std::string_view name);
  // `json` is the text of a Hugging Face config.json, `name` its display name.
  absl::Status SetModelConfig(std::string_view name, std::string_view json);
  absl::Status SetRunJson(std::string_view json);  // text of a run.json
  absl::Status Set(std::string_view key, std::string_view value);
  absl::StatusOr<RunConfig> Build() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the run.json of a config: its keys as nested objects, including defaults.
std::string ToJson(const RunConfig& config);
// Convert to and from binary proto/run.proto, as in the trace header and the worker's requests.
std::string ToProtoBytes(const RunConfig& config);
absl::StatusOr<RunConfig> FromProtoBytes(std::string_view bytes);

std::string_view Name(Backend);

// Model presets that are compiled in (resources/models).
struct ModelPreset {
  std::string_view name;         // "qwen2-0.5b"
  std::string_view config_json;  // Hugging Face config text, or the "basics" form
  bool for_tests = false;        // a model of the tests, which nobody else trains
  // The number of parameters, counted by a plan, for families that estimate/weights.h cannot count;
  // 0 if not stated.
  uint64_t parameters = 0;
};
std::vector<ModelPreset> ModelPresets();

}  // namespace vramscope::run
