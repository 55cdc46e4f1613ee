#include "profiler/run/toggles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "profiler/run/facts.h"

namespace vramscope::run {
namespace {

std::string ForSearch(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return text;
}

// Keyed by the id of a technique or toggle: the names that PyTorch and other libraries have for it.
// Searches find these names, but they are not shown.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"accumulate", "gradient accumulation"},
    {"activation-offload", "activation offloading, save_on_cpu, CPU offload"},
    {"adapter-tower", "side network, PEFT"},
    {"adapter-layer", "bottleneck adapters, PEFT"},
    {"amp-bf16", "mixed precision, AMP"},
    {"amp-fp16", "mixed precision, AMP, GradScaler"},
    {"attention", "xformers, scaled_dot_product_attention, SDPA"},
    {"bf16", "pure bf16"},
    {"checkpointing", "gradient checkpointing, recomputation, torch.utils.checkpoint"},
    {"chunked-loss", "chunked cross-entropy, fused linear cross-entropy, Liger"},
    {"ddp", "DDP, DistributedDataParallel"},
    {"eight-bit-optimizer", "bitsandbytes"},
    {"flat-sharding", "FullyShardedDataParallel, DeepSpeed ZeRO-3"},
    {"fsdp1-gathered-once", "SHARD_GRAD_OP"},
    {"fused-kernels", "Liger, Unsloth"},
    {"last-layer", "linear probing"},
    {"loop", "foreach=False"},
    {"lora", "PEFT, low-rank adaptation"},
    {"memory-fraction", "set_per_process_memory_fraction"},
    {"optimizer-16bit", "AnyPrecisionAdamW"},
    {"optimizer-in-backward", "optimizer in backward, fused backward"},
    {"optimizer-offload", "CPU offload, DeepSpeed ZeRO-Offload"},
    {"parameter-offload", "FSDP CPU offload, DeepSpeed ZeRO-Offload"},
    {"prefix", "PEFT"},
    {"quantization", "QLoRA, bitsandbytes, load_in_4bit, load_in_8bit"},
    {"tensor-parallel", "Megatron"},
    {"tf32", "TF32 matmul, allow_tf32, set_float32_matmul_precision"},
    {"zero-grad", "set_to_none=False"},
    {"zero1", "ZeRO-1, DeepSpeed"},
    {"zero2", "ZeRO-2, DeepSpeed, reshard_after_forward=False"},
    {"zero3", "ZeRO-3, DeepSpeed, fully_shard, FULL_SHARD"}};

std::string OtherNames(std::string_view id) {
  std::string names;
  for (const auto& [of, other] : kOtherNames)
    if (of == id) names += fmt::format(" {}", other);
  return names;
}

// Sets a setting of a run, or "micro_batches", the only size that techniques change.
void SetKey(RunConfig& config, const std::string& key, const std::string& value) {
  RunConfigBuilder builder(config);
  if (!builder.Set(key, value).ok()) return;
  absl::StatusOr<RunConfig> changed = builder.Build();
  if (changed.ok()) config = *std::move(changed);
}

RunConfig WithAll(RunConfig config, const SettingValues& values) {
  for (const auto& [key, value] : values) SetKey(config, key, value);
  return config;
}

// Returns the rules that are broken in `after`, but not in `before`.
std::vector<const Rule*> NewlyBroken(const RunConfig& before, const RunConfig& after) {
  std::vector<const Rule*> out = BrokenRules(after);
  if (out.empty()) return out;
  const std::vector<const Rule*> old = BrokenRules(before);
  std::erase_if(out, [&](const Rule* rule) { return std::ranges::find(old, rule) != old.end(); });
  return out;
}

// Returns the ways of a toggle. For each control, adds each way with every choice that the model
// offers.
std::vector<SettingValues> WaysOf(const Toggle& toggle, const RunConfig& config) {
  std::vector<SettingValues> out = toggle.ways;
  for (const std::string& key : toggle.controls) {
    const SettingDeclaration* setting = FindSetting(key);
    if (setting == nullptr || setting->choices_from.empty()) continue;
    for (const Choice& choice : ChoicesOf(*setting, config)) {
      for (const SettingValues& way : toggle.ways) {
        SettingValues with = way;
        with.Set(key, choice.value);
        out.push_back(std::move(with));
      }
    }
  }
  return out;
}

// If the change broke rules, applies the settings with which these rules avoid the conflict.
RunConfig Settled(const RunConfig& before, RunConfig config) {
  for (const Rule* rule : NewlyBroken(before, config)) {
    if (rule->refuses && !rule->instead.empty()) config = WithAll(config, rule->instead);
  }
  return config;
}

}  // namespace

const std::vector<ToggleRow>& Toggles() {
  static const auto* rows = [] {
    auto* out = new std::vector<ToggleRow>;
    std::vector<std::string_view> groups;
    for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
      if (std::find(groups.begin(), groups.end(), technique.group) == groups.end())
        groups.push_back(technique.group);
    }
    for (std::string_view group : groups) {
      for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
        if (technique.group != group) continue;
        for (const Toggle& toggle : technique.toggles) out->push_back({&technique, &toggle});
      }
    }
    return out;
  }();
  return *rows;
}

const Toggle* FindToggle(std::string_view id) {
  for (const ToggleRow& row : Toggles()) {
    if (row.toggle->id == id) return row.toggle;
  }
  return nullptr;
}

bool IsOn(const Toggle& toggle, const RunConfig& config) {
  return std::all_of(toggle.on.begin(), toggle.on.end(),
                     [&](const Condition& c) { return Holds(c, config); });
}

RunConfig SwitchedOn(const Toggle& toggle, const RunConfig& config) {
  for (const SettingValues& way : WaysOf(toggle, config)) {
    RunConfig changed = WithAll(config, way);
    if (NewlyBroken(config, changed).empty()) return changed;
  }
  return toggle.ways.empty() ? config : WithAll(config, toggle.ways.front());
}

RunConfig SwitchedOff(const Toggle& toggle, const RunConfig& config) {
  RunConfig changed = config;
  for (const SettingValues& way : toggle.ways) {
    for (const auto& [key, value] : way) {
      const SettingDeclaration* setting = FindSetting(key);
      if (setting != nullptr) SetKey(changed, key, setting->default_value);
    }
  }
  return Settled(config, WithAll(std::move(changed), toggle.off));
}

std::string BlockedBecause(const Toggle& toggle, const RunConfig& config) {
  std::string why;
  for (const SettingValues& way : WaysOf(toggle, config)) {
    const RunConfig changed = WithAll(config, way);
    const std::vector<const Rule*> broken = NewlyBroken(config, changed);
    if (broken.empty()) return {};
    if (why.empty()) why = WhyOf(*broken.front(), changed);
  }
  return why;
}

std::string SearchText(const TechniqueDeclaration& technique, const Toggle* row) {
  std::string text = fmt::format("{} {} {} {}", technique.id, technique.title,
                                 technique.explanation, technique.group);
  for (const SettingDeclaration& setting : technique.settings) {
    text += " " + setting.key;
    // For one toggle, leaves out the choices. The choices that the toggle sets are added below.
    if (row != nullptr) continue;
    for (const Choice& choice : setting.choices) text += " " + choice.value + " " + choice.title;
  }
  for (const std::string& implied : technique.implies) text += " " + implied;
  text += OtherNames(technique.id);
  for (const Toggle& toggle : technique.toggles)
    if ((row == nullptr || row->id == toggle.id) && toggle.id != technique.id)
      text += OtherNames(toggle.id);
  if (row != nullptr) {
    text += fmt::format(" {} {} {}", row->id, row->title, row->explanation);
    for (const SettingValues& way : row->ways) {
      for (const auto& [key, value] : way) text += fmt::format(" {}={}", key, value);
    }
  }
  return ForSearch(std::move(text));
}

bool HasWords(std::string_view search_text, const std::vector<std::string>& words) {
  return std::ranges::all_of(words, [&](const std::string& word) {
    return search_text.find(ForSearch(word)) != search_text.npos;
  });
}

}  // namespace vramscope::run
