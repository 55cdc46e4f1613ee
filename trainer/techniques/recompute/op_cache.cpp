#include "trainer/techniques/recompute/op_cache.h"

#include <torch/library.h>
#include <torch/types.h>

namespace vramscope::trainer {

// A dispatch key below autograd, which nothing else in this process uses.
constexpr c10::DispatchKey kBelowAutograd = c10::DispatchKey::Fake;

struct OpCacheScope::State {
  OpCache* cache;
  OpPolicy* policy;
  Mode mode;
  c10::impl::IncludeDispatchKeyGuard included{kBelowAutograd};
};

namespace {

thread_local OpCacheScope::State* t_state = nullptr;

// Removes autograd's metadata. Autograd adds new metadata when the tensor is reused.
c10::IValue Detached(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  return at::Tensor(value.toTensor().tensor_data());
}

void OnOp(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  OpCacheScope::State* state = t_state;
  const size_t results = op.schema().returns().size();
  const std::string& name = op.schema().name();
  const size_t given = op.schema().arguments().size();
  const bool kept = state != nullptr &&
                    state->policy->Keeps(name, {stack->data() + (stack->size() - given), given});
  if (kept && state->mode == OpCacheScope::Mode::kReuse) {
    torch::jit::drop(*stack, given);
    for (c10::IValue& value : state->cache->Take(name)) stack->push_back(std::move(value));
    return;
  }
  {
    // Do not intercept the operators that `op` calls.
    c10::impl::ExcludeDispatchKeyGuard inside(kBelowAutograd);
    op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kBelowAutograd),
                       stack);
  }
  if (kept) state->cache->Keep(name, stack->data() + (stack->size() - results), results);
}

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&OnOp>());
}

}  // namespace

void OpCache::Keep(const std::string& op, const c10::IValue* outputs, size_t count) {
  Outputs& kept = outputs_[op].emplace_back();
  for (size_t i = 0; i < count; ++i) {
    kept.values.push_back(Detached(outputs[i]));
    if (outputs[i].isTensor()) {
      kept.marks.push_back(std::make_unique<SavedMark>(kept.values.back().toTensor()));
    }
  }
}

std::vector<c10::IValue> OpCache::Take(const std::string& op) {
  std::deque<Outputs>& kept = outputs_[op];
  TORCH_CHECK(!kept.empty(), "checkpointing: the second run calls ", op, " more often");
  std::vector<c10::IValue> out = std::move(kept.front().values);
  kept.pop_front();
  for (c10::IValue& value : out) value = Detached(value);
  return out;
}

OpCacheScope::OpCacheScope(OpCache* cache, OpPolicy* policy, Mode mode)
    : outer_(t_state), state_(new State{cache, policy, mode}) {
  t_state = state_.get();
}

OpCacheScope::~OpCacheScope() { t_state = outer_; }

}  // namespace vramscope::trainer
