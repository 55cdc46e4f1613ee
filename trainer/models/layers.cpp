#include "trainer/models/layers.h"

#include <ATen/autocast_mode.h>
#include <torch/autograd.h>
#include <torch/types.h>

#include <cmath>

#include "trainer/capture/cancel.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer {

// A module with one parameter of an adapter, so that the parameter gets the module's name.
class LoraAdapter::Matrix : public Module {
 public:
  Matrix(std::string name, std::vector<int64_t> shape, Init init, at::ScalarType dtype)
      : Module(std::move(name)) {
    weight = AddParameter("weight", {.shape = std::move(shape), .dtype = dtype, .init = init});
  }
  std::shared_ptr<Parameter> weight;
};

LoraAdapter::LoraAdapter(int64_t inputs, int64_t outputs, const LoraConfig& config,
                         at::ScalarType dtype)
    : Module("lora"),
      scaling_(config.alpha / (config.rank_stabilised ? std::sqrt(config.rank) : config.rank)),
      dropout_(config.dropout) {
  const auto add = [this](std::unique_ptr<Module>& module, auto made) {
    AddChild(made.get());
    const std::shared_ptr<Parameter> weight = made->weight;
    module = std::move(made);
    return weight;
  };
  weight_a_ = add(a_, std::make_unique<Matrix>("A", std::vector<int64_t>{config.rank, inputs},
                                               Init::kKaimingUniform, dtype));
  weight_b_ = add(b_, std::make_unique<Matrix>("B", std::vector<int64_t>{outputs, config.rank},
                                               Init::kZeros, dtype));
  weight_a_->trainable = !config.freezes_down;
  if (!config.decompose) return;
  lengths_ = add(magnitude_, std::make_unique<Matrix>("magnitude", std::vector<int64_t>{outputs},
                                                      Init::kOnes, dtype));
}

at::ScalarType LoraAdapter::dtype() const { return weight_a_->tensor.scalar_type(); }

at::Tensor LoraAdapter::Product(const at::Tensor& x) {
  at::Tensor down;
  {
    ModuleScope inner("A");
    down = at::linear(x, weight_a_->tensor);
  }
  ModuleScope inner("B");
  return at::linear(down, weight_b_->tensor);
}

at::Tensor LoraAdapter::Forward(const at::Tensor& x) {
  ModuleScope scope(name());
  if (dropout_ == 0) return Product(x) * scaling_;
  // Product() would keep dropout's result longer. Here, it is freed after the first product.
  at::Tensor down = at::dropout(x, dropout_, Training());
  {
    ModuleScope inner("A");
    down = at::linear(down, weight_a_->tensor);
  }
  at::Tensor up;
  {
    ModuleScope inner("B");
    up = at::linear(down, weight_b_->tensor);
  }
  down.reset();
  return up * scaling_;
}

// Does what PEFT's DoraLinearLayer does: applies the adapter to the identity to get its matrix, and
// treats the row norms of weight plus adapter as constants in backward.
at::Tensor LoraAdapter::ForwardDecomposed(const at::Tensor& x, const at::Tensor& weight,
                                          const at::Tensor& bias, const at::Tensor& result) {
  ModuleScope scope(name());
  const bool drops = dropout_ > 0 && Training();
  const at::Tensor dropped = drops ? at::dropout(x, dropout_, true) : x;
  at::Tensor base = drops ? at::Tensor() : result;
  at::Tensor delta = [&] {
    const at::Tensor identity =
        at::eye(weight_a_->tensor.size(1),
                at::TensorOptions().dtype(weight_a_->tensor.scalar_type()).device(x.device()));
    return Product(identity).t();
  }();
  delta = delta.to(dropped.scalar_type());
  at::Tensor wide = weight.to(dropped.scalar_type());
  at::Tensor norm = [&] {
    at::Tensor scaled = delta.detach() * scaling_;
    const at::Tensor sum = wide + scaled;
    scaled.reset();
    return at::linalg_norm(sum, std::nullopt, at::IntArrayRef{1}).to(sum.scalar_type());
  }();
  norm = norm.detach();
  at::Tensor scale = (lengths_->tensor / norm).view({1, -1});
  at::Tensor up = Product(dropped);
  if (!base.defined()) {
    base = at::linear(dropped, wide);
  } else if (bias.defined()) {
    base = base - bias;
  }
  at::Tensor change = scale - 1;
  at::Tensor turned = change * base;
  change.reset();
  at::Tensor factor = scale * up;
  at::Tensor added = factor * scaling_;
  factor.reset();
  at::Tensor sum = turned + added;
  turned.reset();
  added.reset();
  // Frees the variables in the order in which Python frees the frame's locals.
  for (at::Tensor* local : {&base, &delta, &wide, &norm, &scale, &up}) local->reset();
  return sum;
}

void LoraAdapter::StartMagnitude(const at::Tensor& weight) {
  at::NoGradGuard no_grad;
  const at::Tensor rows = weight.detach().to(at::kCPU).to(at::kFloat);
  lengths_->tensor.copy_(at::linalg_norm(rows, std::nullopt, at::IntArrayRef{1}));
}

Linear::Linear(std::string name, const Options& options)
    : Module(std::move(name)), options_(options) {
  weight_ =
      AddParameter("weight", {.shape = options.transposed
                                           ? std::vector<int64_t>{options.inputs, options.outputs}
                                           : std::vector<int64_t>{options.outputs, options.inputs},
                              .dtype = options.dtype,
                              .standard_deviation = options.standard_deviation});
  if (options.bias) {
    bias_ = AddParameter(
        "bias", {.shape = {options.outputs}, .dtype = options.dtype, .init = Init::kZeros});
  }
}

Linear::Linear(std::string name, const Options& options, std::shared_ptr<Parameter> weight)
    : Module(std::move(name)), options_(options), weight_(std::move(weight)) {
  ShareParameter("weight", weight_);
}

void Linear::AddAdapter(const LoraConfig& config) {
  adapter_ = std::make_unique<LoraAdapter>(options_.inputs, options_.outputs, config,
                                           config.as_weights ? options_.dtype : at::kFloat);
  AddChild(adapter_.get());
}

void Linear::StartAdapter() {
  if (adapter_ != nullptr && adapter_->decomposes()) adapter_->StartMagnitude(UprightWeight());
}

at::Tensor Linear::UprightWeight() const {
  return options_.transposed ? weight_->tensor.t() : weight_->tensor;
}

at::Tensor Linear::Base(const at::Tensor& x) const {
  const at::Tensor& weight = weight_->tensor;
  if (base_) return base_(x, bias_ ? bias_->tensor : at::Tensor());
  if (!options_.transposed) {
    return bias_ ? at::linear(x, weight, bias_->tensor) : at::linear(x, weight);
  }
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = options_.outputs;
  return at::addmm(bias_->tensor, x.view({-1, x.size(-1)}), weight).view(sizes);
}

// Adds the adapter like PEFT's bitsandbytes layers, which cast explicitly only without autocast.
at::Tensor Linear::BesideFunction(const at::Tensor& x, at::Tensor result) {
  if (base_copies_) result = result.clone();
  const at::ScalarType dtype = result.scalar_type();
  const bool casts = !at::autocast::is_autocast_enabled(x.device().type());
  const at::Tensor cast = casts ? x.to(adapter_->dtype()) : x;
  at::Tensor delta = adapter_->Forward(cast);
  if (casts) delta = delta.to(dtype);
  result = result + delta;
  return result;
}

at::Tensor Linear::Forward(const at::Tensor& x) {
  ThrowIfCancelled();
  ModuleScope scope(name());
  at::Tensor result = Base(x);
  if (!adapter_) return result;
  if (base_) return BesideFunction(x, std::move(result));
  const at::ScalarType dtype = result.scalar_type();
  const at::Tensor cast = x.to(adapter_->dtype());  // lives until the layer returns
  at::Tensor delta = adapter_->decomposes()
                         ? adapter_->ForwardDecomposed(cast, UprightWeight(),
                                                       bias_ ? bias_->tensor : at::Tensor(), result)
                         : adapter_->Forward(cast);
  at::Tensor sum = result + delta;
  delta.reset();
  result = std::move(sum);
  result = result.to(dtype);
  return result;
}

Embedding::Embedding(std::string name, int64_t count, int64_t width, at::ScalarType dtype,
                     double standard_deviation)
    : Module(std::move(name)) {
  weight_ = AddParameter(
      "weight",
      {.shape = {count, width}, .dtype = dtype, .standard_deviation = standard_deviation});
}

at::Tensor Embedding::Forward(const at::Tensor& ids) {
  ThrowIfCancelled();
  ModuleScope scope(name());
  return lookup_ ? lookup_(weight_->tensor, ids) : at::embedding(weight_->tensor, ids);
}

RmsNorm::RmsNorm(std::string name, int64_t width, double eps, at::ScalarType dtype, Scale scale)
    : Module(std::move(name)), scale_(scale), eps_(eps) {
  const Init init = scale == Scale::kWeight ? Init::kOnes : Init::kZeros;
  weight_ = AddParameter("weight", {.shape = {width}, .dtype = dtype, .init = init});
}

at::Tensor RmsNorm::ForwardOnePlus(const at::Tensor& x) const {
  at::Tensor wide = x.to(at::kFloat);
  at::Tensor square = wide.pow(2);
  at::Tensor mean = square.mean(-1, /*keepdim=*/true);
  square.reset();
  at::Tensor shifted = mean + eps_;
  mean.reset();
  at::Tensor scale = at::rsqrt(shifted);
  shifted.reset();
  at::Tensor output = wide * scale;
  scale.reset();
  wide.reset();
  at::Tensor weight = weight_->tensor.to(at::kFloat);
  at::Tensor factor = 1.0 + weight;
  weight.reset();
  at::Tensor scaled = output * factor;
  factor.reset();
  output = std::move(scaled);
  return output.to(x.scalar_type());
}

bool RmsNorm::SetKernel(Kernel kernel) {
  if (scale_ == Scale::kOnePlusWeight) return false;
  kernel_ = std::move(kernel);
  return true;
}

at::Tensor RmsNorm::Forward(const at::Tensor& x) {
  ThrowIfCancelled();
  ModuleScope scope(name());
  if (kernel_) return kernel_(x, weight_->tensor, eps_);
  if (scale_ == Scale::kOnePlusWeight) return ForwardOnePlus(x);
  const at::ScalarType dtype = x.scalar_type();
  at::Tensor hidden = x.to(at::kFloat);
  at::Tensor square = hidden.pow(2);
  at::Tensor variance = square.mean(-1, /*keepdim=*/true);
  square.reset();
  at::Tensor shifted = variance + eps_;
  at::Tensor scale = at::rsqrt(shifted);
  shifted.reset();
  at::Tensor normed = hidden * scale;
  scale.reset();
  hidden = std::move(normed);
  at::Tensor cast = hidden.to(dtype);
  at::Tensor result = weight_->tensor * cast;
  cast.reset();
  hidden.reset();
  variance.reset();
  return result;
}

LayerNorm::LayerNorm(std::string name, int64_t width, double eps, at::ScalarType dtype)
    : Module(std::move(name)), width_(width), eps_(eps) {
  weight_ = AddParameter("weight", {.shape = {width}, .dtype = dtype, .init = Init::kOnes});
  bias_ = AddParameter("bias", {.shape = {width}, .dtype = dtype, .init = Init::kZeros});
}

at::Tensor LayerNorm::Forward(const at::Tensor& x) {
  ThrowIfCancelled();
  ModuleScope scope(name());
  return at::layer_norm(x, {width_}, weight_->tensor, bias_->tensor, eps_);
}

at::Tensor RepeatKv(const at::Tensor& x, int64_t n) {
  if (n == 1) return x;
  const int64_t batch = x.size(0), heads = x.size(1), seq = x.size(2), width = x.size(3);
  return x.unsqueeze(2)
      .expand({batch, heads, n, seq, width})
      .reshape({batch, heads * n, seq, width});
}

double LowestFinite(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return static_cast<double>(std::numeric_limits<c10::Half>::lowest());
    case at::kBFloat16:
      return static_cast<double>(std::numeric_limits<c10::BFloat16>::lowest());
    default:
      return static_cast<double>(std::numeric_limits<float>::lowest());
  }
}

at::Tensor SdpaAttention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         int64_t groups, const at::Tensor& mask, double dropout,
                         std::optional<double> scale) {
  at::Tensor k = RepeatKv(key, groups);
  at::Tensor v = RepeatKv(value, groups);
  at::Tensor q = query.contiguous();
  k = k.contiguous();
  v = v.contiguous();
  const bool causal = !mask.defined() && q.size(2) > 1;
  const std::optional<at::Tensor> columns =
      mask.defined() ? std::optional(mask.slice(-1, 0, k.size(2))) : std::nullopt;
  at::Tensor output =
      at::scaled_dot_product_attention(q, k, v, columns, DropoutNow(dropout), causal, scale);
  output = output.transpose(1, 2).contiguous();
  // Frees the variables in the order in which a Python frame frees its locals.
  q.reset();
  k.reset();
  v.reset();
  return output;
}

namespace {

// The graph node of the flash-attn package. Unlike PyTorch's built-in version, it keeps its
// random-number state on the GPU until backward is done, even without dropout.
struct FlashTwo : torch::autograd::Function<FlashTwo> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& query,
                            const at::Tensor& key, const at::Tensor& value, double dropout,
                            double scale) {
    auto [output, log_sums, seed, offset, mask] =
        at::_flash_attention_forward(query, key, value, {}, {}, query.size(1), key.size(1), dropout,
                                     /*is_causal=*/true, /*return_debug_mask=*/false, scale);
    const at::Tensor state = at::empty({2}, query.options().dtype(at::kLong));
    context->save_for_backward({query, key, value, output, log_sums, state});
    context->saved_data["seed"] = seed;
    context->saved_data["offset"] = offset;
    context->saved_data["dropout"] = dropout;
    context->saved_data["scale"] = scale;
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const torch::autograd::variable_list saved = context->get_saved_variables();
    auto [query, key, value] = at::_flash_attention_backward(
        gradients[0], saved[0], saved[1], saved[2], saved[3], saved[4], {}, {}, saved[0].size(1),
        saved[1].size(1), context->saved_data["dropout"].toDouble(), /*is_causal=*/true,
        context->saved_data["seed"].toTensor(), context->saved_data["offset"].toTensor(),
        context->saved_data["scale"].toDouble());
    return {query, key, value, {}, {}};
  }
};

}  // namespace

at::Tensor FlashTwoAttention(const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value, double dropout, double scale) {
  return FlashTwo::apply(query, key, value, DropoutNow(dropout), scale);
}

}  // namespace vramscope::trainer
