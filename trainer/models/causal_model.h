// A decoder-only model with a head over its last hidden states: what every family adds to its own
// stack of layers. A Stack has Forward(ids, layer_runner, inputs_require_grad), Layers() and
// embedding_weight(). See gpt2.cpp and llama.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/run/model_config.h"
#include "trainer/models/causal_loss.h"
#include "trainer/models/language_model.h"
#include "trainer/models/layers.h"

namespace vramscope::trainer {

template <class Stack>
class CausalModel : public LanguageModel {
 public:
  CausalModel(const run::ModelConfig& config, const ModelOptions& options)
      : LanguageModel(""), config_(config), stack_(config_, options) {
    AddChild(&stack_);
    const Linear::Options head{.inputs = config_.hidden_size,
                               .outputs = config_.vocab_size,
                               .dtype = options.dtype,
                               .standard_deviation = config_.initializer_range};
    head_ = config_.tie_embeddings
                ? std::make_unique<Linear>("lm_head", head, stack_.embedding_weight())
                : std::make_unique<Linear>("lm_head", head);
    AddChild(head_.get());
  }

  at::Tensor Logits(const at::Tensor& ids) override {
    hidden_ = stack_.Forward(ids, layer_runner, inputs_require_grad);
    return head_->Forward(hidden_);
  }

  at::Tensor Loss(const at::Tensor& logits, const at::Tensor& labels) override {
    at::Tensor loss = ShiftedCrossEntropy(logits, labels);
    hidden_.reset();  // a local of the function that also computes the loss
    return loss;
  }

  int layers() const override { return static_cast<int>(config_.layers); }
  int64_t vocab_size() const override { return config_.vocab_size; }
  std::vector<Module*> Layers() override { return stack_.Layers(); }

 private:
  const run::ModelConfig config_;
  Stack stack_;
  std::unique_ptr<Linear> head_;
  at::Tensor hidden_;
};

}  // namespace vramscope::trainer
