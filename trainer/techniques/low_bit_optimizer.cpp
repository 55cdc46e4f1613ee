// Adam's moments in 8 or 4 bits, like torchao's AdamW8bit and AdamW4bit (torchao/optim): each
// moment has codes, an fp32 scale for each block, and a table of the codes' values. A block has 256
// elements in 8 bits, or 128 in 4 bits (two codes per byte). Tensors that are small or do not
// consist of whole blocks are not quantized. Inductor (torch 2.11) compiles the step. If moments
// have 8 bits and each row is exactly one block, the step is one kernel without temporaries. For
// other quantized tensors, the step first writes both moments in fp32. With 4 bits, it also first
// writes the codes as 64-bit numbers. Unless each row is exactly one block, it also first writes
// the scales.
#include <ATen/record_function.h>
#include <torch/types.h>

#include <array>

#include "trainer/capture/modelled_kernel.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/quantised_adam.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int64_t kLeastElements = 4096;
constexpr char kStep[] = "inductor::single_param_adam";

QuantisedMoment MakeMoment(const at::Tensor& parameter, int bits, bool with_sign) {
  const auto type = parameter.options().requires_grad(false);
  const auto zeros = [&](at::IntArrayRef shape, at::ScalarType dtype) {
    return MakeState(parameter, [&] { return at::zeros(shape, type.dtype(dtype)); });
  };
  const int64_t n = parameter.numel(), block = bits == 4 ? 128 : 256;
  QuantisedMoment made{.bits = bits, .block = block};
  if (n < kLeastElements || n % block != 0) {
    made.codes = zeros(parameter.sizes(), parameter.scalar_type());
    return made;
  }
  made.codes = bits == 8 ? zeros(parameter.sizes(), at::kByte) : zeros({n / 2}, at::kByte);
  made.scale = zeros({n / block}, at::kFloat);
  // torch.tensor(list, device=...) creates the table on the host.
  made.table = MakeState(parameter, [&] {
    const at::Tensor host =
        at::linspace(with_sign ? -1 : 0, 1, int64_t{1} << bits, at::TensorOptions());
    return host.to(parameter.device(), /*non_blocking=*/false, /*copy=*/true);
  });
  return made;
}

// Makes the temporaries of Inductor's code, and launches one modelled kernel. The kernel's bytes
// include all reads and writes of temporaries: each temporary is written once and read once, except
// that the fp32 moments are read twice.
void UpdateByKernels(const at::Tensor& parameter, const QuantisedMoments& moments) {
  const QuantisedMoment& like = moments.first;
  RECORD_FUNCTION(kStep, c10::ArrayRef<const c10::IValue>());
  const uint64_t in_place = BytesOfUpdate(parameter, moments);
  const auto launch = [&](uint64_t bytes) { LaunchModelled(kStep, parameter, bytes); };
  if (!like.scale.defined()) return launch(in_place);
  const auto ask = [&](int64_t elements, at::ScalarType type) {
    return at::empty({elements}, parameter.options().dtype(type).requires_grad(false));
  };
  const int64_t n = parameter.numel(), blocks = like.scale.numel();
  const bool fused = parameter.dim() > 1 && parameter.size(-1) == like.block;
  if (fused && like.bits == 8) return launch(in_place);
  std::array<at::Tensor, 2> scales, wide, codes;
  const auto both = [](std::array<at::Tensor, 2>& pair, const auto& make) {
    for (at::Tensor& tensor : pair) tensor = make();
  };
  if (!fused) both(scales, [&] { return ask(blocks, at::kFloat); });
  both(wide, [&] { return ask(n, at::kFloat); });
  const uint64_t wide_bytes = 2 * BytesOf(wide[0]);
  if (like.bits == 8) {
    launch(in_place + 3 * wide_bytes + 4 * BytesOf(scales[0]));
    for (auto* pair : {&wide, &scales})
      for (at::Tensor& tensor : *pair) tensor.reset();
    return;
  }
  both(codes, [&] { return ask(n, at::kLong); });
  launch(in_place + 3 * wide_bytes + 4 * (BytesOf(codes[0]) + BytesOf(scales[0])));
  for (size_t i = 0; i < 2; ++i)
    for (auto* pair : {&wide, &codes, &scales}) (*pair)[i].reset();
}

class LowBitOptimizer final : public Technique {
 public:
  explicit LowBitOptimizer(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)), bits_(config.Is("optimizer.bits", "4") ? 4 : 8) {}
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    const auto make = [bits = bits_](const at::Tensor& parameter) {
      return QuantisedMoments{.first = MakeMoment(parameter, bits, true),
                              .second = MakeMoment(parameter, bits, false)};
    };
    return std::make_unique<QuantisedAdam>(config_, trained, make, UpdateByKernels, run.measured);
  }

 private:
  const OptimizerConfig config_;
  const int bits_;
};

}  // namespace

TechniqueEntry DeclareTechnique_low_bit_optimizer() {
  return {
      .declaration =
          {.id = "low-bit-optimizer",
           .group = "Optimizer",
           .title = "Adam in 8 or 4 bits by torchao",
           .explanation =
               "Moments take one byte or half a byte per element, with a scale for each block. "
               "torchao's optimizers support the shards of zero2 and zero3; bitsandbytes' "
               "optimizers do not. For each tensor, torchao's compiled step temporarily makes both "
               "moments in fp32. This takes 8 bytes per element of the largest tensor. With 4 "
               "bits, the step also makes the quantized values of both moments as 64-bit numbers. "
               "The total is then 24 bytes per element of the largest tensor. These temporaries "
               "can take more memory than 4-bit moments save compared with 8-bit moments.",
           .settings = {{.key = "optimizer.library",
                         .help = "library that provides the optimizer with 8-bit moments",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "bitsandbytes",
                         .choices = {{"bitsandbytes", ""}, {"torchao", ""}}}},
           .toggles =
               {{.id = "optimizer-8bit-torchao",
                 .title = "8-bit Adam of torchao",
                 .explanation = "supports the shards of zero2 and zero3",
                 .on = {{"optimizer.bits", true, {"8"}}, {"optimizer.library", true, {"torchao"}}},
                 .ways = {{{"optimizer.bits", "8"},
                           {"optimizer.library", "torchao"},
                           {"optimizer.paged", "false"}}}},
                {.id = "optimizer-4bit",
                 .title = "4-bit Adam",
                 .explanation =
                     "half a byte per element of a moment, and a scale for each 128 elements",
                 .on = {{"optimizer.bits", true, {"4"}}},
                 .ways = {{{"optimizer.bits", "4"}}}}},
           .rules =
               {{.when = {{"optimizer.bits", true, {"4"}},
                          {"optimizer.name", false, {"adam", "adamw"}}},
                 .why = "optimizer.bits=4 requires Adam: set optimizer.name to adam or adamw",
                 .instead = {{"optimizer.bits", "32"}}},
                {.when = {{"optimizer.library", true, {"torchao"}},
                          {"optimizer.paged", true, {"true"}}},
                 .why = "optimizer.paged requires bitsandbytes: set optimizer.library=bitsandbytes",
                 .instead = {{"optimizer.library", "bitsandbytes"}}}},
           .assumes = {{.when = {{"optimizer.bits", true, {"8"}},
                                 {"optimizer.library", true, {"torchao"}}},
                        .what = "torchao's compiled step is modelled after Inductor's code. It "
                                "runs in place. For each tensor whose row length is not 256, it "
                                "allocates both moments in fp32"},
                       {.when = {{"optimizer.bits", true, {"4"}}},
                        .what = "torchao's step with 4-bit moments is modelled after Inductor's "
                                "code. It runs in place. For each tensor, it allocates both "
                                "moments in fp32, and their quantized values as 64-bit numbers"}}},
      .modelled = {{.assumed = 0, .category = "Temporary", .ops = {kStep}},
                   {.assumed = 1, .category = "Temporary", .ops = {kStep}},
                   {.assumed = 0, .category = "Optimizer state"},
                   {.assumed = 1, .category = "Optimizer state"}},
      .order = 43,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const bool eight = config.Is("optimizer.bits", "8");
        if (!eight && !config.Is("optimizer.bits", "4")) return nullptr;
        if (eight && config.Is("optimizer.library", "bitsandbytes")) return nullptr;
        return std::make_unique<LowBitOptimizer>(config);
      }};
}

}  // namespace vramscope::trainer
