// The batches of language models: token ids with labels for each, or a class for a whole sequence.
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

// What a tokenizer and a collator make of sequences without padding: "input_ids", "token_type_ids"
// where there are `token_types`, "attention_mask" (ones), int64 [rows, seq], and "labels" [rows].
std::vector<InputSpec> ClassifierInputs(int64_t rows, int64_t seq, bool token_types);
// A sequence's class is told by its first token.
void FillClassifier(std::span<at::Tensor> host, int64_t vocabulary, int64_t classes,
                    std::mt19937_64& random);

// The loss of Hugging Face's sequence classifiers with two classes or more.
at::Tensor ClassifierLoss(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace vramscope::trainer
