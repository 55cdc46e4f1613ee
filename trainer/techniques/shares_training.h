// What a technique that shares a training among ranks does for others of the same run. The loop
// brings them together; neither knows the other.
//
//   class Sharding : public Technique, public SharesTraining { ... };
//   class Clipping : public Technique, public MeasuresGradients { ... };
//
// On the loop's thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace vramscope::trainer {

class SharesTraining {
 public:
  SharesTraining() = default;
  virtual ~SharesTraining() = default;
  SharesTraining(const SharesTraining&) = delete;
  SharesTraining& operator=(const SharesTraining&) = delete;

  // Norms of what this rank has of the gradients, as those of all ranks' parts.
  virtual at::Tensor NormsOverRanks(const at::Tensor& norms) { return norms; }
  // Scales all gradients whose norm is more than `most`; false: as torch.nn.utils does.
  virtual bool ClipNorm(double most) {
    static_cast<void>(most);
    return false;
  }
  // Whether a gradient of any rank overflowed, as ShardedGradScaler adds it up; without it each
  // rank looks at its own.
  virtual void OverflowsOverRanks(const at::Tensor& found) { static_cast<void>(found); }
  // What is trained in place of the model's parameters.
  virtual std::vector<at::Tensor> Trained(std::vector<at::Tensor> parameters) { return parameters; }
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
