// Common code of the FSDP1 and FSDP2 techniques, which move the model to the GPU unit by unit.
// `Sharded` (FullySharded or FlatSharded) gathers the units around layers, forward and loss.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "trainer/capture/scopes.h"
#include "trainer/techniques/host_step.h"
#include "trainer/techniques/rank_of_many.h"

namespace vramscope::trainer {

template <class Sharded, class Options>
class SharedUnits : public RankOfMany {
 public:
  SharedUnits(const run::RunConfig& config, Options options)
      : RankOfMany(config), options_(std::move(options)), loss_is_outside_(LossIsOutside(config)) {}

  absl::Status OnModel(Model& model) override {
    model_ = &model;
    return RankOfMany::OnModel(model);
  }
  // Creates the sharded model, which moves the parameters to the GPU unit by unit, so that the GPU
  // never holds the whole model.
  std::unique_ptr<Held> AroundRun(const RunContext& run) override {
    std::unique_ptr<Held> held = RankOfMany::AroundRun(run);
    const PhaseScope phase(trace::Phase::kSetup);
    options_.device = run.device;
    sharded_ = std::make_unique<Sharded>(group_, *model_, options_);
    return held;
  }
  LayerRunner AroundLayers(const RunContext&, Model&, LayerRunner inner) override {
    return sharded_->AroundLayers(std::move(inner));
  }
  LossFunction AroundLoss(LossFunction inner) override {
    return [this, inner](Model& model, at::Tensor& logits, const Batch& batch) {
      if (loss_is_outside_) sharded_->AfterForward({logits});
      at::Tensor loss = inner(model, logits, batch);
      if (!loss_is_outside_) sharded_->AfterForward({loss, logits});
      return loss;
    };
  }
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    return options_.offloads ? std::make_unique<HostStep>(run.config, trained) : nullptr;
  }
  void AfterRun() override {
    model_->layer_runner = nullptr;
    sharded_.reset();
  }

 protected:
  Options options_;
  std::unique_ptr<Sharded> sharded_;

 private:
  const bool loss_is_outside_;
  Model* model_ = nullptr;
};

}  // namespace vramscope::trainer
