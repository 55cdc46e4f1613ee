#include "trainer/models/tokens.h"

#include <torch/types.h>

#include <algorithm>

namespace vramscope::trainer {
namespace {
constexpr int64_t kAlphabet = 64;
}

std::vector<InputSpec> TokenInputs(int64_t rows, int64_t seq) {
  return {{.name = "input_ids", .shape = {rows, seq}}, {.name = "labels", .shape = {rows, seq}}};
}

void FillTokens(std::span<at::Tensor> host, int64_t vocabulary, Labels labels,
                std::mt19937_64& random) {
  const int64_t alphabet = std::min(kAlphabet, vocabulary);
  const int64_t seq = host[0].size(-1);
  auto* id = host[0].mutable_data_ptr<int64_t>();
  auto* label = host[1].mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < host[0].numel() / seq; ++row) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(alphabet));
    for (int64_t i = 0; i < seq; ++i, ++id, ++label) {
      *id = (start + i) % alphabet;
      *label = labels == Labels::kNextTokens ? (*id + 1) % alphabet : *id;
    }
  }
}

std::vector<InputSpec> ClassifierInputs(int64_t rows, int64_t seq, bool token_types) {
  std::vector<InputSpec> inputs{{.name = "input_ids", .shape = {rows, seq}}};
  if (token_types) inputs.push_back({.name = "token_type_ids", .shape = {rows, seq}});
  inputs.push_back({.name = "attention_mask", .shape = {rows, seq}});
  inputs.push_back({.name = "labels", .shape = {rows}});
  return inputs;
}

void FillClassifier(std::span<at::Tensor> host, int64_t vocabulary, int64_t classes,
                    std::mt19937_64& random) {
  const int64_t alphabet = std::min(kAlphabet, vocabulary);
  at::Tensor& ids = host.front();
  at::Tensor& labels = host.back();
  auto* label = labels.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < labels.numel(); ++row) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(alphabet));
    auto* id = ids.mutable_data_ptr<int64_t>() + row * ids.size(1);
    for (int64_t i = 0; i < ids.size(1); ++i) id[i] = (start + i) % alphabet;
    label[row] = start % std::min<int64_t>(classes, 4);
  }
  for (at::Tensor& other : host.subspan(1, host.size() - 2)) other.zero_();
  host[host.size() - 2].fill_(1);  // the mask
}

at::Tensor ClassifierLoss(const at::Tensor& logits, const at::Tensor& labels) {
  return at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), labels.view(-1));
}

}  // namespace vramscope::trainer
