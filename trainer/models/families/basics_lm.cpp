// The "basics" model: a pre-norm decoder with RMSNorm, RoPE, SwiGLU and attention, written with
// elementary operators and einsum. The programs whose snapshots were recorded are written in the
// same way. Each tensor lives exactly as long as in those Python programs, so that allocations and
// frees of a planned step equal those of a recorded step, event for event.
//
// Python's lifetimes determine the order of the frees. They are reproduced in this way:
//   - Temporary operands are freed right after the operator, the left operand first. C++ keeps
//     temporaries to the end of the full expression. `Operands` consume their tensors.
//   - Operands are evaluated left to right. So they are written in braces, not as function
//     arguments, which GCC evaluates right to left.
//   - A returning frame frees its arguments, then its other variables in order of assignment.
//     `Drop` at the end of each function frees them in this order. C++ would use the reverse order.
//   - The caller of a *module* keeps the arguments until the call has returned.
//     The caller of a plain function does not keep them.
//   - A rebound name keeps its old tensor until the new one exists.
//
// Sequences may be longer than the model's context: the rotary table has the run's
// length.
#include <torch/types.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "profiler/run/model_config.h"
#include "trainer/models/family.h"
#include "trainer/models/tokens.h"
#include "trainer/optimizers/basics_adamw.h"

namespace vramscope::trainer::basics_lm {
namespace {

using at::Tensor;

// --- operators that release their operands when Python would

struct Operands {
  Tensor left, right;
};

template <class Op>
Tensor Apply(Operands operands, const Op& op) {
  Tensor result = op(operands.left, operands.right);
  operands.left.reset();
  operands.right.reset();
  return result;
}
template <class Op>
Tensor Apply(Tensor operand, const Op& op) {
  Tensor result = op(operand);
  operand.reset();
  return result;
}

Tensor Add(Operands x) {
  return Apply(std::move(x), [](auto& a, auto& b) { return at::add(a, b); });
}
Tensor Sub(Operands x) {
  return Apply(std::move(x), [](auto& a, auto& b) { return at::sub(a, b); });
}
Tensor Mul(Operands x) {
  return Apply(std::move(x), [](auto& a, auto& b) { return at::mul(a, b); });
}
Tensor Div(Operands x) {
  return Apply(std::move(x), [](auto& a, auto& b) { return at::div(a, b); });
}
Tensor Concat(Operands x) {
  return Apply(std::move(x), [](auto& a, auto& b) { return at::concat({a, b}, -1); });
}
Tensor Einsum(const char* equation, Operands x) {
  return Apply(std::move(x), [equation](auto& a, auto& b) {
    const std::vector<Tensor> operands{a, b};
    return at::einsum(equation, operands);
  });
}
Tensor Exp(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::exp(a); });
}
Tensor Log(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::log(a); });
}
Tensor Neg(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::neg(a); });
}
Tensor Rsqrt(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::rsqrt(a); });
}
Tensor AddNumber(Tensor x, double n) {
  return Apply(std::move(x), [n](auto& a) { return at::add(a, n); });
}
Tensor DivNumber(Tensor x, double n) {
  return Apply(std::move(x), [n](auto& a) { return at::div(a, n); });
}
Tensor SquareOf(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::pow(a, 2); });
}
Tensor MeanOfRows(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::mean(a, {-1}, /*keepdim=*/true); });
}
Tensor SumOfRows(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return at::sum(a, {-1}, /*keepdim=*/true); });
}
// Returns the maximum of each row. Drops the indices, so that only the graph keeps them.
Tensor MaxOfRows(Tensor x) {
  return Apply(std::move(x), [](auto& a) { return std::get<0>(at::max(a, -1, /*keepdim=*/true)); });
}

// Frees variables in the order in which a Python frame frees them when it returns.
template <class... Tensors>
void Drop(Tensors&... tensors) {
  (tensors.reset(), ...);
}

// --- configuration

struct Config {
  int64_t vocab = 0, width = 0, inner = 0, layers = 0, heads = 0, seq = 0;
  double theta = 10000, eps = 1e-5;
};

// --- modules

class Weight : public Module {
 public:
  Weight(std::string name, std::vector<int64_t> shape, Init init, double deviation = 1)
      : Module(std::move(name)),
        weight_(AddParameter(
            "weight", {.shape = std::move(shape), .init = init, .standard_deviation = deviation})) {
  }
  const Tensor& weight() const { return weight_->tensor; }

 private:
  std::shared_ptr<Parameter> weight_;
};

class BasicsLinear : public Weight {
 public:
  BasicsLinear(std::string name, int64_t inputs, int64_t outputs)
      : Weight(std::move(name), {outputs, inputs}, Init::kNormal,
               std::sqrt(2.0 / static_cast<double>(inputs + outputs))) {}
  Tensor Forward(const Tensor& x) {
    ModuleScope scope(name());
    return Einsum("...a,ba->...b", {x, weight()});
  }
};

class BasicsNorm : public Weight {
 public:
  BasicsNorm(std::string name, const Config& config)
      : Weight(std::move(name), {config.width}, Init::kOnes), eps_(config.eps) {}
  Tensor Forward(const Tensor& input) {
    ModuleScope scope(name());
    const at::ScalarType type = input.scalar_type();
    Tensor x = input.to(at::kFloat);
    Tensor r = Rsqrt(AddNumber(MeanOfRows(SquareOf(x)), eps_));
    x = Mul({x, r});
    Tensor y = Mul({weight(), x}).to(type);
    Drop(x, r);
    return y;
  }

 private:
  double eps_;
};

class Rotary : public Module {
 public:
  explicit Rotary(const Config& config) : Module("positional_encoder") {
    const int64_t half = config.width / config.heads / 2;
    table_ = AddBuffer({.name = "cos_sin",
                        .shape = {2, config.seq, half},
                        .value = [seq = config.seq, half, theta = config.theta] {
                          Tensor frequency = at::pow(theta, at::arange(half) * (-1.0 / half));
                          Tensor angle = at::outer(at::arange(seq), frequency);
                          return at::stack({angle.cos(), angle.sin()}).to(at::kFloat);
                        }});
  }

  Tensor Forward(Tensor x) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), heads = x.size(1), seq = x.size(2), width = x.size(3);
    std::vector<Tensor> pairs =
        x.reshape({batch, heads, seq, width / 2, 2}).permute({4, 0, 1, 2, 3}).unbind(0);
    Tensor even = std::move(pairs[0]), odd = std::move(pairs[1]);
    std::vector<Tensor> rows = table_->tensor.slice(1, 0, seq).unbind(0);
    Tensor cos = std::move(rows[0]), sin = std::move(rows[1]);
    Tensor first = Sub({Mul({cos, even}), Mul({sin, odd})});
    Tensor second = Add({Mul({sin, even}), Mul({cos, odd})});
    Tensor result = Concat({first, second});
    Drop(x, even, odd, cos, sin, first, second);
    return result;
  }

 private:
  Buffer* table_;
};

Tensor Softmax(Tensor x) {
  Tensor shifted = Sub({x, MaxOfRows(x)});
  Tensor exponential = Exp(shifted);
  Tensor result = Div({exponential, SumOfRows(exponential)});
  Drop(x, shifted, exponential);
  return result;
}

Tensor DotProductAttention(Tensor query, Tensor key, Tensor value, Tensor mask) {
  const double scale = std::sqrt(static_cast<double>(key.size(-1)));
  Tensor scores = DivNumber(Einsum("...ab,...cb->...ac", {query, key}), scale);
  scores = at::where(mask, scores, -std::numeric_limits<double>::infinity());
  Tensor weights = Softmax(scores);
  Tensor output = Einsum("...ab,...bc->...ac", {weights, value});
  Drop(query, key, value, mask, scores, weights);
  return output;
}

class BasicsAttention : public Module {
 public:
  BasicsAttention(const Config& config, Rotary& rotary)
      : Module("attn"),
        heads_(config.heads),
        rotary_(rotary),
        q_("q_proj", config.width, config.width),
        k_("k_proj", config.width, config.width),
        v_("v_proj", config.width, config.width),
        output_("output_proj", config.width, config.width) {
    for (BasicsLinear* projection : {&q_, &k_, &v_, &output_}) AddChild(projection);
  }

  Tensor Forward(Tensor x) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), seq = x.size(1), width = x.size(2);
    const auto split = [&](const Tensor& t) {
      return t.reshape({batch, seq, heads_, width / heads_}).permute({0, 2, 1, 3});
    };
    Tensor query = q_.Forward(x);
    Tensor key = k_.Forward(x);
    Tensor value = v_.Forward(x);
    query = split(query);
    key = split(key);
    value = split(value);
    query = rotary_.Forward(query);
    key = rotary_.Forward(key);
    Tensor positions = at::arange(seq, x.options().dtype(at::kLong));
    Tensor rows = positions.reshape({seq, 1});
    Tensor columns = positions.reshape({1, seq});
    Tensor mask = at::ge(rows, columns);
    mask = mask.unsqueeze(0);
    Tensor output = DotProductAttention(query, key, value, mask);
    output = output.permute({0, 2, 1, 3}).reshape({batch, seq, width}).contiguous();
    Tensor result = output_.Forward(output);
    Drop(x, query, key, value, positions, rows, columns, mask, output);
    return result;
  }

 private:
  int64_t heads_;
  Rotary& rotary_;
  BasicsLinear q_, k_, v_, output_;
};

class BasicsFeedForward : public Module {
 public:
  explicit BasicsFeedForward(const Config& config)
      : Module("ffn"),
        w1_("w1", config.width, config.inner),
        w2_("w2", config.inner, config.width),
        w3_("w3", config.width, config.inner) {
    for (BasicsLinear* projection : {&w1_, &w2_, &w3_}) AddChild(projection);
  }

  Tensor Forward(Tensor x) {
    ModuleScope scope(name());
    Tensor gate = Silu(w1_.Forward(x));
    Tensor up = w3_.Forward(x);
    // In Python, the product is a temporary argument of w2, and lives until w2 returns.
    Tensor product = Mul({std::move(gate), std::move(up)});
    Tensor result = w2_.Forward(product);
    product.reset();
    Drop(x);
    return result;
  }

 private:
  static Tensor Silu(Tensor x) {
    Tensor sigmoid = at::sigmoid(x);
    Tensor result = at::mul(x, sigmoid);
    Drop(sigmoid, x);
    return result;
  }

  BasicsLinear w1_, w2_, w3_;
};

class BasicsBlock : public Module {
 public:
  BasicsBlock(std::string name, const Config& config, Rotary& rotary)
      : Module(std::move(name)),
        attention_(config, rotary),
        feed_forward_(config),
        norm1_("ln1", config),
        norm2_("ln2", config) {
    AddChild(&attention_);
    AddChild(&feed_forward_);
    AddChild(&norm1_);
    AddChild(&norm2_);
  }

  Tensor Forward(Tensor x) {
    ModuleScope scope(name());
    Tensor normed = norm1_.Forward(x);
    Tensor attended = attention_.Forward(normed);
    normed.reset();
    Tensor middle = Add({x, attended});
    normed = norm2_.Forward(middle);
    Tensor fed = feed_forward_.Forward(normed);
    normed.reset();
    Tensor result = Add({middle, fed});
    Drop(x, attended, middle, fed);
    return result;
  }

 private:
  BasicsAttention attention_;
  BasicsFeedForward feed_forward_;
  BasicsNorm norm1_, norm2_;
};

Tensor LogSoftmax(Tensor x) {
  Tensor maximum = MaxOfRows(x);
  Tensor shifted = Sub({x, maximum});
  x.reset();
  Tensor result = Sub({shifted, Log(SumOfRows(Exp(shifted)))});
  Drop(shifted, maximum);
  return result;
}

class BasicsLm : public Model {
 public:
  explicit BasicsLm(const Config& config)
      : Model(""),
        config_(config),
        embedding_("token_embeddings", {config.vocab, config.width}, Init::kNormal),
        rotary_(config),
        norm_("ln_final", config),
        head_("lm_head", config.width, config.vocab) {
    AddChild(&embedding_);
    AddChild(&rotary_);
    for (int64_t i = 0; i < config.layers; ++i) {
      blocks_.push_back(
          std::make_unique<BasicsBlock>("layers." + std::to_string(i), config, rotary_));
      AddChild(blocks_.back().get());
    }
    AddChild(&norm_);
    AddChild(&head_);
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    return TokenInputs(rows, seq);
  }
  void FillInputs(std::span<Tensor> host, std::mt19937_64& random) const override {
    FillTokens(host, config_.vocab, Labels::kNextTokens, random);
  }

  Tensor Logits(const Batch& batch) override {
    Tensor embedded = Embed(batch["input_ids"]);
    if (inputs_require_grad) embedded.requires_grad_(true);
    Tensor x = embedded;
    if (layer_runner) {
      std::vector<LayerFunction> functions;
      for (auto& block : blocks_) {
        functions.push_back(
            [block = block.get()](const Tensor& h, Carried&) { return block->Forward(h); });
      }
      x = RunLayers(layer_runner, std::move(x), functions, "");
    } else {
      for (auto& block : blocks_) x = block->Forward(x);
    }
    x = norm_.Forward(x);
    Tensor logits = head_.Forward(x);
    Drop(x, embedded);
    return logits;
  }

  Tensor Loss(const Tensor& logits, const Batch& batch) override {
    Tensor negative = Neg(LogSoftmax(logits));
    Tensor picked = at::gather(negative, -1, batch["labels"].unsqueeze(-1));
    Tensor loss = at::mean(picked);
    Drop(picked, negative);
    return loss;
  }

  std::vector<LayerStack> Stacks() override {
    LayerStack stack{.name = "layers"};
    for (auto& block : blocks_) stack.layers.push_back(block.get());
    return {std::move(stack)};
  }

  TrainingScript script() const override {
    return {.inputs_up_front = true, .keeps_outputs = true};
  }
  std::unique_ptr<Optimizer> MakeOwnOptimizer(const OptimizerConfig& config,
                                              const std::vector<Tensor>& trained) override {
    // The script of this model has its own AdamW, which is a loop. The foreach and fused
    // implementations are PyTorch's.
    if (config.name != "adamw" || config.impl != OptimizerImpl::kLoop) {
      return nullptr;
    }
    return MakeBasicsAdamW(config, trained);
  }

 private:
  Tensor Embed(const Tensor& ids) {
    ModuleScope scope(embedding_.name());
    return embedding_.weight().index({ids, at::indexing::Slice()});
  }

  const Config config_;
  Weight embedding_;
  Rotary rotary_;
  std::vector<std::unique_ptr<BasicsBlock>> blocks_;
  BasicsNorm norm_;
  BasicsLinear head_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<run::ModelConfig> config = run::ParseModelConfig(json);
  if (!config.ok()) return config.status();
  return std::make_unique<BasicsLm>(Config{.vocab = config->vocab_size,
                                           .width = config->hidden_size,
                                           .inner = config->intermediate_size,
                                           .layers = config->layers,
                                           .heads = config->heads,
                                           .seq = options.seq,
                                           .theta = config->rope_theta,
                                           .eps = config->norm_eps});
}

}  // namespace

Family Declare() {
  return {{.id = "basics",
           .title = "Basics model",
           .model_types = {"basics"},
           .inputs = "token ids and next tokens, [batch, seq]",
           .limits = {{"attention",
                       {"eager"},
                       "the model \"basics\" computes attention with elementary operators"},
                      {"precision",
                       {"fp32", "amp-bf16", "amp-fp16"},
                       "the model \"basics\" keeps its parameters in fp32"}}},
          &Make};
}

}  // namespace vramscope::trainer::basics_lm
