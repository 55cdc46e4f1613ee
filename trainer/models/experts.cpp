#include "trainer/models/experts.h"

#include <dlfcn.h>
#include <torch/types.h>

#include <tuple>

namespace vramscope::trainer {
namespace {

// Tells the emulated platform how many elements of a mask to count as true. A real GPU counts them.
void SayTrue(const at::Tensor& mask, int64_t count) {
  using Function = void (*)(uint64_t address, uint64_t elements, uint64_t count);
  static const auto say =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "vramscope_emulated_count_true"));
  if (say == nullptr || mask.is_cpu()) return;
  say(reinterpret_cast<uint64_t>(mask.const_data_ptr()), static_cast<uint64_t>(mask.numel()),
      static_cast<uint64_t>(count));
}

// Returns the indices (choice, token) of the true elements of `mask`, which is the part [chosen,
// tokens] of one expert.
std::pair<at::Tensor, at::Tensor> Where(const at::Tensor& mask, int64_t experts) {
  const at::Tensor dense = mask.contiguous();  // the operator also makes a copy to count elements
  SayTrue(dense, std::max<int64_t>(1, (dense.numel() + experts / 2) / experts));
  std::vector<at::Tensor> places = at::where(dense);
  return {std::move(places[0]), std::move(places[1])};
}

}  // namespace

void RefuseRouterLoss(run::ConfigReader& reader) {
  if (reader.Bool("output_router_logits", false)) {
    reader.Fail(
        "output_router_logits = true, which adds a loss that balances the experts, is not "
        "supported");
  }
}

SparseMoe::SparseMoe(std::string name, const DecoderConfig& c, const ModelOptions& o,
                     const Options& form)
    : FeedForward(std::move(name)),
      form_(form),
      gate_("gate", Projection(c, o, c.hidden_size, form.experts, false)) {
  AddChild(&gate_);
  for (int64_t i = 0; i < form.experts; ++i) {
    experts_.push_back(
        std::make_unique<GatedMlp>("experts." + std::to_string(i), c, o, form.inner, form.names));
    AddChild(experts_.back().get());
  }
}

at::Tensor SparseMoe::Run(const at::Tensor& x, at::Tensor& router_logits) {
  ModuleScope scope(name());
  using at::indexing::None;
  const int64_t width = x.size(-1);
  const at::Tensor tokens = x.view({-1, width});
  router_logits = gate_.Forward(tokens);
  at::Tensor weights = at::softmax(router_logits, 1, at::kFloat);
  at::Tensor selected;
  std::tie(weights, selected) = at::topk(weights, form_.chosen, -1);
  if (form_.normalized) weights /= weights.sum(-1, /*keepdim=*/true);
  weights = weights.to(tokens.scalar_type());
  at::Tensor output = at::zeros({tokens.size(0), width}, tokens.options());
  at::Tensor mask = at::one_hot(selected, form_.experts).permute({2, 1, 0});
  at::Tensor choice, token, state, result;
  for (int64_t i = 0; i < form_.experts; ++i) {
    std::tie(choice, token) = Where(mask.select(0, i), form_.experts);
    state = tokens.index({None, token}).reshape({-1, width});
    {
      const at::Tensor computed = experts_[static_cast<size_t>(i)]->Forward(state);
      const at::Tensor share = weights.index({token, choice, None});
      result = computed * share;
    }
    output.index_add_(0, token, result.to(tokens.scalar_type()));
  }
  output = output.reshape(x.sizes());
  for (at::Tensor* local : {&weights, &selected, &mask, &choice, &token, &state, &result}) {
    local->reset();
  }
  return output;
}

}  // namespace vramscope::trainer
