// What a technique that shares a training among ranks does for others of the same run. The loop
// brings them together; neither knows the other.
//
//   class Sharding : public Technique, public SharesTraining { ... };
//   class Clipping : public Technique, public MeasuresGradients { ... };
//
// On the loop's thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "trainer/sharding/zero_redundancy.h"

namespace vramscope::trainer {

class SharesTraining {
 public:
  SharesTraining() = default;
  virtual ~SharesTraining() = default;
  SharesTraining(const SharesTraining&) = delete;
  SharesTraining& operator=(const SharesTraining&) = delete;

  // Norms of what this rank has of the gradients, as those of all ranks' parts.
  virtual at::Tensor NormsOverRanks(const at::Tensor& norms) { return norms; }
  // The optimizer as the ranks share it; `make`: of some of the parameters, without this. Null:
  // each rank steps all that it has.
  virtual std::unique_ptr<Optimizer> ShareOptimizer(const MakeOptimizerOf& make,
                                                    const std::vector<at::Tensor>& trained) {
    static_cast<void>(make);
    static_cast<void>(trained);
    return nullptr;
  }
};

class MeasuresGradients {
 public:
  MeasuresGradients() = default;
  virtual ~MeasuresGradients() = default;
  MeasuresGradients(const MeasuresGradients&) = delete;
  MeasuresGradients& operator=(const MeasuresGradients&) = delete;

  // They are shared; `sharing` lasts as long as the run.
  virtual void Join(SharesTraining& sharing) = 0;
};

}  // namespace vramscope::trainer
