// Tensor parallelism over the ranks of a group, as in torch.distributed.tensor.parallel:
// ColwiseParallel on the input projections of attention and the feed-forward part, RowwiseParallel
// on their output projections. Each rank has a share of the heads and of the feed-forward width.
// Embeddings, norms, and activations between the split parts are complete on each rank.
//
//   auto parallel = SplitModel(model, {.rank = 0, .ranks = 2});  // changes only shapes
//   Materialize(model, ...);
//   parallel->Join(group, model);  // from here on, layers sum over the ranks
//
// Call SplitModel before Materialize(), which creates each weight as a whole, then keeps this
// rank's part. Only for devices that compute nothing, because the other ranks do not exist. Used on
// the loop's thread and on autograd's thread. Must live as long as the model.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "profiler/run/model_config.h"
#include "trainer/models/model.h"

namespace vramscope::trainer {

struct RankOf {
  int rank = 0, ranks = 1;
};

// How the embedding and the output layer are distributed.
enum class Vocabulary : uint8_t {
  kWhole,  // complete on every rank
  kParts,  // each rank has a part; logits are gathered
  kLoss,   // logits stay split, and the loss is computed from the parts
};

class TensorParallel {
 public:
  explicit TensorParallel(const RankOf& rank) : rank_(rank) {}
  const RankOf& rank() const { return rank_; }

  // Call it when the model's tensors exist.
  void Join(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model);
  void Leave() { group_.reset(); }

  // Ties the output layer to the embedding `weight`. Backward makes the embedding's whole gradient,
  // adds this rank's part of it to the output layer's gradient, then frees the whole gradient.
  void Tie(const Parameter& weight) { tied_ = &weight; }
  bool tied() const { return tied_ != nullptr; }
  void HoldUntilSum(at::Tensor whole) { held_ = std::move(whole); }

  // Returns the sum over ranks, in a new tensor.
  at::Tensor Sum(const at::Tensor& part) const;
  at::Tensor Max(const at::Tensor& part) const;
  // Returns the ranks' parts, concatenated in the first dimension.
  at::Tensor Gathered(const at::Tensor& part) const;

 private:
  at::Tensor Reduced(const at::Tensor& part, c10d::ReduceOp how) const;
  const RankOf rank_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const Parameter* tied_ = nullptr;
  at::Tensor held_;
};

// Returns kInvalidArgument if a size is not divisible by the number of ranks, and names the size.
absl::Status CheckRanks(const run::ModelConfig& config, const RankOf& rank);
// Returns null if the model has no layer that can be split, and kInvalidArgument if its vocabulary
// can't be split.
absl::StatusOr<std::shared_ptr<TensorParallel>> SplitModel(Model& model, const RankOf& rank,
                                                           Vocabulary vocabulary);

}  // namespace vramscope::trainer
