// Limits the norm of all gradients together, like torch.nn.utils.clip_grad_norm_ with foreach.
#include <torch/types.h>

#include "trainer/optimizers/group.h"
#include "trainer/techniques/shares_training.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class Clipping final : public Technique, public MeasuresGradients {
 public:
  explicit Clipping(double most) : most_(most) {}

  void Join(SharesTraining& sharing) override { sharing_ = &sharing; }
  void BeforeStep(const RunContext& run, std::span<const at::Tensor> trained) override {
    if (sharing_ != nullptr && sharing_->ClipNorm(most_)) return;
    at::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : trained) {
      if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    }
    if (gradients.empty()) return;
    // Gradients in host memory are clipped on the host. A plan computes nothing there.
    if (!run.measured && gradients.front().device() != run.device) return;
    std::vector<at::Tensor> norms;
    for (const std::vector<size_t>& group : GroupByDtype(gradients)) {
      for (at::Tensor& norm : at::_foreach_norm(Pick(gradients, group))) norms.push_back(norm);
    }
    at::Tensor stacked = at::stack(norms);
    at::Tensor whole = sharing_ != nullptr ? sharing_->NormsOverRanks(stacked) : stacked;
    at::Tensor total = at::linalg_vector_norm(whole);
    whole.reset();
    stacked.reset();
    ReleaseList(norms);
    // In Python, dividing a number by a tensor takes two operators.
    at::Tensor divisor = total + 1e-6;
    at::Tensor inverse = divisor.reciprocal();
    at::Tensor coefficient = inverse * most_;
    inverse.reset();
    divisor.reset();
    at::Tensor clamped = at::clamp_max(coefficient, 1.0);
    for (const std::vector<size_t>& group : GroupByDtype(gradients)) {
      at::_foreach_mul_(Pick(gradients, group), clamped);
    }
  }

 private:
  const double most_;
  SharesTraining* sharing_ = nullptr;
};

}  // namespace

TechniqueEntry DeclareTechnique_clipping() {
  return {.declaration =
              {.id = "clipping",
               .group = "Gradients",
               .title = "Gradient clipping",
               .explanation = "Clipping scales all gradients in place if their norm is too "
                              "large. It needs one additional number per tensor.",
               .settings = {{.key = "clip_grad_norm",
                             .help = "maximum norm of all gradients; 0: no clipping",
                             .kind = run::ValueKind::kNumber,
                             .default_value = "0",
                             .low = 0,
                             .high = 1e9,
                             .label = "norm"}},
               .toggles = {{.id = "clipping",
                            .title = "Clip gradients",
                            .explanation = "clips by the norm of all gradients, in place",
                            .on = {{"clip_grad_norm", false, {"0"}}},
                            .ways = {{{"clip_grad_norm", "1"}}},
                            .controls = {"clip_grad_norm"}}},
               .rules = {{.when = {{"clip_grad_norm", false, {"0"}},
                                   {"precision", true, {"amp-fp16"}},
                                   {"shard.strategy", true, {"zero2", "zero3", "tensor"}},
                                   {"shard.implementation", true, {"fsdp2"}}},
                          .why = "clip_grad_norm with precision=amp-fp16 unscales gradients before "
                                 "it clips them, which is supported for shards only with FSDP1; "
                                 "use precision=amp-bf16, or shard.implementation=fsdp1",
                          .instead = {{"clip_grad_norm", "0"}}}},
               .implies = {"amp-fp16 unscales gradients before it computes their norm, like "
                           "GradScaler.unscale_"}},
          .order = 62,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            const double most = config.Number("clip_grad_norm");
            if (most <= 0) return nullptr;
            return std::make_unique<Clipping>(most);
          }};
}

}  // namespace vramscope::trainer
