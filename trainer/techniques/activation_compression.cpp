// Stores saved activations in 8 bits: a byte for each element and a scale for each group of
// elements. Forward compresses them and backward decompresses them, as in GACT (Liu et al. 2022).
// GACT also chooses the number of bits for each layer.
#include <torch/types.h>

#include "trainer/techniques/saved_activations.h"

namespace vramscope::trainer::activation_compression_technique {
namespace {

constexpr int64_t kGroup = 256;
constexpr int64_t kLeastElements = 4096;

class InBytes final : public PackedTensor {
 public:
  explicit InBytes(const at::Tensor& tensor) : type_(tensor.scalar_type()) {
    at::Tensor groups = tensor.reshape({-1, kGroup}).to(at::kFloat);
    scale_ = groups.abs().amax(1, /*keepdim=*/true).div_(127).clamp_min_(1e-12);
    at::Tensor quotient = groups / scale_;
    groups.reset();
    bytes_ = quotient.round_().to(at::kChar);
    TagStorage(bytes_, trace::Category::kActivation, "activation in 8 bits");
    TagStorage(scale_, trace::Category::kActivation, "scales of activations in 8 bits");
  }
  at::Tensor Unpack() override {
    at::NoGradGuard no_grad;
    at::Tensor wide = bytes_.to(at::kFloat);
    wide.mul_(scale_);
    return wide.to(type_).view({-1});
  }

 private:
  at::ScalarType type_;
  at::Tensor bytes_, scale_;
};

class ActivationCompression final : public SavedActivations {
 private:
  bool IsWorthIt(const at::Tensor& tensor) const override {
    return tensor.is_floating_point() && tensor.numel() >= kLeastElements &&
           tensor.numel() % kGroup == 0;
  }
  std::unique_ptr<PackedTensor> Pack(const at::Tensor& tensor) override {
    return std::make_unique<InBytes>(tensor);
  }
};

}  // namespace

TechniqueEntry DeclareTechnique_activation_compression() {
  return {
      .declaration =
          {.id = "activation-compression",
           .group = "Activations",
           .title = "Activations in 8 bits",
           .explanation = "Saved activations take one byte per element, and a scale for each 256 "
                          "elements: a quarter of fp32. Gradients become slightly inaccurate.",
           .settings = {{.key = "activation_compression",
                         .help = "how saved activations are kept",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"int8", ""}}}},
           .toggles = {{.id = "activation-int8",
                        .title = "Activations in 8 bits",
                        .explanation = "one byte per element between forward and backward",
                        .on = {{"activation_compression", true, {"int8"}}},
                        .ways = {{{"activation_compression", "int8"}}}}},
           .assumes = {{.when = {{"activation_compression", true, {"int8"}}},
                        .what = "8-bit activations are computed by a sequence of PyTorch's fp32 "
                                "operators; a dedicated kernel would need fewer temporaries"}}},
      .fit = {{.row = "activation-int8", .changes = run::Changes::kRounding, .last_resort = true}},
      .modelled = {{.category = "Activation"},
                   {.category = "Autograd detail"},
                   {.category = "Temporary", .ops = {"aten::abs", "aten::amax"}}},
      .order = 36,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("activation_compression", "int8")) return nullptr;
        return std::make_unique<ActivationCompression>();
      }};
}

}  // namespace vramscope::trainer::activation_compression_technique
