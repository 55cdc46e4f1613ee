// The interface between a technique that splits training among ranks and other techniques of the
// run. The loop connects them, so that neither technique includes the other technique's header.
//
//   class Sharding : public Technique, public SharesTraining { ... };
//   class Clipping : public Technique, public MeasuresGradients { ... };
//
// Used on the loop's thread.
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

  // Computes the norms of whole gradients from the norms of this rank's parts.
  virtual at::Tensor NormsOverRanks(const at::Tensor& norms) { return norms; }
  // Scales all gradients if their norm exceeds `most`. Returns false if it did not, and the caller
  // must clip the gradients as torch.nn.utils does.
  virtual bool ClipNorm(double most) {
    static_cast<void>(most);
    return false;
  }
  // Sums the overflow flags over the ranks, as in ShardedGradScaler. By default, each rank uses
  // only its own flag.
  virtual void OverflowsOverRanks(const at::Tensor& found) { static_cast<void>(found); }
  // Returns the tensors that are trained in place of the model's `parameters`.
  virtual std::vector<at::Tensor> Trained(std::vector<at::Tensor> parameters) { return parameters; }
};

class MeasuresGradients {
 public:
  MeasuresGradients() = default;
  virtual ~MeasuresGradients() = default;
  MeasuresGradients(const MeasuresGradients&) = delete;
  MeasuresGradients& operator=(const MeasuresGradients&) = delete;

  // Called if several ranks share the training. `sharing` lives as long as the run.
  virtual void Join(SharesTraining& sharing) = 0;
};

}  // namespace vramscope::trainer
