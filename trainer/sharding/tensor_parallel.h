// Tensor parallelism over the ranks of a group, as torch.distributed.tensor.parallel has it:
// ColwiseParallel on what goes into attention and the feed-forward part, RowwiseParallel on what
// comes out. A rank has its share of heads and of the feed-forward width, whole embeddings, norms
// and activations between the parts.
//
//   auto parallel = SplitModel(model, {.rank = 0, .ranks = 2});  // shapes alone
//   Materialize(model, ...);
//   parallel->Join(group, model);                           // from here on layers reduce
//
// Before Materialize(), which makes each weight whole and keeps this rank's part. For devices that
// compute nothing: other ranks' sums are not there. On the loop's thread and autograd's; lives as
// long as the model.
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

// What is done with embedding and output layer.
enum class Vocabulary : uint8_t {
  kWhole,  // on every rank
  kParts,  // each rank has its part; logits are gathered
  kLoss,   // logits stay in parts, and the loss is made of them
};

class TensorParallel {
 public:
  explicit TensorParallel(const RankOf& rank) : rank_(rank) {}
  const RankOf& rank() const { return rank_; }

  // The model's tensors are there.
  void Join(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model);
  void Leave() { group_.reset(); }

  // The output layer's part is the embedding's: of their gradients the embedding's is whole on each
  // rank, and goes when the rank's part of it has been added to the other.
  void Tie(const Parameter& weight) { tied_ = &weight; }
  bool tied() const { return tied_ != nullptr; }
  void HoldUntilSum(at::Tensor whole) { held_ = std::move(whole); }

  // The sum over ranks, in a tensor of its own.
  at::Tensor Sum(const at::Tensor& part) const;
  at::Tensor Max(const at::Tensor& part) const;
  // The ranks' parts one after the other, in the first dimension.
  at::Tensor Gathered(const at::Tensor& part) const;

 private:
  at::Tensor Reduced(const at::Tensor& part, c10d::ReduceOp how) const;
  const RankOf rank_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const Parameter* tied_ = nullptr;
  at::Tensor held_;
};

// kInvalidArgument says which of the model's sizes the ranks don't divide.
absl::Status CheckRanks(const run::ModelConfig& config, const RankOf& rank);
// Null where no layer is one that is split. kInvalidArgument: a vocabulary that can't be.
absl::StatusOr<std::shared_ptr<TensorParallel>> SplitModel(Model& model, const RankOf& rank,
                                                           Vocabulary vocabulary);

}  // namespace vramscope::trainer
