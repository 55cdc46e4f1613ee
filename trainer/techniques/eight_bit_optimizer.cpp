// Adam's moments in 8 bits, in blocks of 256 elements with a scale each, as bitsandbytes'
// AdamW8bit: tensors below 4096 elements keep fp32 moments, two tables of 256 values are made once.
// Paged, moments of 100,000 elements or more are in managed memory, which PyTorch's allocator does
// not know; what stands for it here is host memory.
#include <torch/types.h>

#include "trainer/optimizers/group.h"
#include "trainer/techniques/quantised_adam.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kLeastElements = 4096;
constexpr int64_t kTable = 256;
constexpr int64_t kLeastPaged = 100'000;

// What one of bitsandbytes' optimizers makes; each has tables of its own.
class Layout {
 public:
  Layout(bool paged, bool computes) : paged_(paged), computes_(computes) {}

  QuantisedMoments operator()(const at::Tensor& parameter) {
    const auto type = parameter.options().requires_grad(false);
    const auto zeros = [&](at::IntArrayRef shape, at::ScalarType dtype) {
      return MakeState(parameter, [&] { return at::zeros(shape, type.dtype(dtype)); });
    };
    QuantisedMoments made;
    if (parameter.numel() < kLeastElements) {
      made.first.codes = zeros(parameter.sizes(), at::kFloat);
      made.second.codes = zeros(parameter.sizes(), at::kFloat);
      return made;
    }
    if (!signed_table_.defined()) {
      signed_table_ = Table(parameter.device());
      unsigned_table_ = Table(parameter.device());
    }
    const auto bytes = [&] {
      if (!paged_ || parameter.numel() < kLeastPaged) return zeros(parameter.sizes(), at::kByte);
      const auto host = at::TensorOptions().dtype(at::kByte);
      return computes_ ? at::zeros(parameter.sizes(), host) : at::empty(parameter.sizes(), host);
    };
    const int64_t blocks = (parameter.numel() + kBlock - 1) / kBlock;
    made.first.codes = bytes();
    made.second.codes = bytes();
    made.first.scale = zeros({blocks}, at::kFloat);
    made.second.scale = zeros({blocks}, at::kFloat);
    return made;
  }

 private:
  // What a byte stands for; made on the host.
  static at::Tensor Table(at::Device device) {
    const CategoryScope category(trace::Category::kOptimizerState);
    return at::empty({kTable}, at::TensorOptions().dtype(at::kFloat))
        .to(device, /*non_blocking=*/false, /*copy=*/true);
  }

  const bool paged_, computes_;
  at::Tensor signed_table_, unsigned_table_;
};

class EightBitOptimizer final : public Technique {
 public:
  explicit EightBitOptimizer(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)), paged_(config.Is("optimizer.paged", "true")) {}
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<QuantisedAdam>(config_, trained, Layout(paged_, run.measured),
                                           run.measured);
  }

 private:
  OptimizerConfig config_;
  bool paged_;
};

}  // namespace

TechniqueEntry DeclareTechnique_eight_bit_optimizer() {
  return {
      .declaration =
          {.id = "eight-bit-optimizer",
           .group = "Optimizer",
           .title = "8-bit Adam",
           .explanation =
               "Each moment takes a byte an element and a scale for each 256: a quarter of fp32. "
               "One kernel a tensor, no temporaries. Paged, moments of large tensors are in "
               "managed memory: on the card while there is room, on the host where there is none, "
               "and each step brings them back over the bus.",
           .settings = {{.key = "optimizer.bits",
                         .help = "bits of an optimizer state element; 8 and 4: in blocks with a "
                                 "scale (optimizer.library); 16: bfloat16",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "32",
                         .choices = {{"32", "as the weights"}, {"16", ""}, {"8", ""}, {"4", ""}}},
                        {.key = "optimizer.paged",
                         .help = "8-bit moments of large tensors in managed memory, as "
                                 "bitsandbytes' paged optimizers",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", ""}}}},
           .toggles = {{.id = "optimizer-8bit",
                        .title = "8-bit Adam",
                        .explanation = "a byte a moment, scales for each 256",
                        .on = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.library", true, {"bitsandbytes"}},
                               {"optimizer.paged", true, {"false"}}},
                        .ways = {{{"optimizer.bits", "8"},
                                  {"optimizer.library", "bitsandbytes"},
                                  {"optimizer.paged", "false"}}}},
                       {.id = "optimizer-paged",
                        .title = "Paged 8-bit Adam",
                        .explanation = "moments make room when others need it",
                        .on = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.paged", true, {"true"}}},
                        .ways = {{{"optimizer.bits", "8"},
                                  {"optimizer.library", "bitsandbytes"},
                                  {"optimizer.paged", "true"}}}}},
           .rules = {{.when = {{"optimizer.paged", true, {"true"}},
                               {"optimizer.bits", false, {"8"}}},
                      .why = "optimizer.paged is planned of 8-bit moments: set optimizer.bits=8",
                      .instead = {{"optimizer.bits", "8"}}},
                     {.when = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.name", false, {"adam", "adamw"}}},
                      .why = "optimizer.bits=8 is Adam's: set optimizer.name to adam or adamw",
                      .instead = {{"optimizer.bits", "32"}}}},
           .assumes = {{.when = {{"optimizer.paged", true, {"true"}}},
                        .what = "paged moments are not in the peak: PyTorch's allocator does not "
                                "know managed memory, which the card holds where it has room"},
                       {.when = {{"optimizer.bits", true, {"8"}},
                                 {"optimizer.library", true, {"bitsandbytes"}}},
                        .what = "bitsandbytes' 8-bit kernel is modelled: one for each tensor, in "
                                "place, without memory of its own"}}},
      .fit = {{.row = "optimizer-8bit", .changes = run::Changes::kRounding},
              {.row = "optimizer-paged", .changes = run::Changes::kRounding, .last_resort = true}},
      .modelled = {{.assumed = 1, .category = "Optimizer state"}},
      .order = 44,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("optimizer.bits", "8") || config.Is("optimizer.library", "torchao")) {
          return nullptr;
        }
        return std::make_unique<EightBitOptimizer>(config);
      }};
}

}  // namespace vramscope::trainer
