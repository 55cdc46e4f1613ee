// torch.nn.parallel.DistributedDataParallel around a model. LibTorch's own c10d::Reducer makes the
// buckets of gradients, rebuilds them after the first backward, and averages them over the ranks.
//
//   DataParallel parallel(group, model, trained, {});
//   parallel.BeforeForward(/*reduces=*/true);
//   ... forward ...
//   parallel.AfterForward(true, {&loss, &logits});
//   loss.backward();                            // gradients are averaged over all ranks
//
// Used on the loop's thread; must be destroyed before the model.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

inline constexpr int64_t kDefaultBucketBytes = 25 << 20;

struct DataParallelOptions {
  bool gradients_are_views = false;  // gradients are views of the buckets
  bool finds_unused = false;  // searches each forward's graph for parameters without a gradient
  int64_t bucket_bytes = kDefaultBucketBytes;
};

class DataParallel {
 public:
  DataParallel(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
               std::vector<at::Tensor> trained, const DataParallelOptions& options);
  // `reduces`: false within no_sync(), where gradients are only accumulated.
  void BeforeForward(bool reduces);
  // `outputs`: the results of forward. With finds_unused, copies replace them, as in PyTorch.
  void AfterForward(bool reduces, const std::vector<at::Tensor*>& outputs);

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const bool finds_unused_;
  std::vector<at::Tensor> buffers_;
  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
  bool synchronises_buffers_ = true;
};

}  // namespace vramscope::trainer
