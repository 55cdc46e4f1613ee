// What the model is fed: a synthetic task that a model can learn, token t is followed by t + 1 over
// a small alphabet, every sequence starting somewhere else.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <random>

#include "trainer/models/language_model.h"

namespace vramscope::trainer {

struct Batch {
  at::Tensor ids;     // int64 [batch, seq]
  at::Tensor labels;  // the same shape
};

struct DataOptions {
  int64_t batch = 1;  // of a micro-batch
  int64_t seq = 1;
  int64_t vocab = 2;
  int micro_batches = 1;
  int steps = 1;
  c10::Device device = c10::Device(c10::kCPU);
  bool values = true;  // false: only the memory
  uint64_t seed = 0;
  TrainingScript script;
};

class DataSource {
 public:
  explicit DataSource(const DataOptions& options);
  // Before the first step: what scripts with inputs up front ask for.
  void Prepare();
  // Replaces `batch`, whose old tensors die as the new ones take their names.
  void Next(int step, int micro_batch, Batch& batch);

 private:
  void Fill(at::Tensor& ids, at::Tensor& labels);
  DataOptions options_;
  std::mt19937_64 random_;
  // Up front: all steps but the last one, and the last one.
  at::Tensor ids_, last_ids_, labels_, last_labels_;
};

}  // namespace vramscope::trainer
