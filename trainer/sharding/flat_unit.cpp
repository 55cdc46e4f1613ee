#include "trainer/sharding/flat_unit.h"

#include <torch/autograd.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/types.h>

#include <algorithm>
#include <utility>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/optimizers/group.h"
#include "trainer/sharding/storage_size.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::variable_list;

// Alignment of gathered parameters.
constexpr int64_t kAlignment = 16;
// The host frees at most this many units that the GPU may still be using. Then it waits for one.
constexpr size_t kMostLetGo = 2;

size_t BytesOf(const at::Tensor& tensor) {
  return static_cast<size_t>(tensor.numel()) * tensor.itemsize();
}

// Returns whether all-gathers run on streams of a higher priority than the reduction over replicas.
// In FSDP1, they do so only with limit_all_gathers.
bool HurriesGathers(const FlatOptions& options) {
  return options.limits_gathers && options.replicas != nullptr;
}

// Returns the number by which gradients are divided before they are summed. The sums are divided
// again.
double DivisorBefore(int ranks) {
  int before = 1;
  while (ranks % before == 0 && ranks / before > before) before *= 2;
  return before;
}

// Returns the padding that FSDP1 puts between parameters, which is filled with 42.
at::Tensor Padding(int64_t elements, const at::TensorOptions& options) {
  return at::ones({elements}, options) * 42;
}

}  // namespace

FlatShared::FlatShared(c10::intrusive_ptr<c10d::ProcessGroup> g, const FlatOptions& o)
    : group(std::move(g)),
      options(o),
      prepare(NewStream(o.device, HurriesGathers(o))),
      gather(NewStream(o.device, HurriesGathers(o))),
      scatter(NewStream(o.device, HurriesGathers(o))),
      add_up(o.replicas ? NewStream(o.device, false) : CurrentStream(o.device)) {}

FlatUnit::FlatUnit(FlatShared& shared, std::string path, bool is_model)
    : shared_(shared), path_(std::move(path)), is_model_(is_model) {}

FlatUnit::~FlatUnit() {
  if (accumulator_ != nullptr) accumulator_->del_post_hook(accumulator_hook_);
}

void FlatUnit::Flatten(const std::vector<Parameter*>& parameters) {
  at::NoGradGuard no_grad;
  const FlatOptions& options = shared_.options;
  const int64_t ranks = shared_.group->getSize(), rank = shared_.group->getRank();
  const at::TensorOptions type = parameters.front()->tensor.options().requires_grad(false);
  const auto dtype = type.dtype().toScalarType();
  const auto aligned =
      static_cast<int64_t>(kAlignment / c10::elementSize(options.gathered_as.value_or(dtype)));
  const CategoryScope category(trace::Category::kParameter);
  const OwnerScope owner(path_);
  std::vector<at::Tensor> pieces;
  bool trained = false;
  const auto add = [&](at::Tensor piece, bool is_padding) {
    splits_.push_back(piece.numel());
    is_padding_.push_back(is_padding);
    elements_ += piece.numel();
    pieces.push_back(std::move(piece));
  };
  const auto pad = [&](int64_t to) {
    if (!options.original_parameters || elements_ % to == 0) return;
    add(Padding(to - elements_ % to, type), true);
  };
  for (Parameter* parameter : parameters) {
    const at::Tensor& whole = parameter->tensor;
    TORCH_CHECK(whole.scalar_type() == dtype,
                "FSDP1 flattens tensors of one type: ", parameter->name(), " is ",
                whole.scalar_type(), ", others of its unit are ", dtype);
    pad(aligned);
    parts_.push_back({.parameter = parameter, .sizes = whole.sizes().vec()});
    add(whole.detach().flatten(), false);
    trained = trained || parameter->trainable;
  }
  pad(ranks);
  at::Tensor whole = at::cat(pieces);
  ReleaseList(pieces);
  {
    const int64_t each = (elements_ + ranks - 1) / ranks;
    const int64_t begin = std::min(elements_, each * rank);
    local_ = PaddedShard(whole.narrow(0, begin, std::min(each, elements_ - begin)).clone());
  }
  whole.reset();
  TagStorage(local_, trace::Category::kParameter, "parameters of one rank");
  flat_ = local_.detach();
  flat_.set_requires_grad(trained);
  WatchGradients({flat_});
  // Finds this rank's part of each parameter.
  const int64_t first = local_.numel() * rank, last = first + local_.numel();
  int64_t offset = 0;
  auto part = parts_.begin();
  for (size_t i = 0; i < splits_.size(); offset += splits_[i++]) {
    if (is_padding_[i]) continue;
    const int64_t begin = std::max(first, offset), end = std::min(last, offset + splits_[i]);
    part->count = std::max<int64_t>(0, end - begin);
    part->begin = part->count > 0 ? begin - first : 0;
    part->sharded = part->count > 0 ? local_.narrow(0, part->begin, part->count).detach()
                                    : at::empty({0}, type);
    part->sharded.set_requires_grad(part->parameter->trainable);
    ++part;
  }
  if (options.original_parameters) {
    for (FlatPart& each : parts_) each.parameter->tensor = each.sharded;
  } else {
    // Python frees the elements of a list in this order.
    std::for_each(parts_.rbegin(), parts_.rend(),
                  [](FlatPart& each) { each.parameter->tensor = each.sharded; });
  }
  if (options.offloads) KeepOnHost(local_.to(at::kCPU));
}

void FlatUnit::KeepOnHost(at::Tensor local) {
  at::NoGradGuard no_grad;
  local_ = std::move(local);
  flat_.set_data(local_);
  for (FlatPart& part : parts_) part.sharded.set_data(local_.narrow(0, part.begin, part.count));
}

// Pads the part of a rank with zeros, so that all ranks have equally many elements.
at::Tensor FlatUnit::PaddedShard(const at::Tensor& shard) const {
  const int64_t ranks = shared_.group->getSize();
  const int64_t lacking = (elements_ + ranks - 1) / ranks - shard.numel();
  return lacking == 0 ? shard : at::constant_pad_nd(shard, {0, lacking});
}

void FlatUnit::MakeRoom() {
  at::NoGradGuard no_grad;
  const CategoryScope category(trace::Category::kParameter);
  const OwnerScope owner(path_);
  if (shared_.options.offloads) {
    KeepOnHost(local_.pin_memory());
    host_gradient_ = at::zeros_like(local_).pin_memory();
  }
  const at::TensorOptions type =
      local_.options().device(shared_.options.device).pinned_memory(false).requires_grad(false);
  const auto in_type = [&](at::ScalarType dtype) {
    at::Tensor made = at::empty({local_.numel() * shared_.group->getSize()}, type.dtype(dtype));
    ResizeStorage(made, 0);
    return made;
  };
  const at::ScalarType own = local_.scalar_type();
  const at::ScalarType gathered = shared_.options.gathered_as.value_or(own);
  if (gathered != own) {
    narrow_ = at::empty_like(local_, type.dtype(gathered));
    ResizeStorage(narrow_, 0);
  }
  gathered_ = in_type(gathered);
  // For evaluation, FSDP1 also creates a tensor for gathering in the weights' own type.
  if (gathered != own) in_type(own);
}

void FlatUnit::DropGradientsWithoutOwner() {
  if (!shared_.options.original_parameters) return;
  const bool owned = std::any_of(parts_.begin(), parts_.end(), [](const FlatPart& part) {
    return part.sharded.grad().defined();
  });
  if (!owned) flat_.mutable_grad().reset();
}

std::vector<at::Tensor> FlatUnit::TrainedTensors() const {
  std::vector<at::Tensor> out;
  if (!shared_.options.original_parameters) {
    if (flat_.requires_grad()) out.push_back(flat_);
    return out;
  }
  for (const FlatPart& part : parts_) {
    if (part.parameter->trainable) out.push_back(part.sharded);
  }
  return out;
}

std::vector<at::Tensor> FlatUnit::Gradients() const {
  std::vector<at::Tensor> out;
  for (const at::Tensor& trained : TrainedTensors()) {
    if (trained.grad().defined()) out.push_back(trained.grad());
  }
  return out;
}

// Called before each all-gather. If only some parameters of the unit have a gradient, fills the
// other parameters' parts of the flat gradient with zeros.
void FlatUnit::ZeroWhatHasNoOwner() {
  at::NoGradGuard no_grad;
  const at::Tensor& gradient = flat_.grad();
  if (!shared_.options.original_parameters || !gradient.defined()) return;
  if (skipped_sharded_ || flat_.numel() != local_.numel()) return;
  for (const FlatPart& part : parts_) {
    if (part.count == 0 || part.sharded.grad().defined()) continue;
    gradient.narrow(0, part.begin, part.count).zero_();
  }
}

bool FlatUnit::IsGathered() const { return gathered_.storage().nbytes() > 0; }

// Copies this rank's part to the device, in the type in which it is gathered. A part that is kept
// on the host is copied even if the unit is still gathered.
bool FlatUnit::BringPart() {
  at::NoGradGuard no_grad;
  const FlatOptions& options = shared_.options;
  if (IsGathered() && !options.offloads) return false;
  const CategoryScope category(trace::Category::kCommunication);
  const OwnerScope owner(path_);
  if (narrow_.defined()) {
    ResizeStorage(narrow_, BytesOf(narrow_));
    narrow_.copy_(local_.to(options.device, /*non_blocking=*/true));
    flat_.set_data(narrow_);
    return true;
  }
  if (!options.offloads || flat_.device() == options.device) return false;
  here_ = flat_.detach().to(options.device, /*non_blocking=*/true);
  flat_.set_data(here_);
  skipped_sharded_ = false;
  return true;
}

void FlatUnit::Unshard() {
  bool prepared = false;
  {
    const c10::StreamGuard on(shared_.prepare);
    ZeroWhatHasNoOwner();
    prepared = BringPart();
  }
  if (prepared) Wait(shared_.gather, shared_.prepare);
  if (shared_.options.limits_gathers && shared_.let_go.size() >= kMostLetGo) {
    const OptionalEvent oldest = std::move(shared_.let_go.front());
    shared_.let_go.pop_front();
    if (oldest.has_value()) oldest->synchronize();
  }
  const c10::StreamGuard on(shared_.gather);
  if (!IsGathered()) Gather();
  UseGathered();
  // With use_orig_params, the parameters are slices of `here_` until the unit is resharded.
  if (!shared_.options.original_parameters) here_.reset();
  if (narrow_.defined() && narrow_.storage().nbytes() > 0) {
    narrow_.record_stream(shared_.gather);
    ResizeStorage(narrow_, 0);
  }
}

void FlatUnit::Gather() {
  at::NoGradGuard no_grad;
  {
    const CategoryScope category(trace::Category::kParameter);
    const OwnerScope owner(path_);
    ResizeStorage(gathered_, BytesOf(gathered_));
  }
  c10d::AllgatherOptions options;
  options.asyncOp = false;
  at::Tensor input = narrow_.defined() ? narrow_ : here_.defined() ? here_ : local_;
  if (auto work = shared_.group->getBackend(shared_.options.device.type())
                      ->_allgather_base(gathered_, input, options)) {
    work->wait();
  }
  if (shared_.options.offloads) input.record_stream(shared_.gather);
}

void FlatUnit::UseGathered() {
  flat_.set_data(gathered_.narrow(0, 0, elements_));
  const bool in_forward = state == FlatState::kForward;
  if (!shared_.options.original_parameters) {
    if (in_forward) UseViews();
    return;
  }
  if (skipped_sharded_ && state == FlatState::kBeforeBackward) return;
  UseViews();
}

// Makes the model's tensors views of the flat parameter. Through them, the flat parameter gets its
// gradient. Forward makes new views, and a recomputation in backward reuses the same views.
void FlatUnit::UseViews() {
  const at::AutoGradMode with_grad(true);
  if (state == FlatState::kForward) {
    const std::vector<at::Tensor> pieces = at::split_with_sizes(flat_, splits_);
    auto part = parts_.begin();
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (is_padding_[i]) continue;
      part->view = pieces[i].view(part->sizes);
      ++part;
    }
  }
  for (FlatPart& part : parts_) {
    if (part.view.defined()) part.parameter->tensor = part.view;
  }
}

void FlatUnit::UseSharded() {
  const bool in_forward = state == FlatState::kForward;
  flat_.set_data(local_);
  if (!shared_.options.original_parameters) return;
  skipped_sharded_ =
      at::GradMode::is_enabled() && in_forward && !shared_.options.reshards_after_forward;
  if (skipped_sharded_) return;
  UseShardedParameters();
  if (!in_forward) return;
  const at::Tensor& gradient = flat_.grad();
  gradient.defined() && gradient.numel() == elements_&& elements_ != local_.numel()
      ? UseWholeGradients()
      : UseShardedGradients();
}

void FlatUnit::UseShardedParameters() {
  for (FlatPart& part : parts_) {
    part.parameter->tensor = part.sharded;
    if (state == FlatState::kAfterBackward) part.view.reset();
  }
  here_.reset();
}

void FlatUnit::UseShardedGradients() {
  at::NoGradGuard no_grad;
  const at::Tensor gradient = host_gradient_.defined()    ? host_gradient_
                              : saved_gradient_.defined() ? saved_gradient_
                                                          : flat_.grad();
  for (FlatPart& part : parts_) {
    at::Tensor& own = part.sharded.mutable_grad();
    if (!gradient.defined() || part.count == 0 || !part.parameter->trainable) {
      own.reset();
    } else {
      own = gradient.narrow(0, part.begin, part.count);
    }
  }
}

// Splits gradients that were accumulated unsharded. If a rank's part is smaller than the parameter,
// FSDP1 first allocates a gradient of the part's size, then replaces it by a view.
void FlatUnit::UseWholeGradients() {
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> pieces = at::split_with_sizes(flat_.grad(), splits_);
  auto part = parts_.begin();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (is_padding_[i]) continue;
    at::Tensor& own = part->sharded.mutable_grad();
    if (!own.defined() && part->sharded.sizes() != part->sizes) own = at::empty_like(part->sharded);
    own = pieces[i].view(part->sizes);
    ++part;
  }
}

void FlatUnit::Reshard(bool lets_go) {
  UseSharded();
  if (lets_go) {
    const c10::Stream now = CurrentStream(shared_.options.device);
    gathered_.record_stream(now);
    ResizeStorage(gathered_, 0);
    if (shared_.options.limits_gathers) shared_.let_go.push_back(Record(now));
  }
  prefetched = false;
}

void FlatUnit::BeforeForward(const std::vector<at::Tensor>& entering) {
  if (state == FlatState::kBeforeBackward) return;  // this call comes from a recomputation
  state = FlatState::kForward;
  if (!shared_.first_backward_is_done && place_in_forward_ == kNowhere) {
    place_in_forward_ = shared_.forward_order.size();
    shared_.forward_order.push_back(this);
  }
  if (!prefetched) Unshard();
  needs_forward = false;
  Wait(CurrentStream(shared_.options.device), shared_.gather);
  Prefetch();
  WatchBackward(entering);
}

bool FlatUnit::AfterForward() {
  if (state == FlatState::kBeforeBackward) return false;
  // FSDP1 treats the first index, 0, like an unset one.
  if (place_in_backward_ == kNowhere || place_in_backward_ == 0) {
    place_in_backward_ = shared_.backward_order.size();
  }
  shared_.backward_order.push_back(this);
  Reshard(!is_model_ && shared_.options.reshards_after_forward);
  if (at::GradMode::is_enabled()) needs_backward = ran_before_backward = false;
  state = FlatState::kIdle;
  return true;
}

FlatUnit* FlatUnit::NextToPrefetch() const {
  const FlatPrefetch when = shared_.options.backward_prefetch;
  if ((state == FlatState::kBeforeBackward && when == FlatPrefetch::kBeforeUnit) ||
      (state == FlatState::kAfterBackward && when == FlatPrefetch::kAfterUnit)) {
    if (place_in_backward_ == kNowhere || place_in_backward_ == 0) return nullptr;
    FlatUnit* next = shared_.backward_order[place_in_backward_ - 1];
    return next->needs_backward && !next->prefetched ? next : nullptr;
  }
  if (state != FlatState::kForward || !shared_.options.prefetches_forward) return nullptr;
  if (place_in_forward_ + 1 >= shared_.forward_order.size()) return nullptr;
  FlatUnit* next = shared_.forward_order[place_in_forward_ + 1];
  return next->needs_forward && !next->prefetched ? next : nullptr;
}

void FlatUnit::Prefetch() {
  FlatUnit* next = NextToPrefetch();
  if (next == nullptr) return;
  const FlatState as =
      state == FlatState::kForward ? FlatState::kForward : FlatState::kBeforeBackward;
  const FlatState own = std::exchange(next->state, as);
  next->Unshard();
  next->state = own;
  next->prefetched = true;
}

void FlatUnit::WatchBackward(const std::vector<at::Tensor>& entering) {
  if (!at::GradMode::is_enabled()) return;
  if (flat_.requires_grad()) {
    if (accumulator_ != nullptr) return;
    accumulator_ = torch::autograd::impl::grad_accumulator(flat_);
    accumulator_hook_ =
        accumulator_->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
            [this](const variable_list& outputs, const variable_list&) {
              AfterBackward();
              return outputs;
            }));
    return;
  }
  // Nothing in the unit is trained, so backward has left it when all its inputs have gradients.
  if (std::exchange(watches_entering_, true)) return;
  auto lacking = std::make_shared<size_t>(entering.size());
  for (const at::Tensor& tensor : entering) {
    tensor.register_hook([this, lacking](const at::Tensor&) {
      if (--*lacking > 0) return;
      state = FlatState::kAfterBackward;
      ReshardInBackward();
    });
  }
}

void FlatUnit::BeforeBackward() {
  state = FlatState::kBeforeBackward;
  if (needs_backward) {
    if (!prefetched) Unshard();
    Wait(CurrentStream(shared_.options.device), shared_.gather);
  }
  needs_backward = false;
  Prefetch();
  PrepareGradient();
  ran_before_backward = true;
}

// Moves the sharded gradient of an earlier step or micro-batch away, so that this backward starts
// with an empty gradient. An unsharded gradient stays and accumulates.
void FlatUnit::PrepareGradient() {
  at::Tensor& gradient = flat_.mutable_grad();
  if (!gradient.defined() || gradient.numel() == elements_) return;
  if (!shared_.options.offloads) saved_gradient_ = std::move(gradient);
  gradient.reset();
}

void FlatUnit::ReshardInBackward() {
  Reshard(shared_.reduces || shared_.options.reshards_after_forward);
  Prefetch();
}

void FlatUnit::AfterBackward() {
  at::NoGradGuard no_grad;
  state = FlatState::kAfterBackward;
  scattered_ = true;
  if (!flat_.grad().defined()) return;
  ReshardInBackward();
  if (!shared_.reduces) {
    if (shared_.options.original_parameters) UseWholeGradients();
    return;
  }
  Wait(shared_.scatter, CurrentStream(shared_.options.device));
  at::Tensor computed = flat_.grad();
  {
    const c10::StreamGuard on(shared_.scatter);
    Scatter();
    computed.record_stream(shared_.scatter);
  }
}

void FlatUnit::Scatter() {
  const CategoryScope category(trace::Category::kGradient);
  const OwnerScope owner(path_);
  const int ranks = shared_.group->getSize();
  at::Tensor whole = std::move(flat_.mutable_grad());
  flat_.mutable_grad().reset();
  const int64_t lacking = local_.numel() * ranks - whole.numel();
  at::Tensor input = lacking > 0 ? at::constant_pad_nd(whole, {0, lacking}) : whole;
  at::Tensor scattered = at::empty({local_.numel()}, whole.options());
  const auto& replicas = shared_.options.replicas;
  const int all = ranks * (replicas ? replicas->getSize() : 1);
  const double before = DivisorBefore(all), after = all / before;
  if (before > 1) input.div_(before);
  c10d::ReduceScatterOptions options;
  options.asyncOp = false;
  options.reduceOp = c10d::ReduceOp::SUM;
  if (auto work = shared_.group->getBackend(shared_.options.device.type())
                      ->_reduce_scatter_base(scattered, input, options)) {
    work->wait();
  }
  c10::OptionalStreamGuard on;
  if (replicas) {
    Wait(shared_.add_up, shared_.scatter);
    on.reset_stream(shared_.add_up);
    scattered.record_stream(shared_.add_up);
    std::vector<at::Tensor> sums = {scattered};
    c10d::AllreduceOptions adding;
    adding.asyncOp = false;
    if (auto work = replicas->allreduce(sums, adding)) work->wait();
  }
  if (after > 1) scattered.div_(after);
  if (scattered.scalar_type() != local_.scalar_type()) {
    scattered = scattered.to(local_.scalar_type());
  }
  if (saved_gradient_.defined()) {
    saved_gradient_.add_(scattered);
  } else {
    saved_gradient_ = scattered;
    TagStorage(saved_gradient_, trace::Category::kGradient, "gradients of one rank");
  }
  if (host_gradient_.defined()) host_gradient_.copy_(saved_gradient_, /*non_blocking=*/true);
  if (shared_.options.original_parameters) UseShardedGradients();
}

void FlatUnit::FinishBackward() {
  if (flat_.data_ptr() != local_.data_ptr() || skipped_sharded_) {
    Reshard(shared_.reduces || shared_.options.reshards_after_forward);
  }
  if (accumulator_ != nullptr) {
    accumulator_->del_post_hook(accumulator_hook_);
    accumulator_.reset();
  }
  watches_entering_ = false;
  if (flat_.requires_grad() && shared_.reduces) {
    if (host_gradient_.defined()) {
      flat_.mutable_grad() = host_gradient_;
    } else if (saved_gradient_.defined() && scattered_) {
      flat_.mutable_grad() = saved_gradient_;
    }
    saved_gradient_.reset();
    scattered_ = false;
  }
  ran_before_backward = needs_backward = prefetched = false;
  place_in_backward_ = kNowhere;
  state = FlatState::kIdle;
}

}  // namespace vramscope::trainer
