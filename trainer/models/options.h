// What the models are told about a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::trainer {

enum class AttentionKind : uint8_t { kEager, kMath, kEfficient, kFlash, kFlash2, kCudnn };

struct LoraConfig {
  int rank = 0;  // 0: off
  double alpha = 16;
  double dropout = 0.0;
  bool decompose = false;        // DoRA: a trained magnitude a row of the adapted weight
  bool freezes_down = false;     // LoRA-FA: the matrix that the input meets stays as it began
  bool rank_stabilised = false;  // scale: alpha / sqrt(rank)
  std::vector<std::string> targets = {"q_proj", "v_proj"};
  bool enabled() const { return rank > 0; }
};

}  // namespace vramscope::trainer
