#include "trainer/techniques/quantised_adam.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "trainer/capture/cancel.h"
#include "trainer/capture/modelled_kernel.h"

namespace vramscope::trainer {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

double LastCode(const QuantisedMoment& moment) {
  return static_cast<double>((int64_t{1} << moment.bits) - 1);
}

// Decodes a moment. A value is proportional to the square of its code, so values are dense near
// zero. The last block may be incomplete.
at::Tensor Decode(const QuantisedMoment& moment, const at::Tensor& like, bool with_sign) {
  if (!moment.scale.defined()) return moment.codes.to(at::kFloat);
  at::Tensor codes = moment.codes.to(moment.scale.device()).flatten();
  if (moment.bits == 4) {
    codes = at::stack({codes.bitwise_right_shift(4), codes.bitwise_and(15)}, -1).flatten();
  }
  at::Tensor values = codes.to(at::kFloat) / LastCode(moment);
  if (with_sign) values = values * 2 - 1;
  values = at::constant_pad_nd(values * values.abs(),
                               {0, moment.scale.numel() * moment.block - values.numel()});
  return (values.view({-1, moment.block}) * moment.scale.unsqueeze(1))
      .flatten()
      .slice(0, 0, like.numel())
      .view(like.sizes());
}

void Encode(const at::Tensor& values, QuantisedMoment& moment, bool with_sign) {
  if (!moment.scale.defined()) {
    moment.codes.copy_(values);
    return;
  }
  at::Tensor flat = at::constant_pad_nd(values.flatten(),
                                        {0, moment.scale.numel() * moment.block - values.numel()})
                        .view({-1, moment.block});
  moment.scale.copy_(flat.abs().amax(1));
  flat = flat / moment.scale.clamp_min(1e-30).unsqueeze(1);
  at::Tensor root = flat.sign() * flat.abs().sqrt();
  if (with_sign) root = (root + 1) / 2;
  at::Tensor codes = (root * LastCode(moment)).round().to(at::kByte).flatten();
  codes = codes.slice(0, 0, values.numel());
  if (moment.bits == 4) {
    codes = codes.view({-1, 2});
    codes = codes.select(1, 0).bitwise_left_shift(4).bitwise_or(codes.select(1, 1));
  }
  moment.codes.copy_(codes.view(moment.codes.sizes()));
}

}  // namespace

uint64_t BytesOfUpdate(const at::Tensor& parameter, const QuantisedMoments& moments) {
  uint64_t bytes = BytesOf(parameter.grad()) + 2 * BytesOf(parameter);
  for (const QuantisedMoment* moment : {&moments.first, &moments.second})
    bytes += 2 * (BytesOf(moment->codes) + BytesOf(moment->scale));
  return bytes;
}

QuantisedAdam::QuantisedAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters,
                             MakeMoments make, PlanUpdate plan_update, bool computes)
    : Optimizer(std::move(parameters), config.lr),
      weight_decay_(config.weight_decay),
      decoupled_(config.name == "adamw"),
      make_(std::move(make)),
      plan_update_(std::move(plan_update)),
      computes_(computes),
      states_(parameters_.size()) {}

void QuantisedAdam::Step() {
  at::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    ThrowIfCancelled();
    State& state = states_[i];
    if (!state.moments.first.codes.defined()) state.moments = make_(parameters_[i]);
    ++state.step;
    if (computes_) {
      Update(parameters_[i], state);
    } else {
      plan_update_(parameters_[i], state.moments);
    }
  }
}

std::vector<at::Tensor> QuantisedAdam::StateTensors() const {
  std::vector<at::Tensor> out;
  for (const State& state : states_) {
    for (const QuantisedMoment* moment : {&state.moments.first, &state.moments.second}) {
      for (const at::Tensor& tensor : {moment->codes, moment->scale, moment->table}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
  }
  return out;
}

void QuantisedAdam::Update(at::Tensor& parameter, State& state) const {
  auto& [first, second] = state.moments;
  const at::Tensor gradient = parameter.grad().to(at::kFloat);
  if (decoupled_ && weight_decay_ != 0) parameter.mul_(1 - lr_ * weight_decay_);
  const at::Tensor with_decay =
      decoupled_ || weight_decay_ == 0 ? gradient : gradient + weight_decay_ * parameter;
  const at::Tensor moment = Decode(first, parameter, true) * kBeta1 + with_decay * (1 - kBeta1);
  const at::Tensor variance =
      Decode(second, parameter, false) * kBeta2 + with_decay * with_decay * (1 - kBeta2);
  const auto t = static_cast<double>(state.step);
  const at::Tensor denominator = (variance / (1 - std::pow(kBeta2, t))).sqrt() + kEps;
  parameter.sub_((moment / (1 - std::pow(kBeta1, t)) / denominator * lr_).to(parameter.dtype()));
  Encode(moment, first, true);
  Encode(variance, second, false);
}

}  // namespace vramscope::trainer
