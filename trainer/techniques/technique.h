// A technique is one file of this folder. The file has the technique's declaration
// (profiler/run/declarations.h) and the hooks that it overrides. At each hook, the loop calls all
// techniques of the run by ascending `order`; techniques do not depend on each other.
//
//   class ChunkedLoss : public Technique {
//     LossFunction AroundLoss(LossFunction inner) override { ... }
//   };
//   TechniqueEntry DeclareTechnique_chunked_loss() {
//     return {.declaration = {.id = "chunked-loss", ...},
//             .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
//               return config.Is("loss", "chunked") ? std::make_unique<ChunkedLoss>(...) : nullptr;
//             }};
//   }
//
// Each run has its own set of techniques. They are used on the loop's thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>
#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "profiler/run/declarations.h"
#include "profiler/run/fit_moves.h"
#include "profiler/run/run_config.h"
#include "trainer/models/model.h"
#include "trainer/optimizers/optimizer.h"

namespace c10d {
class ProcessGroup;
}

namespace vramscope::trainer {

// What techniques know about the run. A RunContext must outlive the run's techniques.
struct RunContext {
  const run::RunConfig& config;
  c10::Device device;
  bool measured = false;  // tensors get computed values (not in a plan)
  // Joins this run as rank `rank` of `ranks` (Backend::JoinRanks).
  std::function<c10::intrusive_ptr<c10d::ProcessGroup>(int rank, int ranks)> join_ranks;
};

// The base class of scope objects: the destructor ends what the constructor began.
class Held {
 public:
  Held() = default;
  virtual ~Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

// Runs forward and loss of batch `index`, which is not a training batch, in the same way as for a
// training batch. Sets `logits` if the logits outlive the loss.
using ForwardPass = std::function<at::Tensor(int index, at::Tensor& logits)>;

// Computes the loss of a micro-batch from its logits.
using LossFunction = std::function<at::Tensor(Model&, at::Tensor& logits, const Batch& batch)>;

class Technique {
 public:
  Technique() = default;
  virtual ~Technique() = default;
  Technique(const Technique&) = delete;
  Technique& operator=(const Technique&) = delete;

  // Called before the model is created, to set the weights' types and the kind of attention.
  virtual void OnOptions(ModelOptions&) {}
  // Called on a model whose tensors do not exist yet, to add adapters or freeze parameters. Errors
  // name the key of the configuration.
  virtual absl::Status OnModel(Model&) { return absl::OkStatus(); }

  // Returns a scope object that is created before the first tensor and destroyed after the last.
  virtual std::unique_ptr<Held> AroundRun(const RunContext&) { return nullptr; }
  // Returns the type in which the weights are moved to the GPU. nullopt means their own type.
  virtual std::optional<at::ScalarType> loads_as() const { return std::nullopt; }
  // Called when the weights are on the GPU.
  virtual void AfterLoad(const RunContext&, Model&) {}
  // Called when all parameters exist. `trained`: the parameters that get gradients.
  virtual void AfterSetUp(const RunContext&, Model&, std::span<const at::Tensor> trained) {
    static_cast<void>(trained);
  }
  // Returns a runner of a stack's layers that wraps `inner`, the runner without this technique. A
  // null `inner` calls the layers one after another.
  virtual LayerRunner AroundLayers(const RunContext&, Model&, LayerRunner inner) { return inner; }
  // Returns a scope object that exists during forward and loss.
  virtual std::unique_ptr<Held> AroundForward(const RunContext&) { return nullptr; }
  virtual LossFunction AroundLoss(LossFunction inner) { return inner; }
  // Returns the tensor on which backward is called.
  virtual at::Tensor BeforeBackward(const RunContext&, const at::Tensor& loss) { return loss; }
  // Returns null if the technique makes no optimizer. The loop uses the first non-null result.
  virtual std::unique_ptr<Optimizer> MakeOptimizer(const RunContext&,
                                                   const std::vector<at::Tensor>& trained) {
    static_cast<void>(trained);
    return nullptr;
  }
  // Divides the parameters among several optimizers, which it makes with `make`, and returns one
  // optimizer that steps them all. Returns null if one optimizer is to have all parameters.
  virtual std::unique_ptr<Optimizer> DivideOptimizer(const MakeOptimizerOf& make,
                                                     const std::vector<at::Tensor>& trained) {
    static_cast<void>(make);
    static_cast<void>(trained);
    return nullptr;
  }
  // Returns the tokens per sample of a micro-batch. `seq`: their number without this technique.
  // `micro_batch`: the number of earlier micro-batches in the run.
  virtual int SeqOf(int seq, int64_t micro_batch) const {
    static_cast<void>(micro_batch);
    return seq;
  }
  // Whether the batches are allocated in page-locked host memory.
  virtual bool pins_batches() const { return false; }
  // Called in backward, on backward's thread, when a gradient of this leaf has been accumulated.
  virtual void OnGradient(const at::Tensor& leaf) { static_cast<void>(leaf); }
  // Called when all gradients of a step are complete.
  virtual void BeforeStep(const RunContext&, std::span<const at::Tensor> trained) {
    static_cast<void>(trained);
  }
  // Wraps the optimizer's step. `inner` is the step without this technique.
  virtual std::function<void(Optimizer&)> AroundStep(std::function<void(Optimizer&)> inner) {
    return inner;
  }
  // Called after the gradients of a step have been freed.
  virtual void AfterStep(const RunContext&, int step) { static_cast<void>(step); }
  // Called after the last step.
  virtual void AfterTraining(const RunContext&, const ForwardPass&) {}
  // Called at the end of the run and at the end of its rehearsal. Must release every tensor.
  virtual void AfterRun() {}

  // Whether micro-batches that begin in the same state always make the same allocations.
  virtual bool repeats() const { return true; }
  // Whether micro-batches can be derived from a rehearsal with a few layers.
  virtual bool rehearses() const { return true; }
  // The number of consecutive layers that a rehearsal must keep together (see ShortenedStack).
  virtual int layers_per_unit() const { return 1; }
  // Whether forward is followed by backward and step.
  virtual bool trains() const { return true; }
  // Whether each gradient is used and freed as soon as it is complete.
  virtual bool steps_in_backward() const { return false; }
  // Whether the previous step's gradients are freed only after the loss is computed.
  virtual bool zeroes_before_backward() const { return false; }
  // Whether gradients are kept from one step to the next.
  virtual bool keeps_gradients() const { return false; }
};

struct TechniqueEntry {
  run::TechniqueDeclaration declaration;
  std::vector<run::FitMove> fit = {};              // settings that `fit` may switch on
  std::vector<run::ModelledBlocks> modelled = {};  // blocks that are modelled in a plan
  // Techniques are called in ascending order, and each encloses all later techniques. For example,
  // precision encloses attention, which encloses checkpointing.
  int order = 100;
  int place = 0;  // position in the catalogue; 0: that of `order`
  // Makes the technique. Returns null if the configuration does not use it. `make` itself is null
  // if the technique has no hooks.
  std::function<std::unique_ptr<Technique>(const run::RunConfig&)> make;
};
// The entries that the files of this folder declare, in order of file name.
const std::vector<TechniqueEntry>& AllTechniques();

// Returns the storages of a model's parameters and buffers.
std::unordered_set<uint64_t> StoragesOf(Model& model);

// Reads the keys "optimizer.*".
OptimizerConfig OptimizerConfigOf(const run::RunConfig& config);

// The techniques that `config` uses, in order.
std::vector<std::unique_ptr<Technique>> MakeTechniques(const run::RunConfig& config);

}  // namespace vramscope::trainer
