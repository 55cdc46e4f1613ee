// Forward copies the tensors that autograd saves to pinned host memory, and backward copies them
// back, like torch.autograd.graph.save_on_cpu(pin_memory=True). The model's own tensors and small
// tensors stay on the GPU.
#include <torch/types.h>

#include "trainer/capture/scopes.h"
#include "trainer/techniques/saved_activations.h"

namespace vramscope::trainer {
namespace {

constexpr uint64_t kLeastBytes = 1024;  // copying smaller tensors is not worthwhile

class OnHost final : public PackedTensor {
 public:
  explicit OnHost(const at::Tensor& tensor) : device_(tensor.device()) {
    host_ = at::empty(tensor.sizes(),
                      tensor.options().device(at::kCPU).pinned_memory(!tensor.is_cpu()));
    host_.copy_(tensor, /*non_blocking=*/true);
  }
  at::Tensor Unpack() override {
    CategoryScope category(trace::Category::kActivation);
    return host_.to(device_, /*non_blocking=*/true, /*copy=*/device_.is_cpu());
  }

 private:
  at::Tensor host_;
  c10::Device device_;
};

class ActivationOffload final : public SavedActivations {
 private:
  bool IsWorthIt(const at::Tensor& tensor) const override { return tensor.nbytes() >= kLeastBytes; }
  std::unique_ptr<PackedTensor> Pack(const at::Tensor& tensor) override {
    return std::make_unique<OnHost>(tensor);
  }
};

}  // namespace

TechniqueEntry DeclareTechnique_activation_offload() {
  return {
      .declaration =
          {.id = "activation-offload",
           .group = "Offload",
           .title = "Activations on the host",
           .explanation =
               "During forward, saved activations are copied to pinned host memory. During "
               "backward, they are copied back. They use no GPU memory in between, but their bytes "
               "cross the bus twice.",
           .settings = {{.key = "offload.activations",
                         .help = "where saved activations are kept",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"cpu", ""}}}},
           .toggles = {{.id = "offload-activations",
                        .title = "Activations on the host",
                        .explanation = "copied to the host in forward, and copied back in backward",
                        .on = {{"offload.activations", true, {"cpu"}}},
                        .ways = {{{"offload.activations", "cpu"}}}}},
           .rules = {{.when = {{"offload.activations", true, {"cpu"}},
                               {"activation_compression", true, {"int8"}}},
                      .why = "offload.activations and activation_compression both change how saved "
                             "activations are kept; choose one",
                      .instead = {{"activation_compression", "none"}}}}},
      .fit = {{.row = "offload-activations", .last_resort = true}},
      .order = 36,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("offload.activations", "cpu")) return nullptr;
        return std::make_unique<ActivationOffload>();
      }};
}

}  // namespace vramscope::trainer
