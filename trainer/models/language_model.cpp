#include "trainer/models/language_model.h"

#include "trainer/models/basics_lm.h"
#include "trainer/models/gpt2.h"
#include "trainer/models/llama.h"

namespace vramscope::trainer {

std::unique_ptr<LanguageModel> MakeLanguageModel(const run::ModelConfig& config,
                                                 const ModelOptions& options) {
  switch (config.family) {
    case run::Family::kLlama:
      return MakeLlama(config, options);
    case run::Family::kGpt2:
      return MakeGpt2(config, options);
    case run::Family::kBasics:
      return MakeBasicsLm(config, options);
  }
  return nullptr;
}

}  // namespace vramscope::trainer
