// A technique is one file of this folder: what it says about itself (profiler/run/declarations.h)
// and the places of a run where it acts. The loop asks every technique of a run at every place, in
// the order of `order`; techniques know nothing of each other.
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
// One run, one set of techniques, all on the loop's thread.
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

// What a technique may know of the run; outlives it.
struct RunContext {
  const run::RunConfig& config;
  c10::Device device;
  bool measured = false;  // values are computed
  // This run as rank `rank` of `ranks` (Backend::JoinRanks).
  std::function<c10::intrusive_ptr<c10d::ProcessGroup>(int rank, int ranks)> join_ranks;
};

// Held while something lasts.
class Held {
 public:
  Held() = default;
  virtual ~Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

// Forward and loss of one more batch, as the run does them; `logits` is what the loss left of them.
using ForwardPass = std::function<at::Tensor(int index, at::Tensor& logits)>;

// From the logits to the loss of a micro-batch.
using LossFunction = std::function<at::Tensor(Model&, at::Tensor& logits, const Batch& batch)>;

class Technique {
 public:
  Technique() = default;
  virtual ~Technique() = default;
  Technique(const Technique&) = delete;
  Technique& operator=(const Technique&) = delete;

  // Before the model is made: types, kind of attention.
  virtual void OnOptions(ModelOptions&) {}
  // On a model of shapes, before a byte is asked for: adapters, what is trained. kInvalidArgument
  // names the key.
  virtual absl::Status OnModel(Model&) { return absl::OkStatus(); }

  // From the first tensor to the last.
  virtual std::unique_ptr<Held> AroundRun(const RunContext&) { return nullptr; }
  // In which type the weights come to the card, if not in their own.
  virtual std::optional<at::ScalarType> loads_as() const { return std::nullopt; }
  // The weights are on the card.
  virtual void AfterLoad(const RunContext&, Model&) {}
  // Once all parameters are there; `trained`: those that get gradients.
  virtual void AfterSetUp(const RunContext&, Model&, std::span<const at::Tensor> trained) {
    static_cast<void>(trained);
  }
  // How a stack's layers are called; `inner`: how without this technique (null: one by one).
  virtual LayerRunner AroundLayers(const RunContext&, Model&, LayerRunner inner) { return inner; }
  // Around forward and loss.
  virtual std::unique_ptr<Held> AroundForward(const RunContext&) { return nullptr; }
  virtual LossFunction AroundLoss(LossFunction inner) { return inner; }
  // What backward begins with.
  virtual at::Tensor BeforeBackward(const RunContext&, const at::Tensor& loss) { return loss; }
  // Null: not this technique's business. The first that makes one wins.
  virtual std::unique_ptr<Optimizer> MakeOptimizer(const RunContext&,
                                                   const std::vector<at::Tensor>& trained) {
    static_cast<void>(trained);
    return nullptr;
  }
  // One that is made of several, each of some of the parameters; `make`: as without this
  // technique. Null: one of all.
  virtual std::unique_ptr<Optimizer> DivideOptimizer(const MakeOptimizerOf& make,
                                                     const std::vector<at::Tensor>& trained) {
    static_cast<void>(make);
    static_cast<void>(trained);
    return nullptr;
  }
  // Tokens of a sample in the micro-batch of that number, counted from the first step on.
  virtual int SeqOf(int seq, int64_t micro_batch) const {
    static_cast<void>(micro_batch);
    return seq;
  }
  // Whether batches come from page-locked host memory.
  virtual bool pins_batches() const { return false; }
  // In backward, on its thread: the gradient of this leaf has been added to.
  virtual void OnGradient(const at::Tensor& leaf) { static_cast<void>(leaf); }
  // All gradients of a step are there.
  virtual void BeforeStep(const RunContext&, std::span<const at::Tensor> trained) {
    static_cast<void>(trained);
  }
  // The optimizer's step; `inner`: how without this technique.
  virtual std::function<void(Optimizer&)> AroundStep(std::function<void(Optimizer&)> inner) {
    return inner;
  }
  // After the gradients of a step are gone.
  virtual void AfterStep(const RunContext&, int step) { static_cast<void>(step); }
  // The last step is done.
  virtual void AfterTraining(const RunContext&, const ForwardPass&) {}
  // Lets go of every tensor: the run, or its rehearsal, is over.
  virtual void AfterRun() {}

  // Whether a micro-batch asks for the same as the one before, given the same state.
  virtual bool repeats() const { return true; }
  // Whether that can be told before the run, from a few layers.
  virtual bool rehearses() const { return true; }
  // Layers that are treated together.
  virtual int layers_per_unit() const { return 1; }
  // Forward is followed by backward and step.
  virtual bool trains() const { return true; }
  // Gradients are used as soon as they are there, and go.
  virtual bool steps_in_backward() const { return false; }
  // Gradients of the step before go only when the loss is there.
  virtual bool zeroes_before_backward() const { return false; }
  // Gradients stay from one step to the next.
  virtual bool keeps_gradients() const { return false; }
};

struct TechniqueEntry {
  run::TechniqueDeclaration declaration;
  std::vector<run::FitMove> fit = {};              // rows that `fit` may switch on
  std::vector<run::ModelledBlocks> modelled = {};  // what its assumptions put into a plan
  // Smaller ones are asked first and hold the others: precision around attention around layers.
  int order = 100;
  int place = 0;  // in the catalogue; 0: as `order`
  // Null: the configuration does not use it. May be null itself: a declaration alone.
  std::function<std::unique_ptr<Technique>(const run::RunConfig&)> make;
};
// What the files of this folder declare, by file name.
const std::vector<TechniqueEntry>& AllTechniques();

// The storages of a model's parameters and buffers, which stay where they are.
std::unordered_set<uint64_t> StoragesOf(Model& model);

// What the keys "optimizer.*" say.
OptimizerConfig OptimizerConfigOf(const run::RunConfig& config);

// Those that `config` uses, in order.
std::vector<std::unique_ptr<Technique>> MakeTechniques(const run::RunConfig& config);

}  // namespace vramscope::trainer
