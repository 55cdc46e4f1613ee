// The model's input data: batches of the tensors that its family names, with values of a task that
// can be learned.
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
  // host tensors are in page-locked memory, as from a loader with pin_memory=True
  bool pinned = false;
  uint64_t seed = 0;
  TrainingScript script;
};

class DataSource {
 public:
  // `model` must outlive the source.
  DataSource(const Model& model, const DataOptions& options);
  // Call before the first step. If the script has its inputs up front, creates all inputs.
  void Prepare();
  // Sets the shape of the following batches. Not for scripts with inputs up front.
  void SetShape(int64_t rows, int64_t seq) {
    options_.batch = rows;
    options_.seq = seq;
  }
  // Replaces the tensors of `batch`. Each old tensor is freed when the new one replaces it.
  void Next(int step, int micro_batch, Batch& batch);

 private:
  // Host tensors of `specs`; a nonzero `steps` adds a first dimension of that size.
  std::vector<at::Tensor> Host(const std::vector<InputSpec>& specs, int64_t steps);

  const Model& model_;
  DataOptions options_;
  std::mt19937_64 random_;
  // An input up front: one tensor for the last step, and one for all steps before it.
  struct UpFront {
    std::string name;
    at::Tensor steps = {}, last = {};
  };
  std::vector<UpFront> up_front_;
};

}  // namespace vramscope::trainer
