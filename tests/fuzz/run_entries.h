// Entry functions for texts that describe a run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// A Hugging Face config.json.
void ModelConfig(const uint8_t* data, size_t size);
// A run.json. An accepted run is written and read again, and must be the same; likewise below.
void RunJson(const uint8_t* data, size_t size);
// proto/run.proto, as in a trace's header and in the worker's requests.
void RunBytes(const uint8_t* data, size_t size);
// PYTORCH_CUDA_ALLOC_CONF and other typed values: sizes, numbers, lengths.
void Settings(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
