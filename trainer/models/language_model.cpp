#include "trainer/models/language_model.h"

#include <fmt/format.h>

#include "trainer/models/basics_lm.h"
#include "trainer/models/gpt2.h"
#include "trainer/models/llama.h"
#include "trainer/models/model_config.h"

namespace vramscope::trainer {

absl::StatusOr<std::unique_ptr<LanguageModel>> MakeLanguageModel(std::string_view json,
                                                                 const ModelOptions& options) {
  absl::StatusOr<ModelConfig> config = ParseModelConfig(json);
  if (!config.ok()) return config.status();
  if (config->family == Family::kBasics) return MakeBasicsLm(json, options);
  if (options.attention == run::Attention::kFlash && config->sliding_window > 0 &&
      options.seq > config->sliding_window) {
    return absl::InvalidArgumentError(fmt::format(
        "attention=flash can't apply a sliding window of {} to sequences of {}: use attention=math "
        "or eager, or seq <= {}",
        config->sliding_window, options.seq, config->sliding_window));
  }
  std::unique_ptr<LanguageModel> model =
      config->family == Family::kGpt2 ? MakeGpt2(*config, options) : MakeLlama(*config, options);
  if (model->max_positions() > 0 && options.seq > model->max_positions()) {
    return absl::InvalidArgumentError(fmt::format(
        "seq = {} is longer than the model's {} positions", options.seq, model->max_positions()));
  }
  return model;
}

}  // namespace vramscope::trainer
