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

#include <absl/status/status.h>

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "profiler/run/model_config.h"
#include "trainer/models/model.h"

namespace vramscope::trainer {

struct RankOf {
  int rank = 0, ranks = 1;
};

class TensorParallel {
 public:
  // The model's tensors are there.
  void Join(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model);
  void Leave() { group_.reset(); }

  // The sum over ranks, in a tensor of its own.
  at::Tensor Sum(const at::Tensor& part) const;

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

// kInvalidArgument says which of the model's sizes the ranks don't divide.
absl::Status CheckRanks(const run::ModelConfig& config, const RankOf& rank);
// Null where no layer is one that is split.
std::shared_ptr<TensorParallel> SplitModel(Model& model, const RankOf& rank);

}  // namespace vramscope::trainer
