// Entry functions for texts that describe a run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads a Hugging Face config.json.
void ModelConfig(const uint8_t* data, size_t size);
// Reads a run.json. As in the functions below, what was accepted must not change when it is written
// and read again.
void RunJson(const uint8_t* data, size_t size);
// Reads the message of proto/run.proto, which is part of a trace's header and of requests to the
// worker.
void RunBytes(const uint8_t* data, size_t size);
// Reads PYTORCH_CUDA_ALLOC_CONF and other values that users type: sizes, numbers, lengths.
void Settings(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
