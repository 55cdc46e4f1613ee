// Batches of language models: token ids with a label for each token, or a class for a whole
// sequence.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// "input_ids" and "labels", both int64 [rows, seq].
std::vector<InputSpec> TokenInputs(int64_t rows, int64_t seq);

// A learnable task over a small alphabet: token t is followed by t + 1. Sequences start with
// different tokens. kCopies: the labels equal the ids, and the loss shifts the labels. kNextTokens:
// the labels are already shifted.
enum class Labels : uint8_t { kCopies, kNextTokens };
void FillTokens(std::span<at::Tensor> host, int64_t vocabulary, Labels labels,
                std::mt19937_64& random);

// The batch that a tokenizer and a collator make of sequences without padding. "input_ids",
// "token_type_ids" (only if `token_types`) and "attention_mask" (all ones) are int64 [rows, seq],
// and "labels" is [rows].
std::vector<InputSpec> ClassifierInputs(int64_t rows, int64_t seq, bool token_types);
// Fills a batch with a task in which the first token determines a sequence's class.
void FillClassifier(std::span<at::Tensor> host, int64_t vocabulary, int64_t classes,
                    std::mt19937_64& random);

// Returns the loss of transformers' sequence classifiers with two or more classes.
at::Tensor ClassifierLoss(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace vramscope::trainer
