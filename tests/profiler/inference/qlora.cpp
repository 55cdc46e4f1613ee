#include "tests/profiler/inference/qlora.h"

#include <utility>

namespace vramscope::testing {
namespace {

using trace::Category;
using trace::Phase;

constexpr uint64_t kHidden = 2048, kKeys = 256, kInner = 5632, kVocabulary = 32000;
const std::string kSite = "/venv/lib/python3.11/site-packages/";

const MadeFrame kScript = {"<module>", "/home/someone/finetune.py", 210};
const MadeFrame kCall = {"_call_impl", kSite + "torch/nn/modules/module.py", 1784};

MadeStack Onto(const MadeStack& inner, const MadeStack& outer) {
  MadeStack stack = inner;
  stack.insert(stack.end(), outer.begin(), outer.end());
  return stack;
}

const MadeStack kModel = {{"forward", kSite + "transformers/models/llama/modeling_llama.py", 290},
                          kCall,
                          {"forward", kSite + "transformers/models/llama/modeling_llama.py", 459},
                          kCall,
                          {"forward", kSite + "peft/peft_model.py", 1719},
                          kCall,
                          {"compute_loss", kSite + "transformers/trainer.py", 3810},
                          {"training_step", kSite + "transformers/trainer.py", 3734},
                          {"train", kSite + "transformers/trainer.py", 2240},
                          kScript};
const MadeStack kHead = {{"forward", kSite + "torch/nn/modules/linear.py", 125},
                         kCall,
                         {"forward", kSite + "transformers/models/llama/modeling_llama.py", 480},
                         kCall,
                         {"forward", kSite + "peft/peft_model.py", 1719},
                         kScript};
const MadeStack kLoss = {{"cross_entropy", kSite + "torch/nn/functional.py", 3494},
                         {"fixed_cross_entropy", kSite + "transformers/loss/loss_utils.py", 36},
                         {"ForCausalLMLoss", kSite + "transformers/loss/loss_utils.py", 60},
                         {"forward", kSite + "transformers/models/llama/modeling_llama.py", 485},
                         kCall,
                         kScript};
const MadeStack kEngine = {
    {"torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"},
    {"torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)"}};
const MadeStack kProduct =
    Onto({{"at::_ops::mm::call(at::Tensor const&, at::Tensor const&)"},
          {"torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)"}},
         kEngine);
const MadeStack kStep = {{"_multi_tensor_adamw", kSite + "torch/optim/adamw.py", 700},
                         {"step", kSite + "torch/optim/adamw.py", 243},
                         {"wrapper", kSite + "torch/optim/optimizer.py", 533},
                         {"train", kSite + "transformers/trainer.py", 2400},
                         kScript};
const MadeStack kStates = {{"_init_group", kSite + "torch/optim/adamw.py", 180},
                           {"step", kSite + "torch/optim/adamw.py", 230},
                           {"wrapper", kSite + "torch/optim/optimizer.py", 533},
                           kScript};
const MadeStack kZero = {{"zero_grad", kSite + "torch/optim/optimizer.py", 1060}, kScript};
const MadeStack kFetch = {{"_prepare_inputs", kSite + "transformers/trainer.py", 3640}, kScript};
const MadeStack kLoad = {
    {"to", kSite + "bitsandbytes/nn/modules.py", 330},
    {"create_quantized_param", kSite + "transformers/quantizers/quantizer_bnb_4bit.py", 230},
    {"_load_pretrained_model", kSite + "transformers/modeling_utils.py", 4780},
    {"from_pretrained", kSite + "transformers/modeling_utils.py", 4260},
    kScript};
const MadeStack kQuantize = Onto({{"quantize_4bit", kSite + "bitsandbytes/functional.py", 1190},
                                  {"_quantize", kSite + "bitsandbytes/nn/modules.py", 300}},
                                 kLoad);
const MadeStack kPrepare = {{"prepare_model_for_kbit_training", kSite + "peft/utils/other.py", 150},
                            kScript};
const MadeStack kAdapter = {{"__init__", kSite + "torch/nn/modules/linear.py", 105},
                            {"update_layer", kSite + "peft/tuners/lora/layer.py", 120},
                            {"get_peft_model", kSite + "peft/mapping.py", 220},
                            kScript};

}  // namespace

Qlora::Qlora(const Options& options) : o_(options) {
  const auto add = [&](Layer& layer, const char* name, uint64_t in, uint64_t out) {
    Linear linear{name, in, out, 0, 0};
    linear.a = static_cast<uint32_t>(adapters_.size());
    adapters_.push_back({.bytes = in * o_.rank * 4});
    linear.b = static_cast<uint32_t>(adapters_.size());
    adapters_.push_back({.bytes = out * o_.rank * 4});
    layer.linears.push_back(linear);
  };
  for (uint32_t l = 0; l < o_.layers; ++l) {
    Layer& layer = layers_.emplace_back();
    add(layer, "q_proj", kHidden, kHidden);
    add(layer, "k_proj", kHidden, kKeys);
    add(layer, "v_proj", kHidden, kKeys);
    add(layer, "o_proj", kHidden, kHidden);
    add(layer, "gate_proj", kHidden, kInner);
    add(layer, "up_proj", kHidden, kInner);
    add(layer, "down_proj", kInner, kHidden);
  }
  saved_.resize(o_.layers);
  Load();
  if (!o_.recorded_from_start) p_.Record();
}

uint64_t Qlora::AdapterBytes() const {
  uint64_t bytes = 0;
  for (const Adapter& a : adapters_) bytes += a.bytes;
  return bytes;
}

void Qlora::Load() {
  p_.Enter(Phase::kSetup);
  const uint32_t load = p_.Stack(kLoad), quantize = p_.Stack(kQuantize);
  std::vector<std::pair<uint32_t, uint64_t>> halves;  // bf16, converted to fp32 later
  const auto plain = [&](uint64_t elements) {
    halves.emplace_back(p_.Alloc(elements * 2, Category::kParameter, load), elements);
  };
  plain(kVocabulary * kHidden);
  for (const Layer& layer : layers_) {
    for (const Linear& linear : layer.linears) {
      const uint64_t n = linear.in * linear.out;
      const uint32_t half = p_.Alloc(n * 2, Category::kTemporary, load);
      const uint32_t absmax = p_.Alloc(n / 64 * 4, Category::kTemporary, quantize);
      p_.Alloc(n / 2, Category::kParameter, quantize);
      p_.Alloc(16 * 4, Category::kParameter, quantize);  // the quantization map of 4 bits
      p_.Alloc(4, Category::kParameter, quantize);       // offset
      p_.Alloc(n / 64, Category::kParameter, quantize);  // absmax, quantised itself
      p_.Alloc((n / 64 + 255) / 256 * 4, Category::kParameter, quantize);
      p_.Alloc(256 * 4, Category::kParameter, quantize);  // its quantization map
      p_.Free({absmax, half});
    }
    plain(kHidden);
    plain(kHidden);
  }
  plain(kHidden);
  plain(kVocabulary * kHidden);
  for (const auto& [half, elements] : halves) {
    p_.Alloc(elements * 4, Category::kParameter, p_.Stack(kPrepare));
    p_.Free(half);
  }
  for (Adapter& a : adapters_) {
    a.parameter = p_.Alloc(a.bytes, Category::kParameter, p_.Stack(kAdapter));
  }
}

// Like bitsandbytes.functional.dequantize_4bit, allocates absmax and the weight and frees absmax.
// Returns the weight, which the caller must free.
uint32_t Qlora::Dequantised(const Linear& linear, const MadeStack& around) {
  const uint64_t n = linear.in * linear.out;
  const uint32_t stack =
      p_.Stack(Onto({{"dequantize_4bit", kSite + "bitsandbytes/functional.py", 1320}}, around));
  const Category truth = around == kEngine ? Category::kAutogradDetail : Category::kTemporary;
  const uint32_t absmax = p_.Alloc(n / 64 * 4, truth, stack);
  const uint32_t weight = p_.Alloc(n * 2, truth, stack);
  p_.Free(absmax);
  return weight;
}

std::vector<uint32_t> Qlora::LayerForward(uint32_t layer, bool save, const MadeStack& around) {
  const uint64_t t = o_.tokens;
  std::vector<uint32_t> saved;
  const auto make = [&](uint64_t bytes, const MadeStack& stack, bool keep) {
    const uint32_t block = p_.Alloc(bytes, Saved(save && keep), p_.Stack(stack));
    if (keep) saved.push_back(block);
    // If nothing is saved for backward, a tensor is freed once the next ones have been computed.
    if (!save && saved.size() > 3) {
      p_.Free(saved.front());
      saved.erase(saved.begin());
    }
    return block;
  };
  const MadeStack norm =
      Onto({{"forward", kSite + "transformers/models/llama/modeling_llama.py", 66}, kCall}, around);
  const MadeStack lora = Onto({{"forward", kSite + "peft/tuners/lora/bnb.py", 500}, kCall}, around);
  const MadeStack base = Onto({{"matmul_4bit", kSite + "bitsandbytes/autograd/_functions.py", 530},
                               {"forward", kSite + "bitsandbytes/nn/modules.py", 484},
                               kCall},
                              lora);
  const auto normed = [&] {
    const uint32_t square = make(t * kHidden * 4, norm, false);
    make(t * 4, norm, true);
    p_.Free(square);
    make(t * kHidden * 4, norm, true);
  };
  const auto product = [&](const Linear& linear) {
    const uint32_t weight = Dequantised(linear, base);
    const uint32_t out = make(t * linear.out * 2, base, false);
    p_.Free(weight);
    make(t * linear.in * 4, lora, true);  // x, converted to fp32
    make(t * o_.rank * 4, lora, true);    // x A
    const uint32_t of_b = make(t * linear.out * 4, lora, false);
    const uint32_t scaled = make(t * linear.out * 4, lora, false);
    p_.Free(of_b);
    make(t * linear.out * 4, lora, true);
    p_.Free({scaled, out});
  };
  const auto& linears = layers_[layer].linears;
  normed();
  for (int i = 0; i < 3; ++i) product(linears[static_cast<size_t>(i)]);
  make(t * kHidden * 2, around, true);  // attention
  make(t * 32 * 4, around, true);       // its logsumexp
  product(linears[3]);
  make(t * kHidden * 4, around, true);  // residual
  normed();
  product(linears[4]);
  make(t * kInner * 4, around, true);  // silu
  product(linears[5]);
  make(t * kInner * 4, around, true);
  product(linears[6]);
  make(t * kHidden * 4, around, true);
  return saved;
}

void Qlora::Forward() {
  const uint64_t t = o_.tokens;
  p_.Enter(Phase::kData);
  for (uint32_t& block : batch_) {
    const uint32_t old = block;
    block = p_.Alloc(t * 8, Category::kInput, p_.Stack(kFetch));
    if (old != UINT32_MAX) p_.Free(old);
  }
  p_.Enter(Phase::kForward);
  head_ = {p_.Alloc(t * kHidden * 4, Category::kActivation, p_.Stack(kModel))};
  for (uint32_t l = 0; l < o_.layers; ++l) {
    saved_[l] = LayerForward(l, !o_.checkpointing, kModel);
    if (!o_.checkpointing) continue;
    const uint32_t output = saved_[l].back();  // the next layer's input is kept
    saved_[l].pop_back();
    for (const uint32_t block : saved_[l]) p_.Free(block);
    p_.Becomes(output, Category::kActivation);
    saved_[l] = {output};
  }
  head_.push_back(p_.Alloc(t * kHidden * 4, Category::kActivation, p_.Stack(kModel)));
  head_.push_back(p_.Alloc(t * kVocabulary * 4, Category::kActivation, p_.Stack(kHead)));
  p_.Enter(Phase::kLoss);
  head_.push_back(p_.Alloc(t * kVocabulary * 4, Category::kActivation, p_.Stack(kLoss)));
  if (loss_ != UINT32_MAX) p_.Free(loss_);
  loss_ = p_.Alloc(4, Category::kActivation, p_.Stack(kLoss));
}

void Qlora::Gradient(uint32_t adapter, const MadeStack& around) {
  Adapter& a = adapters_[adapter];
  const uint32_t made = p_.Alloc(a.bytes, Category::kAutogradDetail, p_.Stack(around));
  if (a.gradient == UINT32_MAX) {
    a.gradient = made;
    p_.Becomes(made, Category::kGradient);
  } else {
    p_.Free(made);  // added to the existing gradient
  }
}

void Qlora::LayerBackward(uint32_t layer, std::vector<uint32_t> saved) {
  const uint64_t t = o_.tokens;
  const auto detail = [&](uint64_t bytes) {
    return p_.Alloc(bytes, Category::kAutogradDetail, p_.Stack(kProduct));
  };
  const auto drop = [&](size_t count) {
    for (; count > 0 && !saved.empty(); --count) {
      p_.Free(saved.back());
      saved.pop_back();
    }
  };
  const auto& linears = layers_[layer].linears;
  for (size_t i = linears.size(); i-- > 0;) {
    const Linear& linear = linears[i];
    const uint32_t gradient = detail(t * linear.out * 4);
    const uint32_t scaled = detail(t * linear.out * 4);
    Gradient(linear.b, kProduct);
    const uint32_t of_a = detail(t * o_.rank * 4);
    p_.Free(scaled);
    Gradient(linear.a, kProduct);
    const uint32_t of_x = detail(t * linear.in * 4);
    p_.Free(of_a);
    const MadeStack backward =
        Onto({{"backward", kSite + "bitsandbytes/autograd/_functions.py", 470},
              {"apply", kSite + "torch/autograd/function.py", 307}},
             kEngine);
    const uint32_t absmax =
        p_.Alloc(linear.in * linear.out / 64 * 4, Category::kAutogradDetail, p_.Stack(backward));
    const uint32_t weight =
        p_.Alloc(linear.in * linear.out * 2, Category::kAutogradDetail, p_.Stack(backward));
    p_.Free(absmax);
    const uint32_t product =
        p_.Alloc(t * linear.in * 2, Category::kAutogradDetail, p_.Stack(backward));
    p_.Free(weight);
    const uint32_t sum = detail(t * linear.in * 4);
    p_.Free({product, of_x, gradient});
    drop(3);
    p_.Free(sum);
  }
  drop(saved.size());
}

void Qlora::Backward() {
  const uint64_t t = o_.tokens;
  p_.Enter(Phase::kBackward);
  const auto detail = [&](uint64_t bytes) {
    return p_.Alloc(bytes, Category::kAutogradDetail, p_.Stack(kProduct));
  };
  const uint32_t one = detail(4);
  const uint32_t logits = detail(t * kVocabulary * 4);
  p_.Free(head_.back());
  head_.pop_back();
  const uint32_t hidden = detail(t * kHidden * 4);
  p_.Free({logits, head_.back()});
  head_.pop_back();
  p_.Free({head_.back(), hidden});
  head_.pop_back();
  for (uint32_t l = o_.layers; l-- > 0;) {
    std::vector<uint32_t> saved = saved_[l];
    if (o_.checkpointing) {
      const uint32_t input = saved_[l].front();
      saved = LayerForward(l, true,
                           Onto({{"forward", kSite + "transformers/modeling_layers.py", 90},
                                 kCall,
                                 {"recompute_fn", kSite + "torch/utils/checkpoint.py", 1130},
                                 {"unpack_hook", kSite + "torch/utils/checkpoint.py", 1200}},
                                kEngine));
      saved.insert(saved.begin(), input);
    }
    LayerBackward(l, std::move(saved));
    saved_[l].clear();
  }
  p_.Free({head_.back(), one});
  head_.clear();
  if (loss_ != UINT32_MAX) p_.Becomes(loss_, Category::kTemporary);
}

void Qlora::OptimizerStep() {
  p_.Enter(Phase::kOptimizer);
  for (Adapter& a : adapters_) {
    for (uint32_t& moment : a.moments) {
      if (moment == UINT32_MAX) {
        moment = p_.Alloc(a.bytes, Category::kOptimizerState, p_.Stack(kStates));
      }
    }
  }
  std::vector<uint32_t> roots, scaled;
  for (const Adapter& a : adapters_) {
    roots.push_back(p_.Alloc(a.bytes, Category::kTemporary, p_.Stack(kStep)));
  }
  for (const Adapter& a : adapters_) {
    scaled.push_back(p_.Alloc(a.bytes, Category::kTemporary, p_.Stack(kStep)));
  }
  for (const uint32_t block : scaled) p_.Free(block);
  for (const uint32_t block : roots) p_.Free(block);
}

void Qlora::ZeroGrad() {
  p_.Enter(Phase::kZeroGrad);
  // Only frees follow. They have the stack of zero_grad.
  p_.In(p_.Stack(kZero));
  for (Adapter& a : adapters_) {
    if (a.gradient == UINT32_MAX) continue;
    p_.Free(a.gradient);
    a.gradient = UINT32_MAX;
  }
}

void Qlora::Train(int steps) {
  for (int s = 0; s < steps; ++s) {
    p_.Step(s);
    Forward();
    Backward();
    OptimizerStep();
    ZeroGrad();
    p_.Step(-1);
  }
}

void Qlora::Generate(int passes) {
  const uint64_t t = o_.tokens;
  for (int i = 0; i < passes; ++i) {
    p_.Enter(Phase::kForward);
    uint32_t input = p_.Alloc(t * kHidden * 4, Category::kTemporary, p_.Stack(kModel));
    for (uint32_t l = 0; l < o_.layers; ++l) {
      std::vector<uint32_t> made = LayerForward(l, false, kModel);
      const uint32_t output = made.back();
      made.pop_back();
      for (const uint32_t block : made) p_.Free(block);
      p_.Free(input);
      input = output;
    }
    const uint32_t logits = p_.Alloc(kVocabulary * 4, Category::kTemporary, p_.Stack(kHead));
    p_.Free({input, logits});
  }
}

}  // namespace vramscope::testing
