// torch.nn.parallel.DistributedDataParallel around a model, on LibTorch's own c10d::Reducer: its
// buckets, their rebuilding after the first backward, its reductions.
//
//   DataParallel parallel(group, model, trained, /*gradients_are_views=*/false);
//   parallel.BeforeForward(/*reduces=*/true);
//   ... forward ...
//   parallel.AfterForward(true);
//   loss.backward();                            // gradients are those of all ranks
//
// On the loop's thread; goes before the model does.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

class DataParallel {
 public:
  DataParallel(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
               std::vector<at::Tensor> trained, bool gradients_are_views);
  // `reduces`: false within no_sync(), where gradients are only added up.
  void BeforeForward(bool reduces);
  void AfterForward(bool reduces);

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::vector<at::Tensor> buffers_;
  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
  bool synchronises_buffers_ = true;
};

}  // namespace vramscope::trainer
