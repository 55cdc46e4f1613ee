// Adam's moments in 16, 8 or 4 bits, as torchao's AdamW8bit and AdamW4bit (torchao/optim): codes
// and an fp32 scale for each block of 256 (8 bits) or 128 (4 bits, two codes a byte), a table of
// what a code stands for beside each moment, tensors that are small or do not fill blocks as they
// are. Its step is one compiled kernel a tensor. 16 bits: moments in bfloat16, without scales.
#include <torch/torch.h>

#include <cmath>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int64_t kLeastElements = 4096;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

// A moment as it is kept; `scale` undefined: as a tensor of its own type.
struct Moment {
  at::Tensor codes, scale, table;
};

struct State {
  int64_t step = 0;
  Moment first, second;
};

class LowBitAdam final : public Optimizer {
 public:
  LowBitAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters, int bits,
             bool computes)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        decoupled_(config.name == "adamw"),
        bits_(bits),
        block_(bits == 4 ? 128 : 256),
        computes_(computes),
        states_(parameters_.size()) {}

  void Step() override {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      ThrowIfCancelled();
      State& state = states_[i];
      if (!state.first.codes.defined()) {
        state.first = Make(parameters_[i], true);
        state.second = Make(parameters_[i], false);
      }
      ++state.step;
      // Compiled, one kernel reads and writes all of it and asks for nothing.
      if (computes_) Update(parameters_[i], state);
    }
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const Moment* moment : {&state.first, &state.second}) {
        for (const at::Tensor& tensor : {moment->codes, moment->scale, moment->table}) {
          if (tensor.defined()) out.push_back(tensor);
        }
      }
    }
    return out;
  }

 private:
  Moment Make(const at::Tensor& parameter, bool with_sign) const {
    const auto type = parameter.options().requires_grad(false);
    const auto zeros = [&](at::IntArrayRef shape, at::ScalarType dtype) {
      return MakeState(parameter, [&] { return at::zeros(shape, type.dtype(dtype)); });
    };
    if (bits_ == 16) return {.codes = zeros(parameter.sizes(), at::kBFloat16)};
    const int64_t n = parameter.numel();
    if (n < kLeastElements || n % block_ != 0) {
      return {.codes = zeros(parameter.sizes(), parameter.scalar_type())};
    }
    Moment made{
        .codes = bits_ == 8 ? zeros(parameter.sizes(), at::kByte) : zeros({n / 2}, at::kByte),
        .scale = zeros({n / block_}, at::kFloat)};
    // Made on the host: torch.tensor(list, device=...).
    made.table = MakeState(parameter, [&] {
      const at::Tensor host =
          at::linspace(with_sign ? -1 : 0, 1, int64_t{1} << bits_, at::TensorOptions());
      return host.to(parameter.device(), /*non_blocking=*/false, /*copy=*/true);
    });
    return made;
  }

  at::Tensor Decode(const Moment& moment, const at::Tensor& like) const {
    if (!moment.scale.defined()) return moment.codes.to(at::kFloat);
    at::Tensor codes = moment.codes.flatten();
    if (bits_ == 4) codes = at::stack({codes.bitwise_right_shift(4), codes.bitwise_and(15)}, -1);
    const at::Tensor values = moment.table.index({codes.flatten().to(at::kLong)});
    // Roots are kept: steps are fine near zero.
    return (values * values.abs())
        .view({-1, block_})
        .mul(moment.scale.unsqueeze(1))
        .view(like.sizes());
  }
  void Encode(const at::Tensor& values, Moment& moment, bool with_sign) const {
    if (!moment.scale.defined()) {
      moment.codes.copy_(values);
      return;
    }
    at::Tensor flat = values.reshape({-1, block_});
    moment.scale.copy_(flat.abs().amax(1));
    flat = flat / moment.scale.clamp_min(1e-30).unsqueeze(1);
    const at::Tensor root = flat.sign() * flat.abs().sqrt();
    const double last = static_cast<double>((int64_t{1} << bits_) - 1);
    at::Tensor codes =
        (with_sign ? (root + 1) / 2 * last : root * last).round().to(at::kByte).flatten();
    if (bits_ == 4) {
      codes = codes.view({-1, 2});
      codes = codes.select(1, 0).bitwise_left_shift(4).bitwise_or(codes.select(1, 1));
    }
    moment.codes.copy_(codes.view(moment.codes.sizes()));
  }

  void Update(at::Tensor& parameter, State& state) const {
    const at::Tensor gradient = parameter.grad().to(at::kFloat);
    if (decoupled_ && weight_decay_ != 0) parameter.mul_(1 - lr_ * weight_decay_);
    const at::Tensor with_decay =
        decoupled_ || weight_decay_ == 0 ? gradient : gradient + weight_decay_ * parameter;
    const at::Tensor first = Decode(state.first, parameter) * kBeta1 + with_decay * (1 - kBeta1);
    const at::Tensor second =
        Decode(state.second, parameter) * kBeta2 + with_decay * with_decay * (1 - kBeta2);
    const auto t = static_cast<double>(state.step);
    const at::Tensor denominator = (second / (1 - std::pow(kBeta2, t))).sqrt() + kEps;
    parameter.sub_((first / (1 - std::pow(kBeta1, t)) / denominator * lr_).to(parameter.dtype()));
    Encode(first, state.first, true);
    Encode(second, state.second, false);
  }

  const double weight_decay_;
  const bool decoupled_;
  const int bits_;
  const int64_t block_;
  const bool computes_;
  std::vector<State> states_;
};

class LowBitOptimizer final : public Technique {
 public:
  explicit LowBitOptimizer(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)),
        bits_(static_cast<int>(config.Is("optimizer.bits", "4")    ? 4
                               : config.Is("optimizer.bits", "16") ? 16
                                                                   : 8)) {}
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<LowBitAdam>(config_, trained, bits_, run.measured);
  }

 private:
  OptimizerConfig config_;
  int bits_;
};

}  // namespace

TechniqueEntry DeclareTechnique_low_bit_optimizer() {
  return {
      .declaration =
          {.id = "low-bit-optimizer",
           .group = "Optimizer",
           .title = "Adam in 16, 8 or 4 bits by torchao",
           .explanation =
               "Moments in bfloat16, in a byte or in half a byte an element with a scale for each "
               "block. torchao's work on the shards of zero2 and zero3, where bitsandbytes' do "
               "not.",
           .settings = {{.key = "optimizer.library",
                         .help = "whose optimizer has 8-bit moments",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "bitsandbytes",
                         .choices = {{"bitsandbytes", ""}, {"torchao", ""}}}},
           .toggles = {{.id = "optimizer-16bit",
                        .title = "Adam's moments in bfloat16",
                        .explanation = "half of fp32, no scales",
                        .on = {{"optimizer.bits", true, {"16"}}},
                        .ways = {{{"optimizer.bits", "16"}}}},
                       {.id = "optimizer-8bit-torchao",
                        .title = "8-bit Adam of torchao",
                        .explanation = "goes with shards",
                        .on = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.library", true, {"torchao"}}},
                        .ways = {{{"optimizer.bits", "8"},
                                  {"optimizer.library", "torchao"},
                                  {"optimizer.paged", "false"}}}},
                       {.id = "optimizer-4bit",
                        .title = "4-bit Adam",
                        .explanation = "half a byte a moment, scales for each 128",
                        .on = {{"optimizer.bits", true, {"4"}}},
                        .ways = {{{"optimizer.bits", "4"}}}}},
           .rules = {{.when = {{"optimizer.bits", true, {"16", "4"}},
                               {"optimizer.name", false, {"adam", "adamw"}}},
                      .why = "optimizer.bits=16 and 4 are Adam's: set optimizer.name to adam or "
                             "adamw",
                      .instead = {{"optimizer.bits", "32"}}},
                     {.when = {{"optimizer.bits", true, {"16", "4"}},
                               {"optimizer.in_backward", true, {"true"}}},
                      .why = "optimizer.bits=16 and 4 step once for all parameters here: set "
                             "optimizer.in_backward=false",
                      .instead = {{"optimizer.in_backward", "false"}}},
                     {.when = {{"optimizer.library", true, {"torchao"}},
                               {"optimizer.paged", true, {"true"}}},
                      .why = "optimizer.paged is bitsandbytes': set optimizer.library=bitsandbytes",
                      .instead = {{"optimizer.library", "bitsandbytes"}}}},
           .assumes = {{.when = {{"optimizer.bits", true, {"8"}},
                                 {"optimizer.library", true, {"torchao"}}},
                        .what = "torchao's compiled step is modelled: one kernel for each tensor, "
                                "in place, without memory of its own"},
                       {.when = {{"optimizer.bits", true, {"16", "4"}}},
                        .what = "the step of 16- and 4-bit moments is modelled as torchao's: one "
                                "compiled kernel for each tensor, in place"}}},
      .modelled = {{.assumed = 0, .category = "Optimizer state"},
                   {.assumed = 1, .category = "Optimizer state"}},
      .order = 43,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const bool eight = config.Is("optimizer.bits", "8");
        if (config.Is("optimizer.bits", "32")) return nullptr;
        if (eight && config.Is("optimizer.library", "bitsandbytes")) return nullptr;
        return std::make_unique<LowBitOptimizer>(config);
      }};
}

}  // namespace vramscope::trainer
