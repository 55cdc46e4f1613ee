// A decoder-only language model as the training loop sees it: token ids in, logits out, a loss.
//
//   ASSIGN_OR_RETURN(run::ModelConfig config, run::ParseModelConfig(json));
//   auto model = MakeLanguageModel(config, {.dtype = at::kBFloat16});
//   Materialize(*model, {.device = device});
//   at::Tensor logits = model->Logits(ids);           // [batch, seq, vocab]
//   at::Tensor loss = model->Loss(logits, labels);    // 0-dim
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "profiler/run/model_config.h"
#include "profiler/run/run_config.h"
#include "trainer/models/module.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

struct ModelOptions {
  at::ScalarType dtype = at::kFloat;  // of the parameters
  run::Attention attention = run::Attention::kEager;
  int seq = 0;  // longest sequence that will be asked for
};

// How the training script around the model behaves where scripts differ and the request stream
// shows it. The default is that of the Hugging Face Trainer.
struct TrainingScript {
  // All inputs and targets of a run are made on the device before the first step, and each step
  // takes views; otherwise every step makes its own.
  bool inputs_up_front = false;
  // Targets are independent tokens instead of a copy of the inputs that the loss shifts.
  bool separate_targets = false;
  // The caller's variables keep logits and loss through backward and optimizer.
  bool keeps_outputs = false;
};

// Runs one layer of the stack; the hook through which checkpointing wraps layers. `hidden` is the
// stack's only reference to the input, so that the hook decides how long it lives.
using LayerFunction = std::function<at::Tensor(const at::Tensor& hidden)>;
// Calls `layers` in order on `hidden`, keeping what its technique keeps. `path` is the module that
// they are called from ("model"), for layers that run again in backward.
using LayerRunner = std::function<at::Tensor(
    at::Tensor hidden, const std::vector<LayerFunction>& layers, const std::string& path)>;

class LanguageModel : public Module {
 public:
  using Module::Module;
  // ids: int64 [batch, seq]. Returns [batch, seq, vocab].
  virtual at::Tensor Logits(const at::Tensor& ids) = 0;
  // Reads `logits`; the caller decides when they die. labels: int64 [batch, seq]. 0-dim result.
  virtual at::Tensor Loss(const at::Tensor& logits, const at::Tensor& labels) = 0;

  virtual int layers() const = 0;
  virtual int64_t vocab_size() const = 0;
  // The layers in order, for checkpointing and "first-layer" / "last-layer".
  virtual std::vector<Module*> Layers() = 0;

  virtual TrainingScript script() const { return {}; }
  // A model whose script has an optimizer of its own returns it; null: the configured one.
  virtual std::unique_ptr<Optimizer> MakeOwnOptimizer(const run::OptimizerConfig&) {
    return nullptr;
  }

  // Set by the techniques before the first step.
  LayerRunner layer_runner;          // null: one after the other
  bool inputs_require_grad = false;  // make the embedding's output require a gradient
};

// A model that goes together with its options: run::CheckRun() says whether it does.
std::unique_ptr<LanguageModel> MakeLanguageModel(const run::ModelConfig& config,
                                                 const ModelOptions& options);

}  // namespace vramscope::trainer
