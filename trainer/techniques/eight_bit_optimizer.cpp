// Adam's moments in 8 bits, in blocks of 256 elements with a scale each, as bitsandbytes'
// AdamW8bit: tensors below 4096 elements keep fp32 moments, two tables of 256 values are made once.
// Paged, moments of 100,000 elements or more are in managed memory, which PyTorch's allocator does
// not know; what stands for it here is host memory.
#include <torch/torch.h>

#include <cmath>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kLeastElements = 4096;
constexpr int64_t kTable = 256;
constexpr int64_t kLeastPaged = 100'000;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

struct State {
  int64_t step = 0;
  at::Tensor moment, variance;              // a byte an element, or fp32
  at::Tensor moment_scale, variance_scale;  // of each block; undefined: fp32
};

class EightBitAdam final : public Optimizer {
 public:
  EightBitAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters, bool paged,
               bool computes)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        decoupled_(config.name == "adamw"),
        paged_(paged),
        computes_(computes),
        states_(parameters_.size()) {}

  void Step() override {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      ThrowIfCancelled();
      State& state = states_[i];
      if (!state.moment.defined()) state = MakeStates(parameters_[i]);
      ++state.step;
      // On a GPU one kernel does it all in place and asks for nothing; nothing computes here.
      if (computes_) Update(parameters_[i], state);
    }
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor :
           {state.moment, state.variance, state.moment_scale, state.variance_scale}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

 private:
  State MakeStates(const at::Tensor& parameter) {
    State state;
    const auto type = parameter.options().requires_grad(false);
    const bool quantised = parameter.numel() >= kLeastElements;
    const auto zeros = [&](at::IntArrayRef shape, at::ScalarType dtype) {
      return MakeState(parameter, [&] { return at::zeros(shape, type.dtype(dtype)); });
    };
    if (!quantised) {
      state.moment = zeros(parameter.sizes(), at::kFloat);
      state.variance = zeros(parameter.sizes(), at::kFloat);
      return state;
    }
    if (!signed_table_.defined()) {
      CategoryScope category(trace::Category::kOptimizerState);
      signed_table_ = at::empty({kTable}, at::TensorOptions().dtype(at::kFloat))
                          .to(parameter.device(), /*non_blocking=*/false, /*copy=*/true);
      unsigned_table_ = at::empty({kTable}, at::TensorOptions().dtype(at::kFloat))
                            .to(parameter.device(), /*non_blocking=*/false, /*copy=*/true);
    }
    const int64_t blocks = (parameter.numel() + kBlock - 1) / kBlock;
    const auto bytes = [&] {
      if (!paged_ || parameter.numel() < kLeastPaged) return zeros(parameter.sizes(), at::kByte);
      const auto host = at::TensorOptions().dtype(at::kByte);
      return computes_ ? at::zeros(parameter.sizes(), host) : at::empty(parameter.sizes(), host);
    };
    state.moment = bytes();
    state.variance = bytes();
    state.moment_scale = zeros({blocks}, at::kFloat);
    state.variance_scale = zeros({blocks}, at::kFloat);
    return state;
  }

  // Bytes and scales as numbers. The square root of a linear code: fine steps near zero.
  static at::Tensor Decode(const at::Tensor& bytes, const at::Tensor& scale, bool with_sign) {
    at::Tensor flat = at::constant_pad_nd(bytes.to(scale.device()).flatten().to(at::kFloat),
                                          {0, scale.numel() * kBlock - bytes.numel()});
    flat = with_sign ? (flat - 128) / 127 : flat / 255;
    flat = flat * flat.abs();
    return (flat.view({-1, kBlock}) * scale.unsqueeze(1))
        .flatten()
        .slice(0, 0, bytes.numel())
        .view(bytes.sizes());
  }
  static void Encode(const at::Tensor& values, at::Tensor& bytes, at::Tensor& scale,
                     bool with_sign) {
    at::Tensor flat =
        at::constant_pad_nd(values.flatten(), {0, scale.numel() * kBlock - values.numel()})
            .view({-1, kBlock});
    scale.copy_(flat.abs().amax(1));
    flat = flat / scale.clamp_min(1e-30).unsqueeze(1);
    at::Tensor root = flat.sign() * flat.abs().sqrt();
    root = with_sign ? (root * 127).round() + 128 : (root * 255).round();
    bytes.copy_(root.flatten().slice(0, 0, bytes.numel()).view(bytes.sizes()));
  }

  void Update(at::Tensor& parameter, State& state) {
    const at::Tensor gradient = parameter.grad().to(at::kFloat);
    const bool quantised = state.moment_scale.defined();
    at::Tensor moment = quantised ? Decode(state.moment, state.moment_scale, true) : state.moment;
    at::Tensor variance =
        quantised ? Decode(state.variance, state.variance_scale, false) : state.variance;
    if (decoupled_ && weight_decay_ != 0) parameter.mul_(1 - lr_ * weight_decay_);
    const at::Tensor with_decay =
        decoupled_ || weight_decay_ == 0 ? gradient : gradient + weight_decay_ * parameter;
    moment = moment * kBeta1 + with_decay * (1 - kBeta1);
    variance = variance * kBeta2 + with_decay * with_decay * (1 - kBeta2);
    const auto t = static_cast<double>(state.step);
    const at::Tensor denominator = (variance / (1 - std::pow(kBeta2, t))).sqrt() + kEps;
    parameter.sub_(
        ((moment / (1 - std::pow(kBeta1, t))) / denominator * lr_).to(parameter.dtype()));
    if (quantised) {
      Encode(moment, state.moment, state.moment_scale, true);
      Encode(variance, state.variance, state.variance_scale, false);
    } else {
      state.moment.copy_(moment);
      state.variance.copy_(variance);
    }
  }

  const double weight_decay_;
  const bool decoupled_, paged_, computes_;
  std::vector<State> states_;
  at::Tensor signed_table_, unsigned_table_;  // what a byte stands for
};

class EightBitOptimizer final : public Technique {
 public:
  explicit EightBitOptimizer(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)), paged_(config.Is("optimizer.paged", "true")) {}
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<EightBitAdam>(config_, trained, paged_, run.measured);
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
                      .instead = {{"optimizer.bits", "32"}}},
                     {.when = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.in_backward", true, {"true"}}},
                      .why = "optimizer.bits=8 steps once for all parameters here: set "
                             "optimizer.in_backward=false",
                      .instead = {{"optimizer.in_backward", "false"}}}},
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
