// Accumulates the gradients of 16-bit weights in fp32, like Megatron's main_grad. Each weight has
// an fp32 sum from the first micro-batch on. A gradient is added to the sum, then freed. The
// optimizer gets the sums, cast to the weights' type.
#include <torch/types.h>

#include <unordered_map>
#include <vector>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer::gradient_type_technique {
namespace {

class GradientType final : public Technique {
 public:
  void AfterSetUp(const RunContext&, Model&, std::span<const at::Tensor> trained) override {
    for (const at::Tensor& parameter : trained) {
      if (parameter.scalar_type() == at::kFloat) continue;
      const CategoryScope category(trace::Category::kGradient);
      at::Tensor sum =
          at::zeros(parameter.sizes(), parameter.options().dtype(at::kFloat).requires_grad(false));
      TagStorage(sum, trace::Category::kGradient, "gradient in fp32");
      index_.emplace(parameter.unsafeGetTensorImpl(), sums_.size());
      sums_.push_back(std::move(sum));
    }
  }
  void OnGradient(const at::Tensor& parameter) override {
    const auto at = index_.find(parameter.unsafeGetTensorImpl());
    if (at == index_.end() || !parameter.grad().defined()) return;
    at::NoGradGuard no_grad;
    sums_[at->second].add_(parameter.grad());
    at::Tensor(parameter).mutable_grad().reset();
  }
  void BeforeStep(const RunContext&, std::span<const at::Tensor> trained) override {
    at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : trained) {
      const auto at = index_.find(parameter.unsafeGetTensorImpl());
      if (at == index_.end()) continue;
      const CategoryScope category(trace::Category::kGradient);
      at::Tensor(parameter).mutable_grad() = sums_[at->second].to(parameter.scalar_type());
    }
  }
  void AfterStep(const RunContext&, int) override {
    for (at::Tensor& sum : sums_) sum.zero_();
  }
  void AfterRun() override {
    index_.clear();
    sums_.clear();
  }
  // Each micro-batch is executed, because a tape of another micro-batch lacks the sums.
  bool repeats() const override { return false; }

 private:
  // The sums, in the order of the parameters. An order by address would differ between runs.
  std::vector<at::Tensor> sums_;
  std::unordered_map<const at::TensorImpl*, size_t> index_;
};

run::Rule NotWith(run::Condition other, const char* why, run::SettingValues instead) {
  return {.when = {{"gradients.dtype", true, {"fp32"}}, std::move(other)},
          .why = std::string("gradients.dtype=fp32 ") + why,
          .instead = std::move(instead)};
}

}  // namespace

TechniqueEntry DeclareTechnique_gradient_type() {
  return {
      .declaration =
          {.id = "gradient-type",
           .group = "Gradients",
           .title = "Gradient accumulation in fp32",
           .explanation = "Gradients of 16-bit weights are accumulated in fp32 tensors that exist "
                          "for the whole run. This needs 4 more bytes per trained weight, and "
                          "small gradients are not lost in the sums.",
           .settings = {{.key = "gradients.dtype",
                         .help =
                             "type in which gradients are accumulated: the weights' type, or fp32",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "weights",
                         .choices = {{"weights", "type of the weights"}, {"fp32", ""}}}},
           .toggles = {{.id = "gradients-fp32",
                        .title = "Gradients in fp32",
                        .explanation = "fp32 sums in addition to 16-bit gradients",
                        .on = {{"gradients.dtype", true, {"fp32"}}},
                        .ways = {{{"gradients.dtype", "fp32"}}}}},
           .rules =
               {{.when = {{"gradients.dtype", true, {"fp32"}},
                          {"precision", true, {"fp32", "amp-bf16", "amp-fp16"}}},
                 .why = "the weights and their gradients are already fp32",
                 .refuses = false},
                NotWith({"optimizer.in_backward", true, {"true"}},
                        "is not supported with optimizer.in_backward, which uses gradients "
                        "immediately instead of accumulating them; set optimizer.in_backward=false",
                        {{"optimizer.in_backward", "false"}}),
                NotWith({"zero_grad", true, {"zero"}},
                        "is not supported with zero_grad=zero, which would fill only the fp32 sums "
                        "with zeros; set zero_grad=none",
                        {{"zero_grad", "none"}}),
                NotWith({"shard.strategy", false, {"none"}},
                        "is only supported on one GPU: set shard.strategy=none",
                        {{"shard.ranks", "1"}, {"shard.strategy", "none"}})}},
      .order = 36,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("gradients.dtype", "weights")) return nullptr;
        return std::make_unique<GradientType>();
      }};
}

}  // namespace vramscope::trainer::gradient_type_technique
