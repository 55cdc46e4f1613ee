// The Llama family (Llama, Qwen2, Mistral): RMSNorm, rotary positions, grouped-query attention,
// SwiGLU. Mirrors Hugging Face transformers 4.51: models/llama/modeling_llama.py and its siblings,
// with attn_implementation "eager" or "sdpa", no KV cache, no attention mask given.
#pragma once

#include <memory>

#include "profiler/run/model_config.h"
#include "trainer/models/language_model.h"

namespace vramscope::trainer {

std::unique_ptr<LanguageModel> MakeLlama(const run::ModelConfig& config,
                                         const ModelOptions& options);

}  // namespace vramscope::trainer
