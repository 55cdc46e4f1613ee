#include "trainer/techniques/recompute/frames.h"

#include <torch/autograd.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/types.h>

#include <algorithm>
#include <optional>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/techniques/precision.h"
#include "trainer/techniques/recompute/op_cache.h"
#include "trainer/techniques/recompute/random_state.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::SavedVariableHooks;

// Thrown to end a segment's second run as soon as all needed tensors have been computed.
struct StopRecomputation {};

// The object that a graph node stores in place of a saved tensor.
struct Placeholder {
  at::Tensor tensor;  // set by the second run, reset when used
  std::unique_ptr<SavedMark> mark;
};

// What a segment's second run needs. It lives until no graph node has one of its placeholders.
struct Frame {
  std::vector<LayerFunction> layers;
  std::string path;
  CheckpointOptions options;
  RandomState random;
  std::optional<AutocastState> autocast;  // autocast's state in the first run
  SavedVariable input;
  // nullopt if the tensor is undefined or in `closed_over`
  std::vector<std::optional<SavedVariable>> carried;
  Carried closed_over;
  std::function<std::unique_ptr<OpPolicy>()> make_policy;  // null: no outputs are kept
  OpCache kept;
  std::vector<std::weak_ptr<Placeholder>> placeholders;  // in the order in which they were saved
  // index of the next placeholder in the second run
  size_t next = 0;
  bool ran_again = false;

  at::Tensor Run(at::Tensor hidden, Carried& now, OpCacheScope::Mode mode) {
    std::unique_ptr<OpPolicy> policy;
    std::optional<OpCacheScope> cached;
    if (make_policy) {
      policy = make_policy();
      cached.emplace(&kept, policy.get(), mode);
    }
    for (const LayerFunction& layer : layers) hidden = layer(hidden, now);
    return hidden;
  }

  void RunAgain();
};

// Used in the second run: puts each saved tensor into its placeholder.
class FillingHook final : public SavedVariableHooks {
 public:
  explicit FillingHook(Frame& frame) : frame_(frame) {}
  void call_pack_hook(const at::Tensor& tensor) override {
    tensor_ = at::Tensor(tensor.tensor_data());
    const size_t place = frame_.next++;
    TORCH_CHECK(place < frame_.placeholders.size(),
                "checkpointing: the second run saves more tensors than the first");
    if (const std::shared_ptr<Placeholder> waiting = frame_.placeholders[place].lock()) {
      waiting->tensor = tensor_;
      waiting->mark = std::make_unique<SavedMark>(tensor_);
    }
    if (frame_.next == frame_.placeholders.size()) throw StopRecomputation();
  }
  at::Tensor call_unpack_hook() override { return tensor_; }

 private:
  Frame& frame_;  // valid, because the frame is running
  at::Tensor tensor_;
};

// Used in the first run: stores a placeholder instead of each saved tensor.
class EmptyHook final : public SavedVariableHooks {
 public:
  explicit EmptyHook(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}
  void call_pack_hook(const at::Tensor&) override {
    placeholder_ = std::make_shared<Placeholder>();
    frame_->placeholders.push_back(placeholder_);
  }
  at::Tensor call_unpack_hook() override {
    if (!frame_->ran_again) frame_->RunAgain();
    placeholder_->mark.reset();
    return std::move(placeholder_->tensor);
  }

 private:
  std::shared_ptr<Frame> frame_;
  std::shared_ptr<Placeholder> placeholder_;
};

void Frame::RunAgain() {
  ran_again = true;
  at::Tensor hidden = input.unpack();
  Carried now = closed_over;
  for (size_t i = 0; i < carried.size(); ++i) {
    if (carried[i]) now[i] = carried[i]->unpack();
  }
  const RandomState outside = RandomState::Now(options.device);
  random.Restore(options.device);
  try {
    const SavedHooksScope hooks([this] { return std::make_unique<FillingHook>(*this); });
    at::AutoGradMode with_graph(true);
    AutocastScope scope(options.device.type(), autocast);
    ModuleScope module(path);
    Run(std::move(hidden), now, OpCacheScope::Mode::kReuse);
  } catch (const StopRecomputation&) {
  }
  outside.Restore(options.device);
}

at::Tensor RunFirst(const std::shared_ptr<Frame>& frame, at::Tensor hidden, Carried& carried) {
  frame->random = RandomState::Now(frame->options.device);
  frame->autocast = AutocastScope::Current(frame->options.device.type());
  frame->input = SavedVariable(hidden, /*is_output=*/false);
  for (const at::Tensor& tensor : carried) {
    const bool closed = frame->options.closes_over && tensor.defined() && !tensor.requires_grad();
    frame->carried.emplace_back();
    frame->closed_over.push_back(closed ? tensor : at::Tensor());
    if (!closed && tensor.defined()) frame->carried.back().emplace(tensor, /*is_output=*/false);
  }
  const SavedHooksScope hooks([frame] { return std::make_unique<EmptyHook>(frame); });
  return frame->Run(std::move(hidden), carried, OpCacheScope::Mode::kKeep);
}

bool IsAttention(std::string_view op) {
  return op == "aten::_scaled_dot_product_flash_attention" ||
         op == "aten::_scaled_dot_product_efficient_attention" ||
         op == "aten::_scaled_dot_product_cudnn_attention" ||
         op == "aten::_flash_attention_forward";
}

class ProductsPolicy final : public OpPolicy {
 public:
  bool Keeps(std::string_view op, std::span<const c10::IValue>) override {
    if (op == "aten::mm" || op == "aten::addmm") return ++products_ % 2 != 0;
    return IsAttention(op);
  }

 private:
  int products_ = 0;
};

// Decides which calls' outputs are kept in each segment: kept[i] is for the i-th candidate call.
struct BudgetPlan {
  struct Call {
    double bytes = 0, operations = 0;
  };
  double share = 0;
  std::vector<Call> calls;  // calls in the first segment
  std::vector<bool> kept;
  bool solved = false;

  // Solves the knapsack like PyTorch's dp_knapsack (torch/_functorch/_activation_checkpointing),
  // with the same rounding: shares to ten-thousandths (ties to even), sums to fp32. Adding a small
  // cost to a large one in fp32 may not change it, so the order of summation affects which calls
  // are kept.
  void Solve() {
    solved = true;
    constexpr double kWhole = 10000;
    double total = 0;
    for (const Call& call : calls) total += call.bytes;
    kept.assign(calls.size(), false);
    if (total <= 0) return;
    const auto room = static_cast<size_t>(std::nearbyint(share * kWhole));
    std::vector<float> best(room + 1, 0);
    std::vector<std::vector<bool>> takes(calls.size(), std::vector<bool>(room + 1, false));
    std::vector<size_t> size;
    for (size_t i = 0; i < calls.size(); ++i) {
      size.push_back(static_cast<size_t>(std::nearbyint(calls[i].bytes / total * kWhole)));
      const auto operations = static_cast<float>(calls[i].operations);
      for (size_t left = room + 1; left-- > size[i];) {
        const float with = best[left - size[i]] + operations;
        if (with <= best[left]) continue;
        best[left] = with;
        takes[i][left] = true;
      }
    }
    size_t left = room;
    for (size_t i = calls.size(); i-- > 0;) {
      if (!takes[i][left]) continue;
      kept[i] = true;
      left -= size[i];
    }
    // With a share of 1, everything fits, even if the rounded shares add up to more.
    if (share >= 1) kept.assign(calls.size(), true);
  }
};

// Returns nullopt if the operator's outputs are never kept.
std::optional<BudgetPlan::Call> CallOf(std::string_view op, std::span<const c10::IValue> given) {
  const auto tensor = [&](size_t i) { return given[i].toTensor(); };
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  if (op == "aten::mm" || op == "aten::addmm" || op == "aten::bmm") {
    const size_t at = op == "aten::addmm" ? 1 : 0;
    const at::Tensor a = tensor(at), b = tensor(at + 1);
    const double made = count(a.numel()) / count(a.size(-1)) * count(b.size(-1));
    return BudgetPlan::Call{.bytes = made * count(static_cast<int64_t>(a.element_size())),
                            .operations = 2 * made * count(a.size(-1))};
  }
  if (!IsAttention(op)) return std::nullopt;
  const at::Tensor query = tensor(0), key = tensor(1);
  return BudgetPlan::Call{
      .bytes = count(query.numel() * static_cast<int64_t>(query.element_size())),
      .operations = 4 * count(query.numel()) * count(key.size(-2))};
}

class BudgetPolicy final : public OpPolicy {
 public:
  BudgetPolicy(std::shared_ptr<BudgetPlan> plan, bool first)
      : plan_(std::move(plan)), first_(first), learns_(first && !plan_->solved) {
    if (learns_) plan_->calls.clear();
    if (!first_ && !plan_->solved) plan_->Solve();
  }
  bool Keeps(std::string_view op, std::span<const c10::IValue> arguments) override {
    const std::optional<BudgetPlan::Call> call = CallOf(op, arguments);
    if (!call) return false;
    if (learns_) plan_->calls.push_back(*call);
    const size_t place = next_++;
    return !first_ && place < plan_->kept.size() && plan_->kept[place];
  }

 private:
  std::shared_ptr<BudgetPlan> plan_;
  bool first_, learns_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<OpPolicy> MakeProductsPolicy(bool) { return std::make_unique<ProductsPolicy>(); }

MakeOpPolicy MakeBudgetPolicy(double share) {
  auto plan = std::make_shared<BudgetPlan>();
  plan->share = share;
  return [plan](bool first) { return std::make_unique<BudgetPolicy>(plan, first); };
}

LayerRunner MakeFrameRunner(const CheckpointOptions& options, MakeOpPolicy policy) {
  return [options, policy](at::Tensor hidden, const std::vector<LayerFunction>& layers,
                           const std::string& path, Carried& carried) {
    const auto size = static_cast<size_t>(std::max(options.layers_per_segment, 1));
    for (size_t begin = 0; begin < layers.size(); begin += size) {
      const auto from = layers.begin() + static_cast<ptrdiff_t>(begin);
      const auto to =
          layers.begin() + static_cast<ptrdiff_t>(std::min(begin + size, layers.size()));
      if (!at::GradMode::is_enabled()) {
        for (auto layer = from; layer != to; ++layer) hidden = (*layer)(hidden, carried);
        continue;
      }
      auto frame = std::make_shared<Frame>();
      frame->layers.assign(from, to);
      frame->path = path;
      frame->options = options;
      if (policy) frame->make_policy = [policy, first = begin == 0] { return policy(first); };
      hidden = RunFirst(frame, std::move(hidden), carried);
    }
    return hidden;
  };
}

}  // namespace vramscope::trainer
