// Two fused operators, which save less for backward than the models' separate operators. The RMS
// norm (torch.nn.functional.rms_norm) saves its input and a number per row. silu(gate) * up saves
// its two inputs and recomputes the rest, like Liger's LigerSiLUMulFunction.
#include <torch/autograd.h>
#include <torch/types.h>

#include "trainer/capture/modelled_kernel.h"
#include "trainer/models/decoder.h"
#include "trainer/models/layers.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr char kSiluTimes[] = "liger::silu_mul";

// Backward overwrites the inputs with their gradients.
struct SiluTimes : torch::autograd::Function<SiluTimes> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate, const at::Tensor& up,
                            bool computes) {
    context->save_for_backward({gate, up});
    context->saved_data["computes"] = computes;
    at::Tensor product = [&] {
      RECORD_FUNCTION(kSiluTimes, c10::ArrayRef<const c10::IValue>());
      at::Tensor made = at::empty_like(up);
      LaunchModelled(kSiluTimes, made, BytesOf(gate) + BytesOf(up) + BytesOf(made));
      return made;
    }();
    if (computes) product.copy_(at::silu(gate) * up);
    return product;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    at::Tensor gate = saved[0].detach(), up = saved[1].detach();
    if (context->saved_data["computes"].toBool()) {
      const at::Tensor sigmoid = at::sigmoid(gate), silu = gate * sigmoid;
      const at::Tensor by_gate = gradients[0] * up * (sigmoid + silu * (1 - sigmoid));
      up = gradients[0] * silu;
      gate = by_gate;
    }
    RECORD_FUNCTION(kSiluTimes, c10::ArrayRef<const c10::IValue>());
    LaunchModelled(kSiluTimes, gate, BytesOf(gradients[0]) + 2 * (BytesOf(gate) + BytesOf(up)));
    return {gate, up, at::Tensor()};
  }
};

class FusedKernels final : public Technique {
 public:
  explicit FusedKernels(bool computes) : computes_(computes) {}

  absl::Status OnModel(Model& model) override {
    int replaced = 0;
    model.Visit([&](Module& module, const std::string&) {
      if (auto* norm = dynamic_cast<RmsNorm*>(&module)) {
        replaced += norm->SetKernel([](const at::Tensor& x, const at::Tensor& weight, double eps) {
          return at::rms_norm(x, {x.size(-1)}, weight, eps);
        });
      } else if (auto* mlp = dynamic_cast<GatedMlp*>(&module)) {
        replaced +=
            mlp->SetKernel([computes = computes_](const at::Tensor& gate, const at::Tensor& up) {
              return SiluTimes::apply(gate, up, computes);
            });
      }
    });
    if (replaced > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "kernels=fused: this model has neither RMS norms nor silu(gate) * up; set kernels=eager");
  }

 private:
  bool computes_;
};

}  // namespace

TechniqueEntry DeclareTechnique_fused_kernels() {
  return {
      .declaration =
          {.id = "fused-kernels",
           .group = "Activations",
           .title = "Fused norm and SwiGLU",
           .explanation = "A fused RMS norm keeps only its input and one number per row, instead "
                          "of four tensors. A fused silu(gate) * up keeps its two inputs and "
                          "recomputes the rest. The speed is the same or better.",
           .settings = {{.key = "kernels",
                         .help =
                             "how RMS norms and silu(gate) * up are computed: with the operators "
                             "of the model's code (\"eager\"), or with one kernel each (\"fused\")",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "eager",
                         .choices = {{"eager", ""}, {"fused", ""}}}},
           .toggles = {{.id = "fused-kernels",
                        .title = "Fused norm and SwiGLU",
                        .explanation = "keeps fewer tensors in each layer",
                        .on = {{"kernels", true, {"fused"}}},
                        .ways = {{{"kernels", "fused"}}}}},
           .rules = {{.when = {{"kernels", true, {"fused"}},
                               {"model.family", false, {"llama", "qwen3", "qwen3-moe", "mixtral"}}},
                      .why = "kernels=fused is only supported for RMS norms and silu(gate) * up of "
                             "Llama, Qwen, Mistral and Mixtral; set kernels=eager",
                      .instead = {{"kernels", "eager"}}},
                     {.when = {{"kernels", true, {"fused"}}, {"shard.strategy", true, {"tensor"}}},
                      .why = "kernels=fused is not supported with split layers: set kernels=eager",
                      .instead = {{"kernels", "eager"}}}},
           .assumes = {{.when = {{"kernels", true, {"fused"}}},
                        .what =
                            "the kernel of silu(gate) * up is modelled after Liger's kernel, which "
                            "overwrites its inputs with gradients; the norm is PyTorch's own"}}},
      .fit = {{.row = "fused-kernels"}},
      .modelled = {{.assumed = 0, .category = "Activation", .ops = {kSiluTimes}},
                   {.assumed = 0, .category = "Temporary", .ops = {kSiluTimes}}},
      .order = 15,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("kernels", "fused")) return nullptr;
        return std::make_unique<FusedKernels>(config.backend != run::Backend::kPlan);
      }};
}

}  // namespace vramscope::trainer
