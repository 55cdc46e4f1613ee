#include "profiler/run/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "profiler/run/alloc_conf.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/messages.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

// A choice that is an enumeration: its names come from Name().
template <class Enum, class Get>
KeySpec Choice(std::string_view key, std::string_view help, std::initializer_list<Enum> values,
               std::vector<std::string_view> reserved, Get get) {
  KeySpec spec{.key = key, .help = help, .kind = ValueKind::kChoice};
  std::vector<Enum> all(values);
  for (Enum value : all) spec.choices.push_back(Name(value));
  spec.reserved = std::move(reserved);
  spec.apply = [all, get](RunConfig& config, std::string_view text) {
    for (Enum value : all) {
      if (Name(value) == text) get(config) = value;
    }
  };
  spec.text = [get](const RunConfig& config) {
    return std::string(Name(get(const_cast<RunConfig&>(config))));
  };
  return spec;
}

template <class Get>
KeySpec Integer(std::string_view key, std::string_view help, double low, double high, Get get) {
  KeySpec spec{.key = key, .help = help, .kind = ValueKind::kInteger, .low = low, .high = high};
  spec.apply = [get](RunConfig& config, std::string_view text) {
    auto& field = get(config);
    field = static_cast<std::remove_reference_t<decltype(field)>>(ParseInteger(text).value());
  };
  spec.text = [get](const RunConfig& config) {
    return fmt::format("{}", get(const_cast<RunConfig&>(config)));
  };
  return spec;
}

template <class Get>
KeySpec Number(std::string_view key, std::string_view help, double low, double high, Get get) {
  KeySpec spec{.key = key, .help = help, .kind = ValueKind::kNumber, .low = low, .high = high};
  spec.apply = [get](RunConfig& config, std::string_view text) {
    get(config) = ParseNumber(text).value();
  };
  spec.text = [get](const RunConfig& config) {
    return fmt::format("{}", get(const_cast<RunConfig&>(config)));
  };
  return spec;
}

KeySpec Reserved(std::string_view key, std::string_view help, std::string_view only,
                 std::vector<std::string_view> reserved) {
  return {.key = key,
          .help = help,
          .kind = ValueKind::kChoice,
          .choices = {only},
          .reserved = std::move(reserved)};
}

std::vector<std::string> SplitTargets(std::string_view text) {
  std::vector<std::string> targets;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) targets.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return targets;
}

bool IsNameChar(char c, std::string_view more) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         more.find(c) != std::string_view::npos;
}

constexpr std::string_view kTargets =
    "expected module names with commas between them, as \"q_proj,v_proj\"; a run.json may write "
    "[\"q_proj\", \"v_proj\"]";
constexpr std::string_view kTrainable =
    "expected all, first-layer, last-layer or a pattern over parameter names, as \"*.mlp.*\"";

absl::Status CheckTargets(std::string_view text) {
  const std::vector<std::string> targets = SplitTargets(text);
  bool good = !targets.empty() && targets.size() <= 64 && text.size() <= 1024;
  for (const std::string& target : targets) {
    for (char c : target) good = good && IsNameChar(c, "_.-");
  }
  return good ? absl::OkStatus() : absl::InvalidArgumentError(std::string(kTargets));
}

absl::Status CheckTrainable(std::string_view text) {
  bool good = !text.empty() && text.size() <= 256;
  for (char c : text) good = good && IsNameChar(c, "_.-*?[],!");
  return good ? absl::OkStatus() : absl::InvalidArgumentError(std::string(kTrainable));
}

std::string OrEmpty(double value) { return value > 0 ? fmt::format("{}", value) : ""; }

std::vector<KeySpec> DeviceSpecs() {
  std::vector<KeySpec> specs;
  specs.push_back({.key = "device",
                   .help = "GPU that is planned for, a name of the device table",
                   .kind = ValueKind::kText,
                   .expected = "expected a name of the device table (`vramscope devices`)",
                   .apply = [](RunConfig& c, std::string_view v) { c.device = v; },
                   .text = [](const RunConfig& c) { return c.device; },
                   .check = [](std::string_view v) { return FindDevice(v).status(); }});
  specs.push_back(
      {.key = "custom_device.memory",
       .help = "memory of the GPU in place of the table's (\"24GiB\")",
       .kind = ValueKind::kBytes,
       .low = 1 << 20,
       .apply = [](RunConfig& c,
                   std::string_view v) { c.custom_device.memory_bytes = ParseBytes(v).value(); },
       .text =
           [](const RunConfig& c) {
             const uint64_t bytes = c.custom_device.memory_bytes;
             return bytes > 0 ? fmt::format("{}", bytes) : std::string();
           }});
  specs.push_back(
      {.key = "custom_device.bandwidth",
       .help = "memory bandwidth in bytes a second in place of the table's (\"1008e9\")",
       .kind = ValueKind::kNumber,
       .low = 1e6,
       .high = 1e18,
       .apply =
           [](RunConfig& c, std::string_view v) {
             c.custom_device.bandwidth_bytes_per_s = ParseNumber(v).value();
           },
       .text = [](const RunConfig& c) { return OrEmpty(c.custom_device.bandwidth_bytes_per_s); }});
  specs.push_back(
      {.key = "custom_device.flops",
       .help = "dense operations a second at the run's precision in place of the table's",
       .kind = ValueKind::kNumber,
       .low = 1e6,
       .high = 1e21,
       .apply = [](RunConfig& c,
                   std::string_view v) { c.custom_device.flops = ParseNumber(v).value(); },
       .text = [](const RunConfig& c) { return OrEmpty(c.custom_device.flops); }});
  return specs;
}

std::vector<KeySpec> MakeSpecs() {
  std::vector<KeySpec> s;
  s.push_back(Integer("batch", "samples in one optimizer step, over all its micro-batches", 1,
                      65536, [](RunConfig& c) -> int& { return c.batch; }));
  s.push_back(
      Integer("seq", "tokens in a sample", 1, 1 << 20, [](RunConfig& c) -> int& { return c.seq; }));
  s.push_back(Integer("micro_batches",
                      "passes that the batch is split into before the optimizer steps", 1, 4096,
                      [](RunConfig& c) -> int& { return c.micro_batches; }));
  s.push_back(
      Integer("steps", "training steps", 1, 1000, [](RunConfig& c) -> int& { return c.steps; }));
  s.push_back(Choice("precision",
                     "types of weights and arithmetic; amp-*: autocast over fp32 weights",
                     {Precision::kFp32, Precision::kBf16, Precision::kFp16, Precision::kAmpBf16,
                      Precision::kAmpFp16},
                     {}, [](RunConfig& c) -> Precision& { return c.precision; }));
  s.push_back(Choice("optimizer.name", "what updates the weights",
                     {OptimizerName::kSgd, OptimizerName::kAdam, OptimizerName::kAdamW},
                     {"adafactor"},
                     [](RunConfig& c) -> OptimizerName& { return c.optimizer.name; }));
  s.push_back(Choice("optimizer.impl",
                     "loop: tensor by tensor; foreach: lists of tensors; fused: one kernel",
                     {OptimizerImpl::kLoop, OptimizerImpl::kForeach, OptimizerImpl::kFused}, {},
                     [](RunConfig& c) -> OptimizerImpl& { return c.optimizer.impl; }));
  s.push_back(Reserved("optimizer.bits", "bits of an optimizer state element", "32", {"8"}));
  s.push_back(Number("optimizer.lr", "learning rate", 0, 1000,
                     [](RunConfig& c) -> double& { return c.optimizer.lr; }));
  s.push_back(Number("optimizer.momentum", "momentum of sgd; 0 keeps no state", 0, 1,
                     [](RunConfig& c) -> double& { return c.optimizer.momentum; }));
  s.push_back(Number("optimizer.weight_decay", "weight decay", 0, 1000,
                     [](RunConfig& c) -> double& { return c.optimizer.weight_decay; }));
  s.push_back(Choice("checkpointing.mode", "which activations are computed again in backward",
                     {CheckpointMode::kNone, CheckpointMode::kLayer, CheckpointMode::kEveryK},
                     {"ffn", "attention", "selective"},
                     [](RunConfig& c) -> CheckpointMode& { return c.checkpointing.mode; }));
  s.push_back(Integer("checkpointing.k", "layers in a checkpointed segment, for every-k", 1, 4096,
                      [](RunConfig& c) -> int& { return c.checkpointing.k; }));
  s.push_back(
      Choice("attention", "eager: explicit scores; math, efficient, flash: what SDPA may choose",
             {Attention::kEager, Attention::kMath, Attention::kEfficient, Attention::kFlash}, {},
             [](RunConfig& c) -> Attention& { return c.attention; }));
  s.push_back(Integer("lora.rank", "rank of the LoRA adapters; 0: no LoRA", 0, 4096,
                      [](RunConfig& c) -> int& { return c.lora.rank; }));
  s.push_back(Number("lora.alpha", "LoRA scale: alpha / rank", 0, 1e6,
                     [](RunConfig& c) -> double& { return c.lora.alpha; }));
  s.push_back(Number("lora.dropout", "dropout before the adapters", 0, 0.999,
                     [](RunConfig& c) -> double& { return c.lora.dropout; }));
  s.push_back(
      {.key = "lora.targets",
       .help = "linear layers that get an adapter, as \"q_proj,v_proj\"",
       .kind = ValueKind::kText,
       .expected = kTargets,
       .apply = [](RunConfig& c, std::string_view v) { c.lora.targets = SplitTargets(v); },
       .text = [](const RunConfig& c) { return fmt::format("{}", fmt::join(c.lora.targets, ",")); },
       .check = CheckTargets});
  s.push_back(Reserved("lora.placement", "where the adapters stand", "embedded", {"decoupled"}));
  s.push_back({.key = "trainable",
               .help = "parameters that train: all, first-layer, last-layer or a pattern",
               .kind = ValueKind::kText,
               .expected = kTrainable,
               .apply = [](RunConfig& c, std::string_view v) { c.trainable = v; },
               .text = [](const RunConfig& c) { return c.trainable; },
               .check = CheckTrainable});
  s.push_back(
      Reserved("offload.optimizer", "where the optimizer state lives", "none", {"cpu", "nvme"}));
  s.push_back(Reserved("offload.parameters", "where the parameters live", "none", {"cpu", "nvme"}));
  s.push_back(
      Reserved("offload.activations", "where saved activations live", "none", {"cpu", "nvme"}));
  s.push_back(
      Reserved("activation_compression", "how saved activations are kept", "none", {"int8"}));
  s.push_back(Reserved("loss", "how the loss takes the logits", "full", {"chunked"}));
  s.push_back(Choice("zero_grad", "after a step gradients are released (none) or filled with zeros",
                     {ZeroGrad::kNone, ZeroGrad::kZero}, {},
                     [](RunConfig& c) -> ZeroGrad& { return c.zero_grad; }));
  s.push_back(Reserved("shard.strategy", "how GPUs share the training state", "none",
                       {"ddp", "zero1", "zero2", "zero3", "tensor"}));
  s.push_back({.key = "shard.ranks",
               .help = "GPUs that share",
               .kind = ValueKind::kInteger,
               .low = 1,
               .high = 65536});
  s.push_back(
      Reserved("init_on_device", "weights are made on the GPU, not on the CPU", "false", {"true"}));
  for (KeySpec& spec : DeviceSpecs()) s.push_back(std::move(spec));
  s.push_back({.key = "alloc_conf",
               .help = "settings of the caching allocator, as PYTORCH_CUDA_ALLOC_CONF",
               .kind = ValueKind::kText,
               .expected = "expected text, as \"max_split_size_mb:128\"",
               .apply = [](RunConfig& c, std::string_view v) { c.alloc_conf = v; },
               .text = [](const RunConfig& c) { return c.alloc_conf; },
               .check = [](std::string_view v) { return ParseAllocConf(v).status(); }});
  s.push_back(Reserved("eval", "an evaluation pass after training", "none", {"grad", "no_grad"}));
  s.push_back(Integer("seed", "seed of weights and data", -0x1p63, 0x1p63,
                      [](RunConfig& c) -> int64_t& { return c.seed; }));
  s.push_back(Choice("backend", "plan: nothing is computed; cpu, cuda: the step really runs",
                     {Backend::kPlan, Backend::kCpu, Backend::kCuda}, {},
                     [](RunConfig& c) -> Backend& { return c.backend; }));
  return s;
}

absl::Status Bad(const KeySpec& spec, std::string_view value, const std::string& expected) {
  return absl::InvalidArgumentError(
      fmt::format("{}: {} is not allowed; {}", spec.key, Quoted(value), expected));
}

absl::Status NotAvailable(const KeySpec& spec, std::string_view value) {
  return absl::UnimplementedError(fmt::format(
      "{}: {} is not available in this version{}", spec.key, Quoted(value),
      spec.choices.empty() ? std::string()
                           : fmt::format("; choose from: {}", fmt::join(spec.choices, ", "))));
}

bool Contains(const std::vector<std::string_view>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

const std::vector<KeySpec>& Specs() {
  static const std::vector<KeySpec>* specs = new std::vector<KeySpec>(MakeSpecs());
  return *specs;
}

const KeySpec* FindSpec(std::string_view key) {
  for (const KeySpec& spec : Specs()) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

std::string Expected(const KeySpec& spec) {
  switch (spec.kind) {
    case ValueKind::kChoice:
      return fmt::format("choose from: {}", fmt::join(spec.choices, ", "));
    case ValueKind::kInteger:
      return spec.high > 9e15  // a seed: any
                 ? "expected a whole number of 64 bits"
                 : fmt::format("expected a whole number from {:.0f} to {:.0f}", spec.low,
                               spec.high);
    case ValueKind::kNumber:
      return fmt::format("expected a number from {} to {}", spec.low, spec.high);
    case ValueKind::kBytes:
      return fmt::format(
          "expected {} to 1 EiB: bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB "
          "(\"24GiB\")",
          FormatBytes(static_cast<uint64_t>(spec.low)));
    case ValueKind::kText:
      break;
  }
  return std::string(spec.expected);
}

absl::Status Check(const KeySpec& spec, std::string_view value) {
  switch (spec.kind) {
    case ValueKind::kChoice:
      if (Contains(spec.choices, value)) break;
      if (Contains(spec.reserved, value)) return NotAvailable(spec, value);
      return Bad(spec, value, Expected(spec));
    case ValueKind::kInteger: {
      const absl::StatusOr<int64_t> number = ParseInteger(value);
      if (!number.ok()) return Bad(spec, value, Expected(spec));
      const double as_double = static_cast<double>(*number);
      if (as_double < spec.low || as_double > spec.high) return Bad(spec, value, Expected(spec));
      break;
    }
    case ValueKind::kNumber: {
      const absl::StatusOr<double> number = ParseNumber(value);
      if (!number.ok() || *number < spec.low || *number > spec.high) {
        return Bad(spec, value, Expected(spec));
      }
      break;
    }
    case ValueKind::kBytes: {
      const absl::StatusOr<uint64_t> bytes = ParseBytes(value);
      if (!bytes.ok() || static_cast<double>(*bytes) < spec.low) {
        return Bad(spec, value, Expected(spec));
      }
      break;
    }
    case ValueKind::kText:
      break;
  }
  if (spec.check) {
    absl::Status status = spec.check(value);
    if (!status.ok()) {
      // A check that names the key itself (device) is passed on as it is.
      if (status.message().substr(0, spec.key.size()) == std::string(spec.key)) return status;
      return Bad(spec, value, std::string(status.message()));
    }
  }
  if (spec.key == "shard.ranks" && value != "1") return NotAvailable(spec, value);
  return absl::OkStatus();
}

absl::Status UnknownKey(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const KeyInfo& info : Keys()) keys.push_back(info.key);
  const std::string_view near = Nearest(key, keys.data(), keys.data() + keys.size());
  return absl::InvalidArgumentError(
      fmt::format("unknown key {}{}; the keys are: {}", Quoted(key),
                  near.empty() ? std::string() : fmt::format(" (did you mean \"{}\"?)", near),
                  fmt::join(keys, ", ")));
}

const std::vector<KeyInfo>& Keys() {
  static const std::vector<KeyInfo>* keys = [] {
    auto* list = new std::vector<KeyInfo>;
    KeyInfo model{"model", "name of a model preset", {}};
    for (const ModelPreset& preset : ModelPresets()) model.choices.push_back(preset.name);
    list->push_back(std::move(model));
    for (const KeySpec& spec : Specs()) list->push_back({spec.key, spec.help, spec.choices});
    return list;
  }();
  return *keys;
}

}  // namespace vramscope::run
