#include "profiler/run/check_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/compute_capability.h"
#include "profiler/run/context_growth.h"
#include "profiler/run/device.h"
#include "profiler/run/facts.h"
#include "profiler/run/toggles.h"

namespace vramscope::run {
namespace {

// Larger sizes are mistakes. Products of such sizes would overflow.
constexpr int kMaxBatch = 1 << 20;
constexpr int kMaxSeq = 1 << 24;
constexpr int kMaxSteps = 1'000'000;

absl::Status Bad(std::string text) { return absl::InvalidArgumentError(std::move(text)); }

bool WeightsInHalf(const RunConfig& config) {
  return config.Is("precision", "bf16") || config.Is("precision", "fp16");
}

absl::Status CheckSizes(const RunConfig& config) {
  struct Bound {
    const char* key;
    int value;
    int high;
  };
  for (const Bound& b : {Bound{"batch", config.batch, kMaxBatch}, Bound{"seq", config.seq, kMaxSeq},
                         Bound{"micro_batches", config.micro_batches, kMaxBatch},
                         Bound{"steps", config.steps, kMaxSteps}}) {
    if (b.value >= 1 && b.value <= b.high) continue;
    return Bad(i18n::Format("{} = {} is not between 1 and {}", b.key, b.value, b.high));
  }
  if (config.batch % config.micro_batches != 0) {
    return Bad(
        i18n::Format("batch = {} cannot be divided into micro_batches = {}: batch is the number of "
                     "samples in one optimizer step, and micro_batches must be a divisor of it",
                     config.batch, config.micro_batches));
  }
  return absl::OkStatus();
}

absl::Status CheckWindow(const RunConfig& config, const ModelConfig& model) {
  if (config.Get("attention").starts_with("flash") && model.sliding_window > 0 &&
      config.seq >= model.sliding_window) {
    return Bad(
        i18n::Format("attention=flash cannot apply a sliding window of {} tokens to sequences of "
                     "{} tokens. Use attention=math or attention=eager, or set seq below {}",
                     model.sliding_window, config.seq, model.sliding_window));
  }
  return absl::OkStatus();
}

absl::Status CheckFamily(const RunConfig& config, const ModelConfig& model) {
  // GPT-2's positions end where their table ends. Rotary positions of other models do not end.
  if (model.family == Family::kGpt2 && config.seq > model.max_positions) {
    return Bad(i18n::Format("seq = {} is longer than the model's maximum of {} positions",
                            config.seq, model.max_positions));
  }
  return absl::OkStatus();
}

// Used only for built-in models: a program has its own PyTorch, which may have other kernels.
absl::Status CheckKernels(const RunConfig& config) {
  if (config.backend != Backend::kPlan) return absl::OkStatus();
  const absl::StatusOr<DeviceProfile> device = ResolveDevice(config);
  if (!device.ok()) return device.status();
  if (RunsOnLibTorch(device->compute_capability)) return absl::OkStatus();
  std::vector<std::string> has;
  for (const uint32_t number : LibTorchArchitectures())
    has.push_back(ComputeCapabilityText(number));
  return Bad(
      i18n::Format("device: {} has compute capability {}; LibTorch 2.11 (CUDA 13.0) has no kernels "
                   "for it, only for {}. Choose another device, or plan a program whose PyTorch "
                   "supports it: vramscope plan --device {} -- python train.py",
                   device->name, ComputeCapabilityText(device->compute_capability),
                   fmt::join(has, ", "), device->key));
}

// Only the trainer can check a target that is a path ("layers.3.self_attn.q_proj").
absl::Status CheckLora(const RunConfig& config, const ModelConfig& model) {
  if (config.Integer("lora.rank") == 0 || model.family == Family::kOther) {
    return absl::OkStatus();
  }
  const std::vector<std::string_view> names = LinearLayerNames(model);
  for (const std::string& target : config.Names("lora.targets")) {
    const std::string_view last = std::string_view(target).substr(target.rfind('.') + 1);
    if (std::ranges::find(names, last) != names.end()) continue;
    return Bad(i18n::Format(
        "lora.targets: no linear module is named \"{}\"; this model has {}", target,
        names.empty() ? i18n::Text("none") : fmt::format("{}", fmt::join(names, ", "))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelConfig> CheckRun(const RunConfig& config) {
  if (absl::Status status = CheckSizes(config); !status.ok()) return status;
  absl::StatusOr<ModelConfig> model = ParseModelConfig(config.model_config_json);
  if (!model.ok()) return model.status();
  if (model->family == Family::kOther &&
      TheCatalogue().FamilyOf(config.model_config_json) == nullptr) {
    std::vector<std::string> titles;
    for (const FamilyDeclaration& family : TheCatalogue().families) titles.push_back(family.title);
    const std::string& name = model->architecture.empty() ? model->type : model->architecture;
    return Bad(
        i18n::Format("config.json: no supported model family is called \"{}\"; supported: {}",
                     name.substr(0, 100), fmt::join(titles, ", ")));
  }
  if (absl::Status status = CheckRules(config); !status.ok()) return status;
  if (absl::Status status = CheckKernels(config); !status.ok()) return status;
  for (const auto check : {CheckWindow, CheckFamily, CheckLora}) {
    if (absl::Status status = check(config, *model); !status.ok()) return status;
  }
  return model;
}

std::vector<Assumption> WeightAssumptions(const RunConfig& config, const ModelConfig& model) {
  std::vector<Assumption> out;
  const std::string planned = WeightsInHalf(config) ? config.Get("precision") : "fp32";
  const bool same =
      model.stored_type.empty() || model.stored_type == (planned == "fp32"   ? "float32"
                                                         : planned == "bf16" ? "bfloat16"
                                                                             : "float16");
  if (!same) {
    out.push_back(
        {i18n::English(
             "weights are {} in memory (precision={}), although the checkpoint contains {}",
             planned, config.Get("precision"), model.stored_type.substr(0, 40)),
         "config.json: torch_dtype"});
  }
  if (!model.unknown.empty()) {
    std::vector<std::string> names = model.unknown;
    constexpr size_t kMost = 8;
    if (names.size() > kMost) {
      names.resize(kMost);
      names.push_back(fmt::format("{} more", model.unknown.size() - kMost));
    }
    for (std::string& name : names) name = name.substr(0, 60);
    out.push_back({i18n::English("vramscope does not know these keys, so they have no effect: {}",
                                 fmt::join(names, ", ")),
                   "config.json"});
  }
  return out;
}

namespace {

// A changed setting has no effect if it is a detail of toggles that are all off. Returns the first
// of these toggles, or null if one of them is on or there are none.
const Toggle* RowThatIsOff(const SettingDeclaration& setting, const RunConfig& config) {
  const Toggle* off = nullptr;
  for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
    for (const Toggle& row : technique.toggles) {
      const bool on = IsOn(row, config);
      // Whether the setting fulfils one of several conditions of the toggle.
      const bool says = row.on.size() > 1 && std::ranges::any_of(row.on, [&](const Condition& c) {
                          return c.key == setting.key && Holds(c, config);
                        });
      const bool controls = std::ranges::find(row.controls, setting.key) != row.controls.end();
      const bool switches =
          std::ranges::any_of(row.on, [&](const Condition& c) { return c.key == setting.key; });
      if (on && (controls || switches)) return nullptr;
      if (off == nullptr && (controls || says)) off = &row;
    }
  }
  return off;
}

// Reports settings that have no effect. They are no errors: users may set the details of a
// technique before they switch it on, or keep them after they switch it off. run.json stores such
// settings, too.
void AddWithoutEffect(const RunConfig& config, std::vector<Assumption>& out) {
  const std::vector<const Rule*> broken = BrokenRules(config);
  for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
    for (const SettingDeclaration& setting : technique.settings) {
      const std::string& value = config.Get(setting.key);
      if (value == setting.default_value) continue;
      std::string why;
      // A broken rule that does not refuse the combination says why the setting has no effect.
      for (const Rule& rule : technique.rules) {
        const bool of_it =
            std::ranges::find(rule.when, setting.key, &Condition::key) != rule.when.end();
        if (why.empty() && !rule.refuses && of_it && std::ranges::count(broken, &rule) > 0)
          why = WhyOf(rule, config);
      }
      if (const Toggle* row = why.empty() ? RowThatIsOff(setting, config) : nullptr)
        why = i18n::English("\"{}\" is not switched on", row->title);
      if (why.empty()) continue;
      out.push_back(
          {i18n::English("{} = {} has no effect: {}", setting.key, value.substr(0, 100), why),
           i18n::English("technique: {}", technique.title)});
    }
  }
}

// Adds the assumptions that are declared by everything that the run uses.
void AddDeclared(const RunConfig& config, std::vector<Assumption>& out) {
  const Catalogue& catalogue = TheCatalogue();
  for (const TechniqueDeclaration& technique : catalogue.techniques) {
    for (const Assumed& assumed : technique.assumes) {
      const bool holds = std::ranges::all_of(
          assumed.when, [&](const Condition& condition) { return Holds(condition, config); });
      if (holds) out.push_back({assumed.what, i18n::English("technique: {}", technique.title)});
    }
  }
  const OptimizerDeclaration* optimizer = catalogue.FindOptimizer(config.Get("optimizer.name"));
  if (optimizer != nullptr && config.Is("mode", "train")) {
    for (const std::string& what : optimizer->assumes) {
      out.push_back({what, i18n::English("optimizer: {}", optimizer->title)});
    }
  }
  if (const FamilyDeclaration* family = catalogue.FamilyOf(config.model_config_json)) {
    for (const std::string& what : family->assumes)
      out.push_back({what, i18n::English("model: {}", family->title)});
  }
}

// Adds the assumption that PEFT's prepare_model_for_kbit_training is not called. (Most QLoRA
// scripts call it.)
void AddNotPrepared(const RunConfig& config, const ModelConfig& model,
                    std::vector<Assumption>& out) {
  const bool matters = config.Is("prepare_kbit_training", "false") && WeightsInHalf(config) &&
                       config.Is("mode", "train");
  if (!matters) return;
  const int64_t matrices = model.tie_embeddings ? 1 : 2;
  out.push_back(
      {TEXT_MARK(
           "prepare_model_for_kbit_training is assumed not to be called. If the function is called "
           "(prepare_kbit_training=true), norms, embeddings and the output layer are cast to fp32. "
           "The output layer and the embedding then need this much more memory"),
       i18n::English("setting: {}", "prepare_kbit_training"),
       2 * static_cast<uint64_t>(matrices * model.vocab_size * model.hidden_size)});
}

}  // namespace

std::vector<Assumption> Assumptions(const RunConfig& config, const ModelConfig& model) {
  std::vector<Assumption> out = WeightAssumptions(config, model);
  for (const std::string& ignored : model.ignored) out.push_back({ignored, "config.json"});
  if (model.sliding_window > 0 && config.seq >= model.sliding_window) {
    out.push_back({i18n::English("every layer applies the sliding window of {} as a mask",
                                 model.sliding_window),
                   "config.json: sliding_window"});
  }
  // Reports nothing under gradient checkpointing: transformers itself then disables the cache.
  if (model.use_cache && config.Is("checkpointing.mode", "none") &&
      config.Is("use_cache", "false") && !config.Is("mode", "generate")) {
    const uint64_t width = config.Is("precision", "fp32") ? 4 : 2;
    const auto elements = static_cast<uint64_t>(config.batch / config.micro_batches) *
                          static_cast<uint64_t>(config.seq) *
                          static_cast<uint64_t>(model.kv_heads * model.head_dim);
    out.push_back(
        {TEXT_MARK("the forward pass keeps no cache of keys and values (use_cache=False)"),
         "config.json: use_cache", 2 * static_cast<uint64_t>(model.layers) * elements * width});
  }
  AddWithoutEffect(config, out);
  if (config.backend == Backend::kPlan) {
    AddDeclared(config, out);
    if (config.Is("quantization", "nf4") || config.Is("quantization", "int8"))
      AddNotPrepared(config, model, out);
    out.push_back(HostAssumption());
    const absl::StatusOr<DeviceProfile> device = ResolveDevice(config);
    if (device.ok()) out.push_back(ContextAssumption(*device));
  }
  return out;
}

Assumption HostAssumption() {
  return {TEXT_MARK("every host is assumed to launch a kernel in 10 us. If a step waits for its "
                    "host, it may take more or less time than planned"),
          TEXT_MARK("host times")};
}

Assumption ContextAssumption(const DeviceProfile& device) {
  const ContextGrowth& growth = GrowthOf(device.key);
  const bool of_table = device.key.find_first_of(":=") == std::string::npos;
  std::string takes;
  if (!growth.driver.empty()) {
    takes = i18n::English("the amount that was measured (driver {}, {}) on a GPU like {}",
                          growth.driver, growth.with, device.name);
  } else if (of_table) {
    takes = i18n::English("the amount that the device table states for {}", device.name);
  } else if (device.key.find("context=") != std::string::npos) {
    takes = i18n::English("the amount that was given for {}", device.name);
  } else {
    takes = i18n::English("the same amount as on the GPU that provides the missing figures of {}",
                          device.name);
  }
  const absl::StatusOr<Device> all = ReadDevice(device.key);
  const bool shared = all.ok() && all->integrated;
  return {shared ? i18n::English("CUDA context and libraries take {}. Nothing else uses the memory "
                                 "that the GPU shares with the processor",
                                 takes)
                 : i18n::English("CUDA context and libraries take {}", takes),
          of_table ? i18n::English("device table: {}", device.key)
                   : i18n::English("device: {}", device.key),
          device.context_bytes};
}

}  // namespace vramscope::run
