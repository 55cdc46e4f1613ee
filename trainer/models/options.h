// What the models are told about a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::trainer {

enum class AttentionKind : uint8_t { kEager, kMath, kEfficient, kFlash, kFlash2, kCudnn };

// How a decoder of transformers comes from its logits to the loss, by version.
enum class LossPath : uint8_t {
  kLabelsShifted,  // from 4.49 on: logits in fp32 as a whole, labels moved by one
  kLogitsCut,      // 4.46 to 4.48: the fp32 logits are copied without the last token
  kUpcastInModel,  // before 4.46: the same, and the model returns fp32 logits alone
};

struct LoraConfig {
  int rank = 0;  // 0: off
  double alpha = 16;
  double dropout = 0.0;
  bool decompose = false;        // DoRA: a trained magnitude a row of the adapted weight
  bool freezes_down = false;     // LoRA-FA: the matrix that the input meets stays as it began
  bool rank_stabilised = false;  // scale: alpha / sqrt(rank)
  bool as_weights = false;       // of the type of the layer's weight; else fp32
  std::vector<std::string> targets = {"q_proj", "v_proj"};
  bool enabled() const { return rank > 0; }
};

}  // namespace vramscope::trainer
