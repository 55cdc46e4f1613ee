// Decoders with rotary positions, in the form that transformers has used since Llama: norm,
// grouped-query attention, and a gated feed-forward part. The config describes how a family differs
// from this. If the config cannot express a difference, the family defines its own layers.
//
//   using Decoder = RotaryDecoder<DecoderLayer>;
//   return std::make_unique<CausalModel<Decoder>>(config, options);   // causal_model.h
//
// Mirrors Hugging Face transformers 4.51: models/llama/modeling_llama.py and its siblings, with
// attn_implementation "eager" or "sdpa", no KV cache, no attention mask given. Not thread-safe; see
// module.h.
#pragma once

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "profiler/run/family.h"
#include "profiler/run/model_config.h"
#include "trainer/models/generation.h"
#include "trainer/models/layers.h"
#include "trainer/models/model.h"
#include "trainer/models/parts.h"
#include "trainer/models/rotary.h"

namespace vramscope::trainer {

// Where adapters can be in a decoder with a gated feed-forward part.
std::vector<run::FamilyDeclaration::LoraChoice> GatedDecoderAdapters();

struct DecoderConfig : run::ModelConfig {
  // Details of the additive mask. mask_by_triangle: the lower triangle is cleared before the mask
  // is compared with the positions. mask_always: SDPA gets a mask even if is_causal would suffice.
  // mask_extra_columns: the mask has this many more columns than there are keys.
  bool mask_by_triangle = false;
  bool mask_always = false;
  int64_t mask_extra_columns = 1;
  RmsNorm::Scale norm_scale = RmsNorm::Scale::kWeight;
  // When a head's query and key are normalized: never, each directly after its projection, or both
  // after all three projections.
  enum class HeadNorms : uint8_t { kNone, kEach, kAfterProjections } head_norms = HeadNorms::kNone;
  // Where the output of the embedding is multiplied by sqrt(hidden_size): in the decoder, with a
  // number, or in the embedding, with a buffer.
  enum class Scaling : uint8_t { kNone, kNumber, kBuffer } embedding_scaling = Scaling::kNone;
  int64_t rotary_dim = 0;       // dimensions of a head that are rotated; 0: all
  double local_rope_theta = 0;  // theta of layers with a window; 0: the same as in other layers
  double attention_scale = 0;   // 0: 1 / sqrt(head_dim)
  double attention_cap = 0;     // eager scores: cap * tanh(scores / cap); 0: not capped
};

// Returns kInvalidArgument if the run's kind of attention cannot apply the window to sequences of
// the run's length.
absl::Status CheckWindow(const DecoderConfig& config, const ModelOptions& options);

at::Tensor Activate(run::Activation activation, const std::string& name, const at::Tensor& x);

// Values that all layers of one forward pass share. The last member is destroyed first. Positions
// and mask are passed to each layer as arguments, so checkpoints save them. The other members live
// until the graph is freed, like Python's tuples.
struct DecoderPass {
  at::Tensor local_sin, local_cos;  // defined if layers with a window have positions of their own
  at::Tensor sin, cos;
  at::Tensor positions;
  at::Tensor mask;  // undefined: the attention operator applies the causal mask

  enum : size_t { kMask, kPositionIds, kPositions };
  // `position_ids` is a view of the positions.
  Carried Arguments(const at::Tensor& position_ids) const {
    return {mask, position_ids, positions};
  }
  DecoderPass Without() const {
    DecoderPass out = *this;
    out.mask.reset();
    out.positions.reset();
    return out;
  }
  DecoderPass With(const Carried& arguments) const {
    DecoderPass out = *this;
    out.mask = arguments[kMask];
    out.positions = arguments[kPositions];
    return out;
  }
};

// Returns the additive causal mask [batch, 1, seq, columns], or an undefined tensor if the
// attention operator applies the mask itself. With a prefix, the operator cannot do that.
at::Tensor CausalMask(const DecoderConfig& config, AttentionKind attention,
                      const at::Tensor& positions, at::ScalarType dtype, int64_t batch,
                      int64_t prefix);

// Like CausalMask(), for a generation pass: returns [batch, 1, s, columns], or an undefined tensor.
at::Tensor GenerationMask(const DecoderConfig& config, AttentionKind attention,
                          const GenerationPass& pass, at::ScalarType dtype);
// Makes the mask for a cache of fixed size, as generate() does before it calls the model.
void PrepareMask(const DecoderConfig& config, GenerationPass& pass, at::ScalarType dtype);

// Applies the run's kind of attention to query, key and value [b, heads, s, d]. Returns the result
// [b, s, heads, d] and, for eager attention, the weights, which the caller's frame keeps.
class AttentionOperator {
 public:
  AttentionOperator(const DecoderConfig& config, const ModelOptions& options);
  std::pair<at::Tensor, at::Tensor> operator()(const at::Tensor& query, const at::Tensor& key,
                                               const at::Tensor& value,
                                               const at::Tensor& mask) const;

 private:
  std::pair<at::Tensor, at::Tensor> Eager(const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& value, const at::Tensor& mask) const;
  AttentionKind kind_;
  int64_t groups_;
  double scale_, cap_, dropout_;
};

Linear::Options Projection(const DecoderConfig& config, const ModelOptions& options, int64_t inputs,
                           int64_t outputs, bool bias);

// The first half of a layer.
class AttentionLayer : public Module {
 public:
  using Module::Module;
  // Also returns the weights of eager attention, because in Python the caller's frame keeps them.
  virtual std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& x, const at::Tensor& mask,
                                                    const at::Tensor& cos,
                                                    const at::Tensor& sin) = 0;
};

class SelfAttention : public AttentionLayer {
 public:
  SelfAttention(const DecoderConfig& config, const ModelOptions& options);
  std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& x, const at::Tensor& mask,
                                            const at::Tensor& cos, const at::Tensor& sin) override;

 private:
  const DecoderConfig& config_;
  AttentionOperator attend_;
  Linear q_, k_, v_, o_;
  std::unique_ptr<RmsNorm> q_norm_, k_norm_;
};

// The second half of a layer, after the attention. `kept` receives what the layer's Python frame
// keeps until it returns.
class FeedForward : public Module {
 public:
  using Module::Module;
  virtual at::Tensor Run(const at::Tensor& x, at::Tensor& kept) = 0;
};

// down(act(gate(x)) * up(x)).
class GatedMlp : public FeedForward {
 public:
  struct Names {
    std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
    bool down_second = false;  // down is registered between gate and up
  };
  GatedMlp(const DecoderConfig& config, const ModelOptions& options)
      : GatedMlp("mlp", config, options, config.intermediate_size, {}) {}
  GatedMlp(std::string name, const DecoderConfig& config, const ModelOptions& options,
           int64_t inner, const Names& names);
  at::Tensor Forward(const at::Tensor& x);
  at::Tensor Run(const at::Tensor& x, at::Tensor&) override {
    return RunPart(Part::kFeedForward, x, [this](const at::Tensor& in) { return Forward(in); });
  }
  // Computes silu(gate) * up, which otherwise takes two operators.
  using Kernel = std::function<at::Tensor(const at::Tensor& gate, const at::Tensor& up)>;
  // Returns false if the activation is not SiLU.
  bool SetKernel(Kernel kernel);

 private:
  run::Activation activation_;
  Linear gate_, up_, down_;
  Kernel kernel_;
};

// A layer: norm, attention, residual, norm, feed-forward part, residual. If the config has
// residual_dropout, dropout precedes each residual.
class DecoderLayer : public Module {
 public:
  using Config = DecoderConfig;
  DecoderLayer(std::string name, const DecoderConfig& config, const ModelOptions& options,
               std::unique_ptr<AttentionLayer> attention, std::unique_ptr<FeedForward> feed);
  // Makes a layer with a gated feed-forward part. Ignores `number`.
  DecoderLayer(std::string name, const DecoderConfig& config, const ModelOptions& options,
               int64_t number);
  at::Tensor Forward(const at::Tensor& input, const DecoderPass& pass);

 private:
  double dropout_;
  std::unique_ptr<AttentionLayer> attention_;
  std::unique_ptr<FeedForward> feed_;
  RmsNorm input_norm_, post_norm_;
};

// The embedding of a decoder. With Scaling::kBuffer, it also multiplies by sqrt(hidden_size).
class DecoderEmbedding : public Embedding {
 public:
  DecoderEmbedding(const DecoderConfig& config, const ModelOptions& options);
  at::Tensor Forward(const at::Tensor& ids);

 private:
  Buffer* scale_ = nullptr;
};

// Returns the positions of the tokens, int64 [seq], beginning with `before`.
at::Tensor Positions(const at::Tensor& ids, int64_t before);
// After the embedding, Positions() and then Scaled() are called, followed by the first layer.
at::Tensor Scaled(const DecoderConfig& config, const at::Tensor& embedded);
at::Tensor Dropped(const DecoderConfig& config, const at::Tensor& embedded);

// "model": all of the model except the output layer. A Layer is constructed from (name, config,
// options, number) and has Forward(hidden, pass). LastNorm is RmsNorm, or LayerNorm in Phi.
template <class Layer, class LastNorm = RmsNorm>
class RotaryDecoder : public Module {
 public:
  using Config = typename Layer::Config;

  RotaryDecoder(const Config& c, const ModelOptions& o)
      : Module("model"),
        config_(c),
        attention_(o.attention),
        embedding_(c, o),
        norm_(MakeNorm(c, o)),
        rotary_("rotary_emb", c, {.width = c.rotary_dim}) {
    AddChild(&embedding_);
    for (int64_t i = 0; i < c.layers; ++i) {
      layers_.push_back(std::make_unique<Layer>("layers." + std::to_string(i), c, o, i));
      AddChild(layers_.back().get());
    }
    if constexpr (kRmsNorm) AddChild(&norm_);
    AddChild(&rotary_);
    if constexpr (!kRmsNorm) AddChild(&norm_);
    if (c.local_rope_theta == 0) return;
    local_ = std::make_unique<RotaryEmbedding>("rotary_emb_local", c,
                                               RotaryEmbedding::Own{.theta = c.local_rope_theta});
    AddChild(local_.get());
  }

  at::Tensor Forward(const at::Tensor& ids, const LayerRunner& runner, bool inputs_require_grad) {
    GenerationPass* generation = Generating();
    const int64_t before = generation != nullptr ? generation->trained_prefix : 0;
    if (before > 0) generation = nullptr;  // this is a training pass that has a cache
    if (generation != nullptr) {
      PrepareMask(config_, *generation, embedding_.weight()->tensor.scalar_type());
    }
    ModuleScope scope(name());
    at::Tensor embedded = embedding_.Forward(ids);
    if (inputs_require_grad) embedded.requires_grad_(true);
    DecoderPass pass;
    pass.positions = generation != nullptr ? generation->positions : Positions(ids, before);
    pass.mask = generation != nullptr
                    ? GenerationMask(config_, attention_, *generation, embedded.scalar_type())
                    : CausalMask(config_, attention_, pass.positions, embedded.scalar_type(),
                                 embedded.size(0), before);
    embedded = Dropped(config_, embedded);
    const at::Tensor position_ids =
        generation != nullptr ? generation->position_ids : pass.positions.unsqueeze(0);
    const at::ScalarType dtype = embedded.scalar_type();
    std::tie(pass.cos, pass.sin) = rotary_.Forward(position_ids, dtype);
    if (local_) std::tie(pass.local_cos, pass.local_sin) = local_->Forward(position_ids, dtype);
    at::Tensor hidden = Scaled(config_, embedded);
    std::vector<LayerFunction> functions;
    functions.reserve(layers_.size());
    for (auto& layer : layers_) {
      // Captures `pass` by value, because layers may run again after this frame has returned.
      functions.push_back(
          [layer = layer.get(), kept = pass.Without()](const at::Tensor& x, Carried& arguments) {
            return layer->Forward(x, kept.With(arguments));
          });
    }
    hidden = RunLayers(runner, std::move(hidden), functions, name(), pass.Arguments(position_ids));
    at::Tensor result = norm_.Forward(hidden);
    functions.clear();
    embedded.reset();
    pass = {};
    hidden.reset();
    return result;
  }

  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& layer : layers_) out.push_back(layer.get());
    return out;
  }
  const std::shared_ptr<Parameter>& embedding_weight() const { return embedding_.weight(); }

 private:
  static constexpr bool kRmsNorm = std::is_same_v<LastNorm, RmsNorm>;
  static LastNorm MakeNorm(const Config& c, const ModelOptions& o) {
    if constexpr (kRmsNorm) {
      return LastNorm("norm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale);
    } else {
      return LastNorm("final_layernorm", c.hidden_size, c.norm_eps, o.dtype);
    }
  }

  const Config& config_;
  AttentionKind attention_;
  DecoderEmbedding embedding_;
  std::vector<std::unique_ptr<Layer>> layers_;
  LastNorm norm_;
  RotaryEmbedding rotary_;
  std::unique_ptr<RotaryEmbedding> local_;
};

}  // namespace vramscope::trainer
