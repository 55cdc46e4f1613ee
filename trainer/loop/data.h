// The model's input data: batches with the tensors that its family names. The values form a task
// that a model can learn.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <random>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct DataOptions {
  int64_t batch = 1;  // samples of a micro-batch
  int64_t seq = 1;
  int micro_batches = 1;
  int steps = 1;
  c10::Device device = c10::Device(c10::kCPU);
  bool values = true;  // false: memory is allocated, but not filled
  // If true, host tensors are page-locked, as a data loader with pin_memory=True makes them.
  bool pinned = false;
  uint64_t seed = 0;
  TrainingScript script;
};

class DataSource {
 public:
  // `model` must outlive the source.
  DataSource(const Model& model, const DataOptions& options);
  // Call before the first step. If the script makes its inputs up front, this creates all of them.
  void Prepare();
  // Sets the shape of the next batches. Not for scripts that make their inputs up front.
  void SetShape(int64_t rows, int64_t seq) {
    options_.batch = rows;
    options_.seq = seq;
  }
  // Replaces the tensors of `batch`. An old tensor is freed when its replacement is set.
  void Next(int step, int micro_batch, Batch& batch);

 private:
  // Returns host tensors for `specs`. If `steps` is not 0, it becomes their first dimension.
  std::vector<at::Tensor> Host(const std::vector<InputSpec>& specs, int64_t steps);

  const Model& model_;
  DataOptions options_;
  std::mt19937_64 random_;
  // An input that is created up front. One tensor is for the last step, one for all other steps.
  struct UpFront {
    std::string name;
    at::Tensor steps = {}, last = {};
  };
  std::vector<UpFront> up_front_;
};

}  // namespace vramscope::trainer
