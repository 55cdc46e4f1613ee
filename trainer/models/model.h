// The training loop's interface to a model, which takes a batch of named tensors and returns
// outputs and a loss. See family.h for the families and how to add one.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Model> model, MakeModel(json, {.dtype = at::kBFloat16}));
//   Materialize(*model, {.device = device});
//   Batch batch = ...;                             // the tensors of model->Inputs(rows, seq)
//   at::Tensor logits = model->Logits(batch);      // such as [batch, seq, vocab]
//   at::Tensor loss = model->Loss(logits, batch);  // 0-dim
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
  at::ScalarType dtype = at::kFloat;  // type of the parameters
  AttentionKind attention = AttentionKind::kEager;
  LossPath loss_path = LossPath::kLabelsShifted;
  int seq = 0;  // the longest sequence of the run
};

// Differences between training scripts that affect allocations. By default, a script behaves like
// the Hugging Face Trainer.
struct TrainingScript {
  // If true, all inputs and targets of a run are created on the device before the first step, and
  // each step uses views of them. If false, each step creates its own inputs.
  bool inputs_up_front = false;
  // The script's variables keep logits and loss alive during backward and the optimizer step.
  bool keeps_outputs = false;
};

// How generate() of transformers uses a model.
struct GenerationForm {
  bool encodes = false;     // a decoder generates the tokens and reads the encoder's output
  int64_t start_token = 0;  // the decoder's first token
  bool tuples = false;      // keys and values are passed between passes as tuples (TupleCache)
  // The sizes of a cache. `window` is 0 if there is no window. `positions` is 0 if the number of
  // positions has no limit.
  int64_t layers = 0, kv_heads = 0, head_dim = 0, window = 0, positions = 0;
};

// Describes a tensor of a micro-batch, whose first dimension is the samples.
struct InputSpec {
  std::string name;  // "input_ids"
  std::vector<int64_t> shape;
  at::ScalarType dtype = at::kLong;
};

// The tensors of one micro-batch, in the order of Model::Inputs().
class Batch {
 public:
  // Returns the tensor of that name, or an undefined one if there is none.
  const at::Tensor& operator[](std::string_view name) const;
  // Replaces the tensor of that name. The old tensor is freed at once.
  void Set(std::string_view name, at::Tensor tensor);

 private:
  std::vector<std::pair<std::string, at::Tensor>> tensors_;
};

// The inputs of a stack's layers besides the hidden state. Inputs with gradients pass from layer to
// layer (such as the encoder's output, or a bias that the first layer computes). Inputs without
// gradients (masks, positions) are passed to each layer.
using Carried = std::vector<at::Tensor>;
// Runs one layer of a stack. `hidden` is the only reference to the layer's input in the stack, so a
// wrapper (such as a checkpoint) can decide how long the input lives. May replace elements of
// `carried`.
using LayerFunction = std::function<at::Tensor(const at::Tensor& hidden, Carried& carried)>;
// Calls `layers` in order on `hidden`. `path` is the module that calls them ("model"). Layers that
// run again in backward have the same path.
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
  // Describes the tensors of a micro-batch of `rows` samples. The family defines what `seq` means.
  virtual std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const = 0;
  // Fills the CPU tensors of Inputs(), `host`, with a learnable task, for backends that compute.
  virtual void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const = 0;

  virtual at::Tensor Logits(const Batch& batch) = 0;
  // Returns a 0-dim tensor. Does not free `logits`, so that the caller can decide when to do so.
  virtual at::Tensor Loss(const at::Tensor& logits, const Batch& batch) = 0;

  // After this call, Logits() returns the last hidden states, [batch, seq, hidden], and Output()
  // computes logits from a part of them. Returns false if no layer computes the model's output for
  // each token.
  virtual bool SplitOutput() { return false; }
  virtual at::Tensor Output(const at::Tensor& hidden) { return hidden; }

  virtual GenerationForm generation() const { return {}; }
  // If the model has an encoder, returns its output for "input_ids" and "attention_mask".
  virtual at::Tensor Encode(const Batch&) { return {}; }

  // Returns the stacks in the order in which they run. The last stack computes the output.
  virtual std::vector<LayerStack> Stacks() = 0;
  std::vector<Module*> Layers();  // layers of all stacks

  // Returns whether parameters (an embedding) compute the input of the first layer. If so, these
  // are the first parameters of the model.
  virtual bool embeds() const { return true; }
  virtual TrainingScript script() const { return {}; }
  // Returns the optimizer that the model's own script uses, or null if the configured one is
  // used.
  virtual std::unique_ptr<Optimizer> MakeOwnOptimizer(const OptimizerConfig&,
                                                      const std::vector<at::Tensor>& trained) {
    static_cast<void>(trained);
    return nullptr;
  }

  // Techniques set this and the two members below before the first step. Computes the mean cross
  // entropy of rows of logits. If it is null, PyTorch's operator is used.
  std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)> cross_entropy;
  LayerRunner layer_runner;          // null: layers are called one after another
  bool inputs_require_grad = false;  // make the embedding's output require a gradient
};

// Calls `functions` in order. If there is a runner, the runner calls them.
at::Tensor RunLayers(const LayerRunner& runner, at::Tensor hidden,
                     const std::vector<LayerFunction>& functions, const std::string& path,
                     Carried carried = {});

}  // namespace vramscope::trainer
