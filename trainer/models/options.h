// Settings of a run that models read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::trainer {

enum class AttentionKind : uint8_t { kEager, kMath, kEfficient, kFlash, kFlash2, kCudnn };

// How a decoder of transformers computes the loss from its logits. This depends on the version of
// transformers.
enum class LossPath : uint8_t {
  kLabelsShifted,  // since 4.49: all logits in fp32, labels shifted by one
  kLogitsCut,      // 4.46 to 4.48: the fp32 logits are copied without the last token
  kUpcastInModel,  // before 4.46: like kLogitsCut, but the model returns only fp32 logits
};

struct LoraConfig {
  int rank = 0;  // 0: off
  double alpha = 16;
  double dropout = 0.0;
  bool decompose = false;  // DoRA: a trained magnitude for each row of the adapted weight
  // LoRA-FA: the down-projection is frozen at its initial values
  bool freezes_down = false;
  bool rank_stabilised = false;  // scale: alpha / sqrt(rank)
  bool as_weights = false;       // the adapter has the type of the layer's weight; else fp32
  std::vector<std::string> targets = {"q_proj", "v_proj"};
  bool enabled() const { return rank > 0; }
};

}  // namespace vramscope::trainer
