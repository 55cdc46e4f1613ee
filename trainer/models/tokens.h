// The batch of a causal language model: token ids and labels.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// "input_ids" and "labels", both int64 [rows, seq].
std::vector<InputSpec> TokenInputs(int64_t rows, int64_t seq);

// A task that a model can learn: token t is followed by t + 1 over a small alphabet, every sequence
// starting somewhere else. Labels are a copy of the ids (a loss that shifts them), or the next
// token already.
enum class Labels : uint8_t { kCopies, kNextTokens };
void FillTokens(std::span<at::Tensor> host, int64_t vocabulary, Labels labels,
                std::mt19937_64& random);

}  // namespace vramscope::trainer
