#include "trainer/loop/data.h"

#include <torch/torch.h>

#include <algorithm>

namespace vramscope::trainer {
namespace {
constexpr int64_t kAlphabet = 64;
}

DataSource::DataSource(const DataOptions& options) : options_(options), random_(options.seed) {}

// Host tensors of any shape whose last dimension is the sequence.
void DataSource::Fill(at::Tensor& ids, at::Tensor& labels) {
  const int64_t alphabet = std::min(kAlphabet, options_.vocab);
  auto* id = ids.mutable_data_ptr<int64_t>();
  auto* label = labels.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < ids.numel() / options_.seq; ++row) {
    const auto start = static_cast<int64_t>(random_() % static_cast<uint64_t>(alphabet));
    for (int64_t i = 0; i < options_.seq; ++i, ++id, ++label) {
      *id = (start + i) % alphabet;
      // The loss shifts copies itself; separate targets are the next token already.
      *label = options_.script.separate_targets ? (*id + 1) % alphabet : *id;
    }
  }
}

void DataSource::Prepare() {
  if (!options_.script.inputs_up_front) return;
  const int64_t rows = options_.batch * options_.micro_batches;
  const auto type = at::TensorOptions().dtype(at::kLong);
  auto make = [&](int64_t steps) {
    return steps > 0 ? at::empty({steps, rows, options_.seq}, type.device(options_.device))
                     : at::Tensor();
  };
  ids_ = make(options_.steps - 1);
  last_ids_ = make(1);
  labels_ = make(options_.steps - 1);
  last_labels_ = make(1);
  if (!options_.values) return;
  for (auto [ids, labels] : {std::pair(&ids_, &labels_), std::pair(&last_ids_, &last_labels_)}) {
    if (!ids->defined()) continue;
    at::Tensor host_ids = at::empty(ids->sizes(), type), host_labels = at::empty_like(host_ids);
    Fill(host_ids, host_labels);
    ids->copy_(host_ids);
    labels->copy_(host_labels);
  }
}

void DataSource::Next(int step, int micro_batch, Batch& batch) {
  if (options_.script.inputs_up_front) {
    const bool last = step == options_.steps - 1;
    const int64_t index = last ? 0 : step;
    const int64_t row = micro_batch * options_.batch;
    batch.ids = (last ? last_ids_ : ids_).select(0, index).narrow(0, row, options_.batch);
    batch.labels = (last ? last_labels_ : labels_).select(0, index).narrow(0, row, options_.batch);
    return;
  }
  // Made on the host by a data loader, then moved.
  const auto type = at::TensorOptions().dtype(at::kLong);
  at::Tensor ids = at::empty({options_.batch, options_.seq}, type);
  at::Tensor labels = at::empty_like(ids);
  if (options_.values) Fill(ids, labels);
  // A new dictionary takes the old one's place when it is whole.
  at::Tensor next_ids = ids.to(options_.device);
  at::Tensor next_labels = labels.to(options_.device);
  batch.ids = std::move(next_ids);
  batch.labels = std::move(next_labels);
}

}  // namespace vramscope::trainer
