// Keeps a KV cache during training, as transformers' models do by default (use_cache=True): each
// layer's keys and values live until the loss is computed. Gemma 2 and 3 create no cache in
// training.
#include "profiler/run/model_config.h"
#include "trainer/models/generation.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class TrainingCache final : public Technique {
 public:
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    return std::make_unique<Cached>();
  }

 private:
  class Cached final : public Held {
    DynamicCache cache_;
    TrainingCacheScope scope_{cache_};
  };
};

}  // namespace

TechniqueEntry DeclareTechnique_training_cache() {
  return {
      .declaration =
          {.id = "training-cache",
           .group = "Activations",
           .title = "KV cache in training",
           .explanation = "Unless use_cache=False is set, a decoder keeps a KV cache: the keys and "
                          "values of all layers stay in memory until the loss is computed. Without "
                          "checkpointing, backward keeps them anyway. With checkpointing, they "
                          "would be freed if there were no cache.",
           .settings = {{.key = "use_cache",
                         .help = "keep keys and values of every layer during forward and loss "
                                 "(use_cache=True in training)",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", ""}}}},
           .toggles = {{.id = "use-cache",
                        .title = "KV cache in training",
                        .explanation = "keys and values are kept until the loss",
                        .on = {{"use_cache", true, {"true"}}},
                        .ways = {{{"use_cache", "true"}}}}},
           .rules =
               {{.when = {{"use_cache", true, {"true"}},
                          {"model.family",
                           false,
                           {"llama", "qwen3", "qwen3-moe", "gemma", "mixtral", "phi", "phi3"}}},
                 .why =
                     "use_cache=true is not supported for {model} in training; set use_cache=false",
                 .instead = {{"use_cache", "false"}}},
                {.when = {{"use_cache", true, {"true"}}, {"checkpointing.mode", false, {"none"}}},
                 .why = "transformers disables the cache with checkpointing, because the cache "
                        "would undo the effect of checkpointing",
                 .refuses = false}},
           .assumes =
               {{.when = {{"use_cache", true, {"false"}},
                          {"mode", true, {"train"}},
                          {"checkpointing.mode", true, {"none"}},
                          {"model.family",
                           true,
                           {"qwen3", "qwen3-moe", "gemma", "mixtral", "phi", "phi3"}}},
                 .what = "the forward pass keeps no cache of keys and values (use_cache=False)"}}},
      .order = 20,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("use_cache", "true")) return nullptr;
        return std::make_unique<TrainingCache>();
      }};
}

}  // namespace vramscope::trainer
