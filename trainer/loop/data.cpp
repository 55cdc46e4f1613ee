#include "trainer/loop/data.h"

#include <torch/types.h>

namespace vramscope::trainer {

DataSource::DataSource(const Model& model, const DataOptions& options)
    : model_(model), options_(options), random_(options.seed) {}

std::vector<at::Tensor> DataSource::Host(const std::vector<InputSpec>& specs, int64_t steps) {
  std::vector<at::Tensor> out, flat;
  for (const InputSpec& spec : specs) {
    std::vector<int64_t> shape = spec.shape;
    if (steps > 0) shape.insert(shape.begin(), steps);
    out.push_back(at::empty(shape, at::TensorOptions().dtype(spec.dtype)));
    flat.push_back(steps > 0 ? out.back().flatten(0, 1) : out.back());
  }
  if (options_.values) model_.FillInputs(flat, random_);
  return out;
}

void DataSource::Prepare() {
  if (!options_.script.inputs_up_front) return;
  const std::vector<InputSpec> specs =
      model_.Inputs(options_.batch * options_.micro_batches, options_.seq);
  const auto make = [&](const InputSpec& spec, int64_t steps) {
    std::vector<int64_t> shape = spec.shape;
    shape.insert(shape.begin(), steps);
    return steps > 0
               ? at::empty(shape, at::TensorOptions().dtype(spec.dtype).device(options_.device))
               : at::Tensor();
  };
  for (const InputSpec& spec : specs) {
    UpFront& made = up_front_.emplace_back(UpFront{.name = spec.name});
    made.steps = make(spec, options_.steps - 1);
    made.last = make(spec, 1);
  }
  if (!options_.values) return;
  for (at::Tensor UpFront::*part : {&UpFront::steps, &UpFront::last}) {
    if (!(up_front_.front().*part).defined()) continue;
    const std::vector<at::Tensor> host = Host(specs, (up_front_.front().*part).size(0));
    for (size_t i = 0; i < host.size(); ++i) (up_front_[i].*part).copy_(host[i]);
  }
}

void DataSource::Next(int step, int micro_batch, Batch& batch) {
  if (options_.script.inputs_up_front) {
    const bool last = step == options_.steps - 1;
    for (const UpFront& made : up_front_) {
      batch.Set(made.name, (last ? made.last : made.steps)
                               .select(0, last ? 0 : step)
                               .narrow(0, micro_batch * options_.batch, options_.batch));
    }
    return;
  }
  // Creates a batch on the host, as a data loader does, and then moves it to the device.
  const std::vector<InputSpec> specs = model_.Inputs(options_.batch, options_.seq);
  std::vector<at::Tensor> host = Host(specs, 0), moved;
  for (at::Tensor& tensor : host) {
    const bool pins = options_.pinned && !options_.device.is_cpu();
    if (pins) tensor = tensor.pin_memory();
    moved.push_back(tensor.to(options_.device, /*non_blocking=*/pins));
  }
  // The old tensors are freed when they are replaced, which is only after all new ones exist.
  for (size_t i = 0; i < specs.size(); ++i) batch.Set(specs[i].name, std::move(moved[i]));
}

}  // namespace vramscope::trainer
