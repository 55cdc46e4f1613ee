#include "trainer/models/relative_attention.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "trainer/models/generation.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer {

double Power(int64_t value, double exponent) {
  return std::pow(static_cast<double>(value), exponent);
}

Linear::Options Dense(const RelativeAttentionConfig& c, int64_t inputs, int64_t outputs,
                      double deviation) {
  return {.inputs = inputs,
          .outputs = outputs,
          .dtype = c.dtype,
          .standard_deviation = c.factor * deviation};
}

RelativeAttention::RelativeAttention(std::string name, const RelativeAttentionConfig& c,
                                     bool decoder, bool cross, bool first)
    : Module(std::move(name)),
      config_(c),
      decoder_(decoder),
      cross_(cross),
      first_(first && !cross),
      q_("q", Dense(c, c.width, c.heads * c.head_dim, Power(c.width * c.head_dim, -0.5))),
      k_("k", Dense(c, c.width, c.heads * c.head_dim, Power(c.width, -0.5))),
      v_("v", Dense(c, c.width, c.heads * c.head_dim, Power(c.width, -0.5))),
      o_("o", Dense(c, c.heads * c.head_dim, c.width, Power(c.heads * c.head_dim, -0.5))),
      bias_("relative_attention_bias", c.buckets, c.heads, c.dtype,
            c.factor * Power(c.width, -0.5)) {
  for (Linear* projection : {&q_, &k_, &v_, &o_}) AddChild(projection);
  if (first_) AddChild(&bias_);
}

at::Tensor RelativeAttention::Forward(const at::Tensor& x, const at::Tensor& memory,
                                      const StackMasks& shared, at::Tensor& bias) {
  ModuleScope scope(name());
  const int64_t batch = x.size(0);
  const auto heads = [&](const at::Tensor& projected) {
    return projected.view({batch, -1, config_.heads, config_.head_dim}).transpose(1, 2);
  };
  const at::Tensor& source = cross_ ? memory : x;
  at::Tensor query = heads(q_.Forward(x));
  const auto projected = [&] {
    at::Tensor key = k_.Forward(source);
    at::Tensor value = v_.Forward(source);
    return std::pair(heads(key), heads(value));
  };
  const GenerationPass* pass = decoder_ ? Generating() : nullptr;
  auto [key, value] = cross_ && pass != nullptr && pass->cross != nullptr
                          ? pass->cross->Next(projected)
                          : projected();
  if (pass != nullptr && !cross_) ThroughCache(key, value);
  at::Tensor scores = at::matmul(query, key.transpose(3, 2));
  at::Tensor length;
  if (!bias.defined()) {
    if (!cross_) length = shared.positions.select(0, -1) + 1;
    bias = MakeBias(x.size(1), key.size(-2), scores, shared);
    bias = bias + (cross_ ? shared.cross_mask : shared.mask).slice(3, 0, key.size(-2));
  }
  scores += bias;
  at::Tensor weights;
  {
    at::Tensor wide = scores.to(at::kFloat);
    at::Tensor probabilities = at::softmax(wide, -1);
    wide.reset();
    weights = probabilities.to(scores.scalar_type());
  }
  weights = at::dropout(weights, config_.dropout, Training());
  at::Tensor output = at::matmul(weights, value);
  output = output.transpose(1, 2).contiguous();
  output = output.view({batch, -1, config_.heads * config_.head_dim});
  output = o_.Forward(output);
  for (at::Tensor* local : {&query, &key, &value, &scores, &length, &weights}) local->reset();
  return output;
}

at::Tensor RelativeAttention::MakeBias(int64_t targets, int64_t sources, const at::Tensor& scores,
                                       const StackMasks& shared) {
  if (!first_) {
    at::Tensor zeros = at::zeros({1, config_.heads, targets, sources}, scores.options());
    if (shared.checkpointed) zeros.requires_grad_(true);
    return zeros;
  }
  const at::Tensor context = shared.positions.unsqueeze(1);
  at::Tensor memory = at::arange(sources, shared.positions.options()).unsqueeze(0);
  at::Tensor relative = memory - context;
  at::Tensor buckets = Buckets(relative);
  at::Tensor values = bias_.Forward(buckets);
  values = values.permute({2, 0, 1}).unsqueeze(0);
  memory.reset();
  relative.reset();
  buckets.reset();
  return values.slice(2, -targets);
}

at::Tensor RelativeAttention::Buckets(const at::Tensor& distance) const {
  at::Tensor relative, buckets;
  int64_t count = config_.buckets;
  if (!decoder_) {
    count /= 2;
    at::Tensor ahead = distance > 0;
    at::Tensor number = ahead.to(at::kLong);
    ahead.reset();
    at::Tensor product = number * count;
    number.reset();
    buckets = product + 0;
    product.reset();
    relative = at::abs(distance);
  } else {
    at::Tensor zeros = at::zeros_like(distance);
    at::Tensor behind = at::min(distance, zeros);
    zeros.reset();
    relative = -behind;
  }
  const int64_t exact = count / 2;
  at::Tensor small = relative < exact;
  at::Tensor large;
  {
    const double scale =
        std::log(static_cast<double>(config_.max_distance) / static_cast<double>(exact));
    at::Tensor x = relative.to(at::kFloat);
    x = x / exact;
    x = at::log(x);
    x = x / scale;
    x = x * (count - exact);
    x = x.to(at::kLong);
    large = x + exact;
  }
  at::Tensor last = at::full_like(large, count - 1);
  large = at::min(large, last);
  last.reset();
  at::Tensor chosen = at::where(small, relative, large);
  if (buckets.defined()) {
    buckets += chosen;
  } else {
    buckets = chosen + 0;
  }
  chosen.reset();
  for (at::Tensor* local : {&relative, &small, &large}) local->reset();
  return buckets;
}

}  // namespace vramscope::trainer
