#include "trainer/models/rotary.h"

#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include <cmath>
#include <numbers>

namespace vramscope::trainer {
namespace {

// Turns autocast off on `device` while the object exists.
class AutocastOff {
 public:
  explicit AutocastOff(c10::DeviceType device)
      : device_(device), was_(at::autocast::is_autocast_enabled(device)) {
    if (was_) at::autocast::set_autocast_enabled(device_, false);
  }
  ~AutocastOff() {
    if (was_) at::autocast::set_autocast_enabled(device_, true);
  }
  AutocastOff(const AutocastOff&) = delete;
  AutocastOff& operator=(const AutocastOff&) = delete;

 private:
  c10::DeviceType device_;
  bool was_;
};

at::Tensor RotateHalf(const at::Tensor& x) {
  const int64_t half = x.size(-1) / 2;
  at::Tensor first = x.slice(-1, 0, half);
  at::Tensor second = x.slice(-1, half);
  at::Tensor negative = -second;
  return at::cat({negative, first}, -1);
}

}  // namespace

at::Tensor Rotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  at::Tensor a = x * cos;
  at::Tensor rotated = RotateHalf(x);
  at::Tensor b = rotated * sin;
  rotated.reset();
  at::Tensor sum = a + b;
  a.reset();
  b.reset();
  return sum;
}

std::vector<float> InverseFrequencies(const run::ModelConfig& config) {
  const int64_t half = config.head_dim / 2;
  std::vector<float> out(half);
  for (int64_t i = 0; i < half; ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(config.head_dim);
    double f = 1.0 / std::pow(config.rope_theta, exponent);
    if (config.rope_scaling == run::RopeScaling::kLinear) {
      f /= config.rope_factor;
    } else if (config.rope_scaling == run::RopeScaling::kLlama3) {
      const double wavelength = 2 * std::numbers::pi / f;
      const double low = config.rope_original_positions / config.rope_low_freq_factor;
      const double high = config.rope_original_positions / config.rope_high_freq_factor;
      if (wavelength > low) {
        f /= config.rope_factor;
      } else if (wavelength >= high) {
        const double smooth =
            (config.rope_original_positions / wavelength - config.rope_low_freq_factor) /
            (config.rope_high_freq_factor - config.rope_low_freq_factor);
        f = (1 - smooth) * f / config.rope_factor + smooth * f;
      }
    }
    out[i] = static_cast<float>(f);
  }
  return out;
}

RotaryEmbedding::RotaryEmbedding(std::string name, const run::ModelConfig& config, const Own& own)
    : Module(std::move(name)) {
  run::ModelConfig form = config;
  if (own.theta > 0) {
    form.rope_theta = own.theta;
    form.rope_scaling = run::RopeScaling::kNone;
  }
  if (own.width > 0) form.head_dim = own.width;
  inverse_frequencies_ =
      AddBuffer({.name = "inv_freq",
                 .shape = {form.head_dim / 2},
                 .value = [values = InverseFrequencies(form)] { return torch::tensor(values); }});
}

std::pair<at::Tensor, at::Tensor> RotaryEmbedding::Forward(const at::Tensor& position_ids,
                                                           at::ScalarType dtype) {
  ModuleScope scope(name());
  at::NoGradGuard no_grad;
  const at::Tensor frequencies =
      inverse_frequencies_->tensor.unsqueeze(0).unsqueeze(2).expand({position_ids.size(0), -1, 1});
  at::Tensor positions = position_ids.unsqueeze(1).to(at::kFloat);
  at::Tensor angles, both, cos, sin;
  {
    AutocastOff off(position_ids.device().type());
    angles = at::matmul(frequencies, positions).transpose(1, 2);
    both = at::cat({angles, angles}, -1);
    // transformers multiplies by the scaling's attention factor. The factor is 1 for all supported
    // scalings, but the multiplication allocates a new tensor.
    at::Tensor plain = both.cos();
    cos = plain * 1.0;
    plain.reset();
    plain = both.sin();
    sin = plain * 1.0;
  }
  std::pair<at::Tensor, at::Tensor> result{cos.to(dtype), sin.to(dtype)};
  for (at::Tensor* local : {&positions, &angles, &both, &cos, &sin}) local->reset();
  return result;
}

void ApplyRotary(at::Tensor& query, at::Tensor& key, const at::Tensor& cos, const at::Tensor& sin) {
  const at::Tensor c = cos.unsqueeze(1);
  const at::Tensor s = sin.unsqueeze(1);
  at::Tensor q = Rotated(query, c, s);
  at::Tensor k = Rotated(key, c, s);
  query = std::move(q);
  key = std::move(k);
}

}  // namespace vramscope::trainer
