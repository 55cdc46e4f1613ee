// A model as the training loop sees it: a batch of named tensors in, outputs, a loss. Which
// families there are and how one is added: family.h.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Model> model, MakeModel(json, {.dtype = at::kBFloat16}));
//   Materialize(*model, {.device = device});
//   Batch batch = ...;                                 // of model->Inputs(rows, seq)
//   at::Tensor logits = model->Logits(batch);          // [batch, seq, vocab], [batch, classes],
//   ... at::Tensor loss = model->Loss(logits, batch);      // 0-dim
//
// Not thread-safe; see module.h.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/models/module.h"
#include "trainer/models/options.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

struct ModelOptions {
  at::ScalarType dtype = at::kFloat;  // of the parameters
  AttentionKind attention = AttentionKind::kEager;
  LossPath loss_path = LossPath::kLabelsShifted;
  int seq = 0;  // longest sequence that will be asked for
};

// How the training script around the model behaves where scripts differ and the request stream
// shows it. The default is that of the Hugging Face Trainer.
struct TrainingScript {
  // All inputs and targets of a run are made on the device before the first step, and each step
  // takes views; otherwise every step makes its own.
  bool inputs_up_front = false;
  // The caller's variables keep logits and loss through backward and optimizer.
  bool keeps_outputs = false;
};

// What transformers' generate() does with a model.
struct GenerationForm {
  bool encodes = false;     // tokens come of a decoder, which reads what an encoder has made
  int64_t start_token = 0;  // of such a decoder
  bool tuples = false;      // keys and values go from pass to pass in tuples (TupleCache)
  // What a cache has room for. 0: no window; as many positions as one likes.
  int64_t layers = 0, kv_heads = 0, head_dim = 0, window = 0, positions = 0;
};

// One tensor of a micro-batch, its first dimension the samples.
struct InputSpec {
  std::string name;  // "input_ids"
  std::vector<int64_t> shape;
  at::ScalarType dtype = at::kLong;
};

// The tensors of one micro-batch, in the order of Model::Inputs().
class Batch {
 public:
  // The tensor that a program would call so; undefined: there is none.
  const at::Tensor& operator[](std::string_view name) const;
  // Takes the place of the one of that name, which dies now.
  void Set(std::string_view name, at::Tensor tensor);

 private:
  std::vector<std::pair<std::string, at::Tensor>> tensors_;
};

// What the layers of a stack are given beside the hidden state: what they hand on and gradients
// flow through (the encoder's output, a bias that the first layer makes for all), and masks and
// positions that are arguments of each.
using Carried = std::vector<at::Tensor>;
// Runs one layer of a stack; the hook through which checkpointing wraps layers. `hidden` is the
// stack's only reference to the input, so that the hook decides how long it lives. May replace
// elements of `carried`.
using LayerFunction = std::function<at::Tensor(const at::Tensor& hidden, Carried& carried)>;
// Calls `layers` in order on `hidden`, keeping what its technique keeps. `path` is the module that
// they are called from ("model"), for layers that run again in backward.
using LayerRunner =
    std::function<at::Tensor(at::Tensor hidden, const std::vector<LayerFunction>& layers,
                             const std::string& path, Carried& carried)>;

// Layers that are called one after the other.
struct LayerStack {
  std::string name;  // "encoder", "decoder", "layers"
  std::vector<Module*> layers = {};
};

class Model : public Module {
 public:
  using Module::Module;
  // What a micro-batch of `rows` samples is made of. `seq` means what the family says it does.
  virtual std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const = 0;
  // Values of a task that can be learned, for backends that compute. host: CPU tensors of Inputs().
  virtual void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const = 0;

  virtual at::Tensor Logits(const Batch& batch) = 0;
  // Reads `logits`; the caller decides when they die. 0-dim result.
  virtual at::Tensor Loss(const at::Tensor& logits, const Batch& batch) = 0;

  // From now on Logits() returns the last hidden states, [batch, seq, hidden], and Output() makes
  // logits of a part of them. False: the model's output is not a layer over tokens.
  virtual bool SplitOutput() { return false; }
  virtual at::Tensor Output(const at::Tensor& hidden) { return hidden; }

  virtual GenerationForm generation() const { return {}; }
  // Where it encodes: what the encoder makes of "input_ids" and "attention_mask".
  virtual at::Tensor Encode(const Batch&) { return {}; }

  // In the order in which they run; the last one makes the output.
  virtual std::vector<LayerStack> Stacks() = 0;
  std::vector<Module*> Layers();  // of all stacks

  // Whether what enters the first layer is made of parameters, the model's first ones.
  virtual bool embeds() const { return true; }
  virtual TrainingScript script() const { return {}; }
  // A model whose script has an optimizer of its own returns it; null: the configured one.
  virtual std::unique_ptr<Optimizer> MakeOwnOptimizer(const OptimizerConfig&,
                                                      const std::vector<at::Tensor>& trained) {
    static_cast<void>(trained);
    return nullptr;
  }

  // Set by the techniques before the first step.
  // What makes the mean cross entropy of rows of logits; null: PyTorch's operator.
  std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)> cross_entropy;
  LayerRunner layer_runner;          // null: one after the other
  bool inputs_require_grad = false;  // make the embedding's output require a gradient
};

// `functions` in order, through `runner` when there is one.
at::Tensor RunLayers(const LayerRunner& runner, at::Tensor hidden,
                     const std::vector<LayerFunction>& functions, const std::string& path,
                     Carried carried = {});

}  // namespace vramscope::trainer
