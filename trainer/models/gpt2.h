// GPT-2: learned positions, LayerNorm, one matrix for query, key and value, GELU, dropout. Mirrors
// Hugging Face transformers 4.51: models/gpt2/modeling_gpt2.py, attn_implementation "eager" or
// "sdpa", no cache, no attention mask given.
#pragma once

#include <memory>

#include "profiler/run/model_config.h"
#include "trainer/models/language_model.h"

namespace vramscope::trainer {

std::unique_ptr<LanguageModel> MakeGpt2(const run::ModelConfig& config,
                                        const ModelOptions& options);

}  // namespace vramscope::trainer
