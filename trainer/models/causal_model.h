// A decoder-only model with an output layer over its last hidden states. All families of this form
// use it. A Decoder needs a Config (a run::ModelConfig or derived from it), Forward(ids,
// layer_runner, inputs_require_grad), Layers() and embedding_weight(). See gpt2.cpp and decoder.h.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/run/model_config.h"
#include "trainer/models/causal_loss.h"
#include "trainer/models/generation.h"
#include "trainer/models/layers.h"
#include "trainer/models/model.h"
#include "trainer/models/tokens.h"

namespace vramscope::trainer {

// How families differ after the last layer.
struct CausalHead {
  bool bias = false;
  double cap = 0;  // logits: cap * tanh(logits / cap); 0: not capped
  // Whether generation keeps keys and values in tuples and computes the logits of all tokens, like
  // models that do not use transformers' cache classes.
  bool tuples = false;
};

template <class Decoder>
class CausalModel : public Model {
 public:
  using Config = typename Decoder::Config;

  CausalModel(const Config& config, const ModelOptions& options, const CausalHead& form = {})
      : Model(""),
        config_(config),
        form_(form),
        loss_path_(options.loss_path),
        stack_(config_, options) {
    AddChild(&stack_);
    const Linear::Options head{.inputs = config_.hidden_size,
                               .outputs = config_.vocab_size,
                               .bias = form.bias,
                               .dtype = options.dtype,
                               .standard_deviation = config_.initializer_range};
    head_ = config_.tie_embeddings
                ? std::make_unique<Linear>("lm_head", head, stack_.embedding_weight())
                : std::make_unique<Linear>("lm_head", head);
    AddChild(head_.get());
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    return TokenInputs(rows, seq);
  }
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    FillTokens(host, config_.vocab_size, Labels::kCopies, random);
  }

  at::Tensor Logits(const Batch& batch) override {
    // To generate, only the logits of the last token are needed.
    if (Generating() != nullptr && Generating()->trained_prefix == 0) {
      const at::Tensor hidden = stack_.Forward(batch["input_ids"], layer_runner, false);
      return Output(form_.tuples ? hidden : hidden.slice(1, -1));
    }
    hidden_ = stack_.Forward(batch["input_ids"], layer_runner, inputs_require_grad);
    if (split_output_) return std::move(hidden_);
    at::Tensor logits = Output(hidden_);
    return loss_path_ == LossPath::kUpcastInModel ? logits.to(at::kFloat) : logits;
  }
  bool SplitOutput() override { return split_output_ = true; }
  at::Tensor Output(const at::Tensor& hidden) override {
    at::Tensor logits = head_->Forward(hidden);
    if (form_.cap == 0) return logits;
    logits = logits / form_.cap;
    logits = at::tanh(logits);
    logits = logits * form_.cap;
    return logits;
  }

  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    at::Tensor loss = ShiftedCrossEntropy(logits, batch["labels"], loss_path_, cross_entropy);
    hidden_.reset();  // kept until the loss is computed, as in the original
    return loss;
  }

  GenerationForm generation() const override {
    return {.tuples = form_.tuples,
            .layers = config_.layers,
            .kv_heads = config_.kv_heads,
            .head_dim = config_.head_dim,
            .window = config_.sliding_window,
            .positions = config_.max_positions};
  }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "layers", .layers = stack_.Layers()}};
  }

 private:
  const Config config_;
  const CausalHead form_;
  const LossPath loss_path_;
  Decoder stack_;
  std::unique_ptr<Linear> head_;
  at::Tensor hidden_;
  bool split_output_ = false;
};

}  // namespace vramscope::trainer
