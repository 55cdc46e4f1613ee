// What a run is, as plain values: model, sizes, techniques, device. The trainer, the window and the
// command line all speak this struct; proto/run.proto is its serialised form.
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

namespace vramscope::run {

enum class Backend : uint8_t { kPlan, kCpu, kCuda };
enum class Precision : uint8_t { kFp32, kBf16, kFp16, kAmpBf16, kAmpFp16 };
enum class Attention : uint8_t { kEager, kMath, kEfficient, kFlash };
enum class OptimizerName : uint8_t { kSgd, kAdam, kAdamW };
enum class OptimizerImpl : uint8_t { kLoop, kForeach, kFused };
enum class CheckpointMode : uint8_t { kNone, kLayer, kEveryK };
enum class ZeroGrad : uint8_t { kNone, kZero };  // set gradients to none, or fill with zeros

struct OptimizerConfig {
  OptimizerName name = OptimizerName::kAdamW;
  OptimizerImpl impl = OptimizerImpl::kForeach;
  double lr = 1e-3;
  double momentum = 0.0;
  double weight_decay = 0.01;
};

// PyTorch's default: 0.01 for AdamW, 0 for the others. A builder takes it unless the key was set.
constexpr double DefaultWeightDecay(OptimizerName name) {
  return name == OptimizerName::kAdamW ? 0.01 : 0.0;
}

struct CheckpointConfig {
  CheckpointMode mode = CheckpointMode::kNone;
  int k = 2;  // layers per segment, for kEveryK
};

struct LoraConfig {
  int rank = 0;  // 0: off
  double alpha = 16;
  double dropout = 0.0;
  std::vector<std::string> targets = {"q_proj", "v_proj"};
  bool enabled() const { return rank > 0; }
};

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
  Precision precision = Precision::kFp32;
  Attention attention = Attention::kEager;
  OptimizerConfig optimizer;
  CheckpointConfig checkpointing;
  LoraConfig lora;
  std::string trainable = "all";  // all | first-layer | last-layer | a glob over parameter names
  ZeroGrad zero_grad = ZeroGrad::kNone;
  std::string device = "rtx-4090";
  CustomDevice custom_device;
  std::string alloc_conf;  // as PYTORCH_CUDA_ALLOC_CONF (alloc_conf.h); "": PyTorch's defaults
  int64_t seed = 0;
};

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

// run.json of a config: the JSON mapping of proto/run.proto, fields at their default included.
std::string ToJson(const RunConfig& config);
// Binary proto/run.proto, as in the trace header and the worker's requests.
std::string ToProtoBytes(const RunConfig& config);
absl::StatusOr<RunConfig> FromProtoBytes(std::string_view bytes);

std::string_view Name(Backend);
std::string_view Name(Precision);
std::string_view Name(Attention);
std::string_view Name(OptimizerName);
std::string_view Name(OptimizerImpl);
std::string_view Name(CheckpointMode);
std::string_view Name(ZeroGrad);

// Model presets that are compiled in (resources/models).
struct ModelPreset {
  std::string_view name;         // "qwen2-0.5b"
  std::string_view config_json;  // Hugging Face config text, or the "basics" form
};
std::vector<ModelPreset> ModelPresets();

}  // namespace vramscope::run
