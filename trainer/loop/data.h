// What the model is fed: batches of the tensors that its family names, filled with a task that it
// can learn.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <random>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct DataOptions {
  int64_t batch = 1;  // of a micro-batch
  int64_t seq = 1;
  int micro_batches = 1;
  int steps = 1;
  c10::Device device = c10::Device(c10::kCPU);
  bool values = true;   // false: only the memory
  bool pinned = false;  // host tensors in page-locked memory, as a loader with pin_memory=True
  uint64_t seed = 0;
  TrainingScript script;
};

class DataSource {
 public:
  // `model` outlives the source.
  DataSource(const Model& model, const DataOptions& options);
  // Before the first step: what scripts with inputs up front ask for.
  void Prepare();
  // Of the batches to come; not for scripts with inputs up front.
  void SetShape(int64_t rows, int64_t seq) {
    options_.batch = rows;
    options_.seq = seq;
  }
  // Replaces `batch`, whose old tensors die as the new ones take their names.
  void Next(int step, int micro_batch, Batch& batch);

 private:
  // Host tensors of `specs`, with `steps` as a first dimension where that is not 0.
  std::vector<at::Tensor> Host(const std::vector<InputSpec>& specs, int64_t steps);

  const Model& model_;
  DataOptions options_;
  std::mt19937_64 random_;
  // Up front: all steps but the last one, and the last one.
  struct UpFront {
    std::string name;
    at::Tensor steps = {}, last = {};
  };
  std::vector<UpFront> up_front_;
};

}  // namespace vramscope::trainer
