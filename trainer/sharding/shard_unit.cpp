#include "trainer/sharding/shard_unit.h"

#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/optimizers/group.h"
#include "trainer/sharding/storage_size.h"

namespace vramscope::trainer {
namespace {

int64_t Product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// Autograd detects changes of a tensor by its version number. While this object exists, writing to
// `tensors` does not increase their version numbers.
class KeptVersions {
 public:
  explicit KeptVersions(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {
    for (const at::Tensor& tensor : tensors_) versions_.push_back(tensor._version());
  }
  ~KeptVersions() {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      c10::VariableVersion version = tensors_[i].unsafeGetTensorImpl()->version_counter();
      version.set_version(versions_[i]);
    }
  }
  KeptVersions(const KeptVersions&) = delete;
  KeptVersions& operator=(const KeptVersions&) = delete;

 private:
  const std::vector<at::Tensor> tensors_;
  std::vector<int64_t> versions_;
};

// Returns two divisors: FSDP2 divides fp16 gradients before and after it sums them.
std::pair<double, double> Divisors(at::ScalarType type, int ranks) {
  if (type != at::kHalf) return {1, 1};
  int before = 1;
  while (ranks % before == 0 && ranks / before > before) before *= 2;
  return {before, static_cast<double>(ranks) / before};
}

}  // namespace

ShardStreams::ShardStreams(c10::Device device)
    : device(device),
      copy_in(NewStream(device, true)),
      gather(NewStream(device, true)),
      scatter(NewStream(device, true)) {}

ShardUnit::ShardUnit(c10d::ProcessGroup& group, ShardStreams& streams, const ShardOptions& options,
                     bool reshards_after_forward)
    : group_(group),
      streams_(streams),
      options_(options),
      reshards_after_forward_(reshards_after_forward) {}

void ShardUnit::Add(Parameter* parameter, const std::string& name) {
  at::NoGradGuard no_grad;
  const at::Tensor& whole = parameter->tensor;
  ShardedParameter added{.parameter = parameter, .name = name, .sizes = whole.sizes().vec()};
  const int64_t rows = added.sizes.front(), ranks = group_.getSize();
  const int64_t most = (rows + ranks - 1) / ranks;
  const int64_t begin = std::min(rows, most * group_.getRank());
  const int64_t count = std::min(rows - begin, most);
  added.padded_sizes = added.sizes;
  added.padded_sizes.front() = most;
  {
    const OwnerScope owner(name);
    const CategoryScope category(trace::Category::kParameter);
    added.data = at::zeros(added.padded_sizes, whole.options().requires_grad(false));
  }
  TagStorage(added.data, trace::Category::kParameter, "parameter");
  if (count > 0) added.data.narrow(0, 0, count).copy_(whole.narrow(0, begin, count));
  if (options_.offloads) {
    at::Tensor on_host =
        at::empty(added.padded_sizes, added.data.options().device(at::kCPU).pinned_memory(true));
    on_host.copy_(added.data);
    added.data = std::move(on_host);
  }
  added.sharded = added.data.narrow(0, 0, count).detach();
  added.sharded.set_requires_grad(parameter->trainable);
  added.data = added.data.view({-1});
  parameter->tensor = added.sharded;
  parameters_.push_back(std::move(added));
}

at::Tensor ShardUnit::OnDevice(const ShardedParameter& parameter) const {
  if (!options_.offloads) return parameter.data;
  return parameter.data.to(options_.device, /*non_blocking=*/true);
}

void ShardUnit::Gather() {
  if (result_.has_value() || whole_) return;
  if (group_.getSize() == 1) {
    result_ = Gathered{};
    return;
  }
  at::NoGradGuard no_grad;
  const bool aside = state == ShardState::kForward || state == ShardState::kBeforeBackward;
  const c10::Stream now = CurrentStream(streams_.device);
  const c10::Stream copy_in = aside ? streams_.copy_in : now;
  const c10::Stream gather = aside ? streams_.gather : now;
  const CategoryScope category(trace::Category::kCommunication);
  Gathered out;
  at::Tensor input;
  std::vector<at::Tensor> inputs;
  {
    const c10::StreamGuard on(copy_in);
    at::ScalarType type = parameters_.front().data.scalar_type();
    for (const ShardedParameter& p : parameters_) {
      if (p.data.scalar_type() != type) type = at::kByte;
    }
    for (const ShardedParameter& p : parameters_) {
      at::Tensor data = OnDevice(p);
      inputs.push_back(type == at::kByte ? data.view(at::kByte) : data);
      out.splits.push_back(inputs.back().numel());
    }
    const int64_t elements = std::accumulate(out.splits.begin(), out.splits.end(), int64_t{0});
    out.output = at::empty({elements * group_.getSize()}, inputs.front().options().dtype(type));
    input = out.output.narrow(0, elements * group_.getRank(), elements);
    at::_foreach_copy_(at::split_with_sizes(input, out.splits), inputs);
  }
  Wait(gather, copy_in);
  {
    const c10::StreamGuard on(gather);
    c10d::AllgatherOptions options;
    options.asyncOp = false;
    if (auto work = group_.getBackend(streams_.device.type())
                        ->_allgather_base(out.output, input, options)) {
      work->wait();
    }
    out.event = Record(gather);
  }
  ReleaseList(inputs);
  result_ = std::move(out);
}

void ShardUnit::MakeRoom(ShardedParameter& parameter) const {
  const OwnerScope owner(parameter.name);
  const CategoryScope category(trace::Category::kParameter);
  if (!parameter.gathered.defined()) {
    parameter.gathered = at::empty({parameter.data.numel() * group_.getSize()},
                                   parameter.data.options().device(options_.device));
  }
  ResizeStorage(parameter.gathered, parameter.gathered.numel() * parameter.gathered.itemsize());
}

// Copies the parameters instead of gathering them, in a group of one rank.
void ShardUnit::CopyAlone() {
  at::Tensor data;
  for (ShardedParameter& p : parameters_) {
    data = OnDevice(p);
    MakeRoom(p);
    const KeptVersions kept({p.gathered});
    p.gathered.copy_(data);
  }
}

void ShardUnit::CopyOut() {
  const int64_t ranks = group_.getSize();
  std::vector<at::Tensor> outputs;
  for (ShardedParameter& p : parameters_) {
    MakeRoom(p);
    outputs.push_back(p.gathered.view({ranks, -1}));
    if (result_->output.scalar_type() != p.gathered.scalar_type()) {
      outputs.back() = outputs.back().view(result_->output.scalar_type());
    }
  }
  const KeptVersions kept(outputs);
  at::split_with_sizes_copy_out(outputs, result_->output.view({ranks, -1}), result_->splits, 1);
}

void ShardUnit::WaitForGathered() {
  if (!result_.has_value()) return;
  at::NoGradGuard no_grad;
  const c10::Stream now = CurrentStream(streams_.device);
  std::optional<Gathered> former;  // FSDP2 keeps the buffer until this function ends
  if (state == ShardState::kForward && streams_.former.has_value()) {
    Wait(streams_.copy_in, streams_.former_event);
    Wait(streams_.gather, streams_.former_event);
    std::swap(former, streams_.former);
  }
  Wait(now, result_->event);
  const bool alone = group_.getSize() == 1;
  alone ? CopyAlone() : CopyOut();
  for (ShardedParameter& p : parameters_) {
    if (!p.whole.defined()) {
      p.whole = p.gathered.as_strided(p.sizes, c10::contiguous_strides(p.sizes), 0).detach();
      p.whole.set_requires_grad(p.sharded.requires_grad());
      WatchGradients({p.whole});
    }
    p.parameter->tensor = p.whole;
  }
  whole_ = true;
  OptionalEvent copied = Record(now);
  if (state == ShardState::kForward && !alone) {
    streams_.former = std::move(result_);
    streams_.former_event = std::move(copied);
  } else {
    Wait(streams_.copy_in, copied);
    Wait(streams_.gather, copied);
  }
  result_.reset();
}

void ShardUnit::Reshard() {
  if (!whole_ || (state == ShardState::kForward && !reshards_after_forward_)) return;
  for (ShardedParameter& p : parameters_) {
    p.parameter->tensor = p.sharded;
    ResizeStorage(p.gathered, 0);
  }
  whole_ = false;
}

void ShardUnit::BeforeForward() {
  state = ShardState::kForward;
  Gather();
  WaitForGathered();
}

void ShardUnit::AfterForward(bool in_backward) {
  if (!in_backward) {
    Reshard();
    places_.push_back(streams_.order.size());
    streams_.order.push_back(this);
  }
  state = ShardState::kIdle;
}

void ShardUnit::PrefetchForward() {
  for (ShardUnit* unit : forward_prefetch) Prefetch(*unit, ShardState::kForward);
}

void ShardUnit::BeforeBackward() {
  if (state != ShardState::kBeforeBackward) {
    state = ShardState::kBeforeBackward;
    Gather();
    WaitForGathered();
    if (backward_prefetch.empty()) PrefetchFormer();
  }
  for (ShardUnit* unit : backward_prefetch) Prefetch(*unit, ShardState::kBeforeBackward);
}

// Gathers the unit that backward needs next, which ran right before this unit in forward.
void ShardUnit::PrefetchFormer() {
  if (places_.empty()) return;
  const size_t place = places_.back();
  places_.pop_back();
  if (place == 0) return;
  Prefetch(*streams_.order[place - 1], ShardState::kBeforeBackward);
}

void ShardUnit::Prefetch(ShardUnit& unit, ShardState as) {
  const ShardState now = std::exchange(unit.state, as);
  unit.Gather();
  unit.state = now;
}

void ShardUnit::AfterBackward() {
  state = ShardState::kAfterBackward;
  std::vector<size_t> which;
  std::vector<at::Tensor> gradients;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& whole = parameters_[i].whole;
    if (!whole.defined() || !whole.grad().defined()) continue;
    which.push_back(i);
    gradients.push_back(std::move(whole.mutable_grad()));
    whole.mutable_grad().reset();
  }
  Reshard();
  if (which.empty()) return;
  Wait(CurrentStream(streams_.device), streams_.scattered_event);
  streams_.scattered.reset();
  WaitForScattered();
  Scatter(std::move(which), std::move(gradients));
}

void ShardUnit::Scatter(std::vector<size_t> which, std::vector<at::Tensor> gradients) {
  at::NoGradGuard no_grad;
  const CategoryScope category(trace::Category::kCommunication);
  const int64_t ranks = group_.getSize();
  const at::TensorOptions type = gradients.front().options().requires_grad(false);
  const auto [before, after] = Divisors(type.dtype().toScalarType(), static_cast<int>(ranks));
  int64_t elements = 0;  // elements per rank
  for (size_t i : which) elements += Product(parameters_[i].padded_sizes);
  at::Tensor input = at::empty({elements * ranks}, type);
  {
    at::Tensor rows = input.view({ranks, -1});
    at::_chunk_cat_out(rows, gradients, 0, ranks);
  }
  // FSDP2's loop variable still refers to the last gradient. With one rank, there is no loop.
  at::Tensor last = ranks == 1 ? at::Tensor() : gradients.back();
  ReleaseList(gradients);
  Wait(streams_.scatter, CurrentStream(streams_.device));
  const c10::StreamGuard on(streams_.scatter);
  at::Tensor output = at::empty({elements}, type);
  if (before != 1) input.div_(before);
  if (ranks == 1) {
    output.copy_(input);
  } else {
    c10d::ReduceScatterOptions options;
    options.asyncOp = false;
    options.reduceOp = before == 1 && after == 1 ? c10d::ReduceOp::AVG : c10d::ReduceOp::SUM;
    if (auto work = group_.getBackend(streams_.device.type())
                        ->_reduce_scatter_base(output, input, options)) {
      work->wait();
    }
  }
  OptionalEvent scattered = Record(streams_.scatter);
  if (after != 1) output.div_(after);
  int64_t offset = 0;
  for (size_t i : which) {
    ShardedParameter& p = parameters_[i];
    AddGradient(p, output.as_strided(p.sharded.sizes(), c10::contiguous_strides(p.sharded.sizes()),
                                     offset));
    offset += Product(p.padded_sizes);
  }
  if (!options_.offloads) {
    TagStorage(output, trace::Category::kGradient, "gradients of one rank");
  }
  scattered_event_ = Record(streams_.scatter);
  streams_.scattered = std::move(input);
  streams_.scattered_event = std::move(scattered);
  last.reset();
}

void ShardUnit::AddGradient(ShardedParameter& parameter, at::Tensor gradient) {
  at::Tensor& present = parameter.sharded.mutable_grad();
  if (!options_.offloads) {
    if (present.defined()) {
      present.add_(gradient);
    } else {
      present = std::move(gradient);
    }
    return;
  }
  // If an earlier gradient exists, the host waits for this copy, to add it to that gradient. The
  // addition itself is left out, because nothing is computed.
  gradient = gradient.to(at::kCPU, /*non_blocking=*/!present.defined());
  if (present.defined()) return;
  on_host_event_ = Record(streams_.scatter);
  present = std::move(gradient);
}

void ShardUnit::WaitForScattered() {
  Wait(CurrentStream(streams_.device), scattered_event_);
  scattered_event_.reset();
}

void ShardUnit::FinishBackward() {
  WaitForScattered();
  if (on_host_event_.has_value()) on_host_event_->synchronize();
  on_host_event_.reset();
  if (result_.has_value()) {
    Wait(CurrentStream(streams_.device), result_->event);
    result_.reset();
  }
  places_.clear();
}

}  // namespace vramscope::trainer
