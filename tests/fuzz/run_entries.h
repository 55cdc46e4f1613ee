// Entry functions over the texts that say what is to be run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// A Hugging Face config.json.
void ModelConfig(const uint8_t* data, size_t size);
// A run.json. What is taken is written, read again, and must be the same run; likewise below.
void RunJson(const uint8_t* data, size_t size);
// proto/run.proto, as in a trace's header and in the worker's requests.
void RunBytes(const uint8_t* data, size_t size);
// PYTORCH_CUDA_ALLOC_CONF, and what else is typed: sizes, numbers, lengths.
void Settings(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
