// The layers of the models. Each Forward opens a module scope with the layer's name. It makes the
// same allocations, in the same order, as the Hugging Face or torch.nn layer that it mirrors.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainer/models/module.h"
#include "trainer/models/options.h"

namespace vramscope::trainer {

// A low-rank adapter for a linear layer, like PEFT's LoRA: B(A(dropout(x))) * alpha / rank. Its two
// matrices have type `dtype`; PEFT's default is fp32 for layers of any type. A decomposed adapter
// (DoRA) has a third parameter, "magnitude", the row norms of the adapted weight.
class LoraAdapter : public Module {
 public:
  LoraAdapter(int64_t inputs, int64_t outputs, const LoraConfig& config, at::ScalarType dtype);
  // Returns what the adapter adds to the layer's result. x must have the type of the matrices.
  at::Tensor Forward(const at::Tensor& x);
  // Does the same for a decomposed adapter. `weight` is the layer's weight, [outputs, inputs], and
  // `result` the layer's output.
  at::Tensor ForwardDecomposed(const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias, const at::Tensor& result);
  bool decomposes() const { return magnitude_ != nullptr; }
  // Called before training. Computes the magnitude of a decomposed adapter on the host.
  void StartMagnitude(const at::Tensor& weight);
  at::ScalarType dtype() const;

 private:
  class Matrix;
  at::Tensor Product(const at::Tensor& x);  // B(A(x))
  std::unique_ptr<Module> a_, b_, magnitude_;
  std::shared_ptr<Parameter> weight_a_, weight_b_, lengths_;
  double scaling_;
  double dropout_;
};

// y = x W^T + b with weight [outputs, inputs]. If `transposed`, y = b + x W with weight [inputs,
// outputs], like GPT-2's Conv1D.
class Linear : public Module {
 public:
  struct Options {
    int64_t inputs = 0;
    int64_t outputs = 0;
    bool bias = false;
    bool transposed = false;
    at::ScalarType dtype = at::kFloat;
    double standard_deviation = 0.02;
  };
  Linear(std::string name, const Options& options);
  // Makes a layer that uses the weight of another module (a tied output layer).
  Linear(std::string name, const Options& options, std::shared_ptr<Parameter> weight);
  at::Tensor Forward(const at::Tensor& x);
  // Call this before Materialize(). Does not change the `trainable` flags of the layer's
  // parameters.
  void AddAdapter(const LoraConfig& config);
  bool has_adapter() const { return adapter_ != nullptr; }
  // Call this once the weights have values. Afterwards, a DoRA layer computes the same as the layer
  // without DoRA.
  void StartAdapter();
  // Sets `base` to be called instead of x W^T + b. The adapter's result is cast to the layer's
  // type, and added to the result of `base`, or to a copy of this result if `copies`.
  using BaseFunction = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& bias)>;
  void SetBase(BaseFunction base, bool copies) {
    base_ = std::move(base);
    base_copies_ = copies;
  }
  bool transposed() const { return options_.transposed; }
  int64_t inputs() const { return options_.inputs; }
  int64_t outputs() const { return options_.outputs; }
  const std::shared_ptr<Parameter>& weight() const { return weight_; }

 protected:
  bool children_move_first() const override { return false; }  // the adapter moves last

 private:
  at::Tensor Base(const at::Tensor& x) const;
  at::Tensor UprightWeight() const;  // [outputs, inputs]
  at::Tensor BesideFunction(const at::Tensor& x, at::Tensor result);
  Options options_;
  std::shared_ptr<Parameter> weight_, bias_;
  std::unique_ptr<LoraAdapter> adapter_;
  BaseFunction base_;
  bool base_copies_ = false;
};

class Embedding : public Module {
 public:
  Embedding(std::string name, int64_t count, int64_t width, at::ScalarType dtype,
            double standard_deviation);
  at::Tensor Forward(const at::Tensor& ids);
  const std::shared_ptr<Parameter>& weight() const { return weight_; }
  // Looks up rows of the weight, in place of at::embedding.
  using Lookup = std::function<at::Tensor(const at::Tensor& weight, const at::Tensor& ids)>;
  void SetLookup(Lookup lookup) { lookup_ = std::move(lookup); }

 private:
  std::shared_ptr<Parameter> weight_;
  Lookup lookup_;
};

// Computes in fp32 with elementary operators, like the Llama family's implementation. Gemma's
// implementation multiplies by 1 + weight, also in fp32.
class RmsNorm : public Module {
 public:
  enum class Scale : uint8_t { kWeight, kOnePlusWeight };
  RmsNorm(std::string name, int64_t width, double eps, at::ScalarType dtype,
          Scale scale = Scale::kWeight);
  at::Tensor Forward(const at::Tensor& x);
  // Computes the norm, in place of elementary operators.
  using Kernel =
      std::function<at::Tensor(const at::Tensor& x, const at::Tensor& weight, double eps)>;
  // Returns false if this form of the norm has no kernel.
  bool SetKernel(Kernel kernel);

 private:
  at::Tensor ForwardOnePlus(const at::Tensor& x) const;
  Scale scale_;
  std::shared_ptr<Parameter> weight_;
  double eps_;
  Kernel kernel_;
};

class LayerNorm : public Module {
 public:
  LayerNorm(std::string name, int64_t width, double eps, at::ScalarType dtype);
  at::Tensor Forward(const at::Tensor& x);

 private:
  std::shared_ptr<Parameter> weight_, bias_;
  int64_t width_;
  double eps_;
};

// Repeats key or value heads, so that each query head has one: [b, kv, s, d] -> [b, kv * n, s, d].
at::Tensor RepeatKv(const at::Tensor& x, int64_t n);

// torch.finfo(dtype).min.
double LowestFinite(at::ScalarType dtype);

// Scaled dot-product attention in one operator (any enabled implementation), like the "sdpa"
// attention function of Hugging Face. Returns [b, s, heads, d]. Without `mask`, it is causal.
at::Tensor SdpaAttention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         int64_t groups, const at::Tensor& mask, double dropout,
                         std::optional<double> scale);

// FlashAttention-2 as in the package of that name: causal attention on operands [b, s, heads, d],
// without copying them or expanding key and value heads. Returns [b, s, heads, d].
at::Tensor FlashTwoAttention(const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value, double dropout, double scale);

}  // namespace vramscope::trainer
