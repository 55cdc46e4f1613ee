// Saved activations in 8 bits: a scale for each group of elements and a byte for each element, made
// in forward, turned back in backward (in the way of GACT, Liu et al. 2022, without its choice of
// bits a layer).
#include <torch/torch.h>

#include <unordered_set>
#include <utility>

#include "trainer/capture/taps.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
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
  std::vector<int64_t> sizes_;
  at::ScalarType type_;
  at::Tensor bytes_, scale_;
};

class Packer final : public SavedTensorPacker {
 public:
  std::unique_ptr<PackedTensor> Pack(const at::Tensor& tensor) override {
    if (stays_.contains(StorageKey(tensor)) || !tensor.is_floating_point() ||
        tensor.numel() < kLeastElements || tensor.numel() % kGroup != 0) {
      return nullptr;
    }
    return std::make_unique<InBytes>(tensor);
  }

  // Of the model's parameters and buffers.
  void SetStays(std::unordered_set<uint64_t> storages) { stays_ = std::move(storages); }

 private:
  std::unordered_set<uint64_t> stays_;
};

class ActivationCompression final : public Technique {
 public:
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    packer_.SetStays(StoragesOf(model));
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    return std::make_unique<HeldPacker>(packer_);
  }

 private:
  class HeldPacker final : public Held {
   public:
    explicit HeldPacker(SavedTensorPacker& packer) : scope_(&packer) {}

   private:
    PackerScope scope_;
  };
  Packer packer_;
};

}  // namespace

TechniqueEntry DeclareTechnique_activation_compression() {
  return {
      .declaration =
          {.id = "activation-compression",
           .group = "Activations",
           .title = "Activations in 8 bits",
           .explanation =
               "What backward will need is kept as a byte an element and a scale for each 256 of "
               "them: a quarter of fp32. Gradients become a little wrong.",
           .settings = {{.key = "activation_compression",
                         .help = "how saved activations are kept",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"int8", ""}}}},
           .toggles = {{.id = "activation-int8",
                        .title = "Activations in 8 bits",
                        .explanation = "a byte an element between forward and backward",
                        .on = {{"activation_compression", true, {"int8"}}},
                        .ways = {{{"activation_compression", "int8"}}}}},
           .assumes = {{.when = {{"activation_compression", true, {"int8"}}},
                        .what = "8-bit activations are made by PyTorch's operators in fp32, one "
                                "after the other; a kernel of its own would need fewer "
                                "temporaries"}}},
      .order = 36,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("activation_compression", "int8")) return nullptr;
        return std::make_unique<ActivationCompression>();
      }};
}

}  // namespace vramscope::trainer
