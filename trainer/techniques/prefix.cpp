// Prefix tuning as in PEFT (peft/tuners/prefix_tuning): the model is frozen, and every layer
// attends to a few additional keys and values, which are trained.
#include <torch/types.h>

#include <memory>
#include <utility>
#include <vector>

#include "trainer/models/generation.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

// The module with the trained keys and values. A row of its table has the keys and values of one
// token in all layers.
class Encoder : public Module {
 public:
  Encoder(int64_t tokens, int64_t width) : Module("prompt_encoder") {
    table_ =
        AddParameter("embedding.weight", {.shape = {tokens, width}, .standard_deviation = 1.0});
  }
  at::Tensor Forward(const at::Tensor& tokens) {
    ModuleScope scope(name());
    return at::embedding(table_->tensor, tokens);
  }

 private:
  std::shared_ptr<Parameter> table_;
};

// A cache that starts with the trained keys and values of each layer.
class PrefixCache final : public KeyValueCache {
 public:
  explicit PrefixCache(std::vector<at::Tensor> layers) : layers_(std::move(layers)) {}

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value, const at::Tensor&) override {
    if (keys_.empty()) {
      for (const at::Tensor& both : layers_) {  // [2, batch, heads, tokens, width]
        std::vector<at::Tensor> parts = both.unbind(0);
        keys_.push_back(std::move(parts[0]));
        values_.push_back(std::move(parts[1]));
      }
      layers_.clear();
    }
    keys_[layer] = at::cat({keys_[layer], key}, -2);
    values_[layer] = at::cat({values_[layer], value}, -2);
    return {keys_[layer], values_[layer]};
  }

 private:
  std::vector<at::Tensor> layers_, keys_, values_;
};

class Prefix final : public Technique {
 public:
  explicit Prefix(const run::RunConfig& config)
      : tokens_(config.Integer("prefix.tokens")), rows_(config.batch / config.micro_batches) {}

  void OnOptions(ModelOptions& options) override { dtype_ = options.dtype; }
  absl::Status OnModel(Model& model) override {
    for (Parameter* parameter : model.Parameters()) parameter->trainable = false;
    form_ = model.generation();
    encoder_ = static_cast<Encoder*>(model.Adopt(
        std::make_unique<Encoder>(tokens_, form_.layers * 2 * form_.kv_heads * form_.head_dim)));
    return absl::OkStatus();
  }

  std::unique_ptr<Held> AroundForward(const RunContext& run) override {
    auto held = std::make_unique<Passing>();
    const auto whole = at::TensorOptions().dtype(at::kLong);
    const at::Tensor prompt =
        at::arange(tokens_, whole).unsqueeze(0).expand({rows_, -1}).to(run.device);
    at::Tensor past = encoder_->Forward(prompt).to(dtype_);
    past = past.view({rows_, tokens_, form_.layers * 2, form_.kv_heads, form_.head_dim});
    past = past.permute({2, 0, 3, 1, 4});
    held->cache = std::make_unique<PrefixCache>(past.split(2));
    held->cache->Begin();
    held->pass.cache = held->cache.get();
    held->pass.trained_prefix = tokens_;
    held->scope = std::make_unique<GenerationScope>(held->pass);
    return held;
  }
  // Keys depend on the layer's index, and a rehearsal with fewer layers changes the indices.
  bool rehearses() const override { return false; }

 private:
  struct Passing final : Held {
    std::unique_ptr<PrefixCache> cache;
    GenerationPass pass;
    std::unique_ptr<GenerationScope> scope;
  };
  const int64_t tokens_, rows_;
  GenerationForm form_;
  at::ScalarType dtype_ = at::kFloat;
  Encoder* encoder_ = nullptr;
};

run::Rule NotWith(run::Condition other, const char* why, run::SettingValues instead) {
  return {.when = {{"prefix.tokens", false, {"0"}}, std::move(other)},
          .why = std::string("prefix.tokens ") + why,
          .instead = std::move(instead)};
}

}  // namespace

TechniqueEntry DeclareTechnique_prefix() {
  return {
      .declaration =
          {.id = "prefix",
           .group = "Parameters",
           .title = "Prefix tuning",
           .explanation = "Every layer attends to a few additional keys and values. Only these are "
                          "trained, and the model is frozen. The activations of all its layers are "
                          "still needed, and attention needs a mask.",
           .settings = {{.key = "prefix.tokens",
                         .help = "number of trained keys and values that are placed before the "
                                 "sequence in each layer; 0: none",
                         .kind = run::ValueKind::kInteger,
                         .default_value = "0",
                         .low = 0,
                         .high = 4096,
                         .label = "tokens"}},
           .toggles = {{.id = "prefix",
                        .title = "Prefix tuning",
                        .explanation = "trained keys and values, all other weights frozen",
                        .on = {{"prefix.tokens", false, {"0"}}},
                        .ways = {{{"prefix.tokens", "20"}}},
                        .controls = {"prefix.tokens"}}},
           .rules =
               {NotWith({"model.family",
                         false,
                         {"llama", "qwen3", "qwen3-moe", "mixtral", "phi", "phi3"}},
                        "is only supported for models whose attention reads keys from a cache "
                        "(Llama, Qwen, Mistral, Mixtral and Phi); set prefix.tokens=0",
                        {{"prefix.tokens", "0"}}),
                NotWith({"checkpointing.mode", false, {"none"}},
                        "is not supported with checkpointing: recomputing a layer would create the "
                        "cache again, so PEFT refuses it. Set checkpointing.mode=none",
                        {{"checkpointing.mode", "none"}}),
                NotWith({"attention", true, {"flash", "flash-2", "cudnn"}},
                        "requires a mask in attention, which flash kernels do not accept: use "
                        "attention=efficient or math",
                        {{"attention", "math"}}),
                NotWith({"lora.rank", false, {"0"}},
                        "can't be combined with LoRA adapters: set lora.rank=0",
                        {{"lora.rank", "0"}}),
                NotWith({"trainable", false, {"all"}},
                        "already freezes the weights: set trainable=all", {{"trainable", "all"}}),
                NotWith({"quantization", false, {"none"}},
                        "is only supported for unquantized weights: set quantization=none",
                        {{"quantization", "none"}}),
                NotWith({"use_cache", true, {"true"}},
                        "already uses the KV cache for the prefix: set use_cache=false",
                        {{"use_cache", "false"}}),
                NotWith({"shard.strategy", false, {"none"}},
                        "is only supported on one GPU: set shard.strategy=none",
                        {{"shard.ranks", "1"}, {"shard.strategy", "none"}}),
                NotWith({"generate.tokens", false, {"0"}},
                        "is not supported with generation: set generate.tokens=0",
                        {{"generate.tokens", "0"}, {"mode", "train"}}),
                NotWith({"lengths", false, {""}},
                        "needs batches of equal length: leave the setting \"lengths\" empty",
                        {{"lengths", ""}}),
                NotWith({"samples.file", false, {""}},
                        "needs batches of equal length: leave the setting \"samples.file\" empty",
                        {{"samples.file", ""}})}},
      .order = 41,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Integer("prefix.tokens") == 0) return nullptr;
        return std::make_unique<Prefix>(config);
      }};
}

}  // namespace vramscope::trainer
