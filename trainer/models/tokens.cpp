#include "trainer/models/tokens.h"

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

}  // namespace vramscope::trainer
