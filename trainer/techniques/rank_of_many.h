// Common code of techniques with several ranks. The run is one rank of a group. The group exists
// from before the first tensor until after the last.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "profiler/run/catalogue.h"
#include "trainer/techniques/host_step.h"
#include "trainer/techniques/shares_training.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

class RankOfMany : public Technique, public SharesTraining {
 public:
  explicit RankOfMany(const run::RunConfig& config)
      : rank_(static_cast<int>(config.Integer("shard.rank"))),
        ranks_(static_cast<int>(config.Integer("shard.ranks"))),
        place_(rank_),
        together_(ranks_) {}

  absl::Status OnModel(Model&) override {
    if (rank_ < ranks_) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format(
        "shard.rank = {} is not one of the {} ranks, which are numbered from 0 to shard.ranks - 1",
        rank_, ranks_));
  }
  std::unique_ptr<Held> AroundRun(const RunContext& run) override {
    return std::make_unique<HeldGroup>(*this, run.join_ranks(place_, together_));
  }
  bool repeats() const override { return false; }

 protected:
  const int rank_, ranks_;
  // this rank's index in the group that has one copy of the model, and the size of this group
  int place_, together_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;

 private:
  class HeldGroup final : public Held {
   public:
    HeldGroup(RankOfMany& owner, c10::intrusive_ptr<c10d::ProcessGroup> group) : owner_(owner) {
      owner_.group_ = std::move(group);
    }
    ~HeldGroup() override {
      owner_.group_->shutdown();
      owner_.group_.reset();
    }

   private:
    RankOfMany& owner_;
  };
};

// Returns whether the loss is computed outside of the model, from the logits that it returns.
inline bool LossIsOutside(const run::RunConfig& config) {
  const run::FamilyDeclaration* family = run::TheCatalogue().FamilyOf(config.model_config_json);
  return family != nullptr && (family->id == "vit" || family->id == "torch_transformer");
}

// Returns how many layers are gathered together, or 0 for all layers of the model. Layers that are
// recomputed together are also gathered together.
inline int LayersPerUnit(const run::RunConfig& config) {
  if (config.Is("shard.units", "model")) return 0;
  return config.Is("checkpointing.mode", "every-k")
             ? static_cast<int>(config.Integer("checkpointing.k"))
             : 1;
}

}  // namespace vramscope::trainer
