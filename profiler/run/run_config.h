// What a run is, as plain values: model, sizes, device, and what the techniques are set to. The
// trainer, the window and the command line all speak this struct; proto/run.proto is its serialised
// form.
//
//   RunConfigBuilder b;                                  // defaults
//   RETURN_IF_ERROR(b.SetPreset("qwen2-0.5b"));
//   RETURN_IF_ERROR(b.Set("optimizer.name", "adamw"));   // what --set optimizer.name=adamw does
//   ASSIGN_OR_RETURN(RunConfig config, b.Build());       // validated
//
// Values only; free of LibTorch, Qt and protobuf. Thread-safe as any value.
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

// Overrides of the named device's figures; 0: as the device table says.
struct CustomDevice {
  uint64_t memory_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  double flops = 0;  // dense rate of the run's precision
  bool any() const { return memory_bytes > 0 || bandwidth_bytes_per_s > 0 || flops > 0; }
};

struct RunConfig {
  Backend backend = Backend::kPlan;
  std::string model = "qwen2-0.5b";  // preset name; for a config.json: its file name, for display
  std::string model_config_json;     // text of the Hugging Face config (a preset's, when by name)
  int batch = 2;
  int seq = 512;
  int micro_batches = 1;
  // The first makes the optimizer's state, the second is what every later one looks like.
  int steps = 2;
  std::string device = "rtx-4090";
  CustomDevice custom_device;
  std::string alloc_conf;  // as PYTORCH_CUDA_ALLOC_CONF (alloc_conf.h); "": PyTorch's defaults
  int64_t seed = 0;
  // What techniques are set to, those away from their defaults only (catalogue.h).
  SettingValues settings;

  // Of a technique's setting: as set, or its default. `key` must be in the catalogue.
  const std::string& Get(std::string_view key) const;
  bool Is(std::string_view key, std::string_view value) const { return Get(key) == value; }
  int64_t Integer(std::string_view key) const;
  double Number(std::string_view key) const;
  std::vector<std::string> Names(std::string_view key) const;  // "q_proj,v_proj"
  // Unchecked: Build() of a builder that starts with this config looks at it.
  void Set(std::string_view key, std::string_view value);
};

// PyTorch's weight decay for the optimizer that is set: 0.01 for AdamW, 0 for the others. A builder
// takes it unless the key was set.
void SetDefaultWeightDecay(RunConfig& config);

// The device table's entry for `config.device` with `config.custom_device` applied.
absl::StatusOr<DeviceProfile> ResolveDevice(const RunConfig& config);

// One settable key, for --set, the window's forms, documentation and completion.
struct KeyInfo {
  std::string_view key;                   // "optimizer.impl"
  std::string_view help;                  // one line
  std::vector<std::string_view> choices;  // empty: free (a number, a pattern)
};
const std::vector<KeyInfo>& Keys();

// Collects settings in order; a later one wins. Every error names the key, the value and what is
// allowed; an unknown key suggests the nearest one. Keys that the format reserves for techniques
// that this version does not have are refused with kUnimplemented when set away from their default.
class RunConfigBuilder {
 public:
  RunConfigBuilder();
  explicit RunConfigBuilder(const RunConfig& start);
  ~RunConfigBuilder();
  RunConfigBuilder(RunConfigBuilder&&) noexcept;
  RunConfigBuilder& operator=(RunConfigBuilder&&) noexcept;

  absl::Status SetPreset(std::string_view name);
  // `json` is the text of a Hugging Face config.json, `name` what to call it.
  absl::Status SetModelConfig(std::string_view name, std::string_view json);
  absl::Status SetRunJson(std::string_view json);  // text of a run.json
  absl::Status Set(std::string_view key, std::string_view value);
  absl::StatusOr<RunConfig> Build() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// run.json of a config: its keys as nested objects, those at their default included.
std::string ToJson(const RunConfig& config);
// Binary proto/run.proto, as in the trace header and the worker's requests.
std::string ToProtoBytes(const RunConfig& config);
absl::StatusOr<RunConfig> FromProtoBytes(std::string_view bytes);

std::string_view Name(Backend);

// Model presets that are compiled in (resources/models).
struct ModelPreset {
  std::string_view name;         // "qwen2-0.5b"
  std::string_view config_json;  // Hugging Face config text, or the "basics" form
};
std::vector<ModelPreset> ModelPresets();

}  // namespace vramscope::run
