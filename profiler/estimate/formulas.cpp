// The table of formulas. It uses the usual symbols of the literature: b = samples in one forward
// pass, s = tokens, h = hidden size, q = heads x head size, f = feed-forward size, a = heads, V =
// vocabulary size, L = layers, e = bytes per element.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "profiler/base/i18n.h"
#include "profiler/estimate/formula.h"

namespace vramscope::estimate {
namespace {

struct Symbol {
  std::string_view name, what;
};
constexpr Symbol kSymbols[] = {
    {"P", TEXT_MARK("parameters; tied parameters count once")},
    {"K", TEXT_MARK("frozen parameters")},
    {"N", TEXT_MARK("trainable parameters")},
    {"W", TEXT_MARK("weights and biases of the linear layers")},
    {"R", TEXT_MARK("number of rows plus number of columns, summed over the trained matrices")},
    {"e", TEXT_MARK("bytes of an element")},
    {"e_w", TEXT_MARK("bytes of a weight")},
    {"e_g", TEXT_MARK("bytes of a gradient")},
    {"o", TEXT_MARK("bytes of optimizer state per parameter")},
    {"b", TEXT_MARK("samples of one forward pass")},
    {"s", TEXT_MARK("tokens of a sample")},
    {"h", TEXT_MARK("hidden size")},
    {"q", TEXT_MARK("heads x head size")},
    {"f", TEXT_MARK("feed-forward size")},
    {"a", TEXT_MARK("heads")},
    {"V", TEXT_MARK("vocabulary")},
    {"L", TEXT_MARK("layers")},
    {"k", TEXT_MARK("layers per checkpointed segment")},
    {"g", TEXT_MARK("key-value heads")},
    {"d", TEXT_MARK("head size")},
    {"w", TEXT_MARK("sliding window")},
    {"c", TEXT_MARK("compressed key-value size")},
    {"r", TEXT_MARK("rotary size of a key")},
    {"B", TEXT_MARK("elements that share one scale")},
    {"D", TEXT_MARK("1 if dropout applies to the attention weights, otherwise 0")},
    {"p", TEXT_MARK("1 if dropout applies to the residual branches, otherwise 0")},
    {"u", TEXT_MARK("tensors of feed-forward size that the activation function keeps")},
    {"n", TEXT_MARK("number of GPUs")},
    {"i", TEXT_MARK("pipeline stage, counted from 0")},
    {"m", TEXT_MARK("micro-batches in one optimizer step")},
    {"x", TEXT_MARK("elements per token that linear layers keep for backward")},
    {"t", TEXT_MARK("trained virtual tokens that are prepended to the sequence")},
    {"rank", TEXT_MARK("rank of the low-rank gradient")},
    {"pools", TEXT_MARK("bytes in the pool of captured CUDA graphs")},
    {"boundary", TEXT_MARK("bytes of one layer's input")},
    {"block", TEXT_MARK("bytes that a layer keeps for backward")},
    {"attention", TEXT_MARK("bytes that a layer's attention keeps for backward")},
    {"weights", TEXT_MARK("bytes")},
    {"gradients", TEXT_MARK("bytes")},
    {"state", TEXT_MARK("bytes of optimizer state")},
    {"activations", TEXT_MARK("bytes kept by the forward pass")},
    {"loss", TEXT_MARK("bytes")},
    {"temporaries", TEXT_MARK("bytes")},
};

constexpr std::string_view kStored = TEXT_MARK("parameters x bytes of a parameter");
constexpr std::string_view kAdamStates = TEXT_MARK(
    "torch.optim creates the optimizer state in the first step, in the dtype of the weights");
constexpr std::string_view kKept = TEXT_MARK(
    "the sum of the bytes that PyTorch requests for the tensors that each operator saves for "
    "autograd");

struct Row {
  std::string_view id, title, text, source;
};
constexpr Row kRows[] = {
    {"weights", TEXT_MARK("Weights"), "e_w * P", kStored},
    {"gradients", TEXT_MARK("Gradients"), "e_g * N",
     TEXT_MARK("one element per trainable parameter, kept from backward until zero_grad")},
    {"state-sgd", TEXT_MARK("Optimizer state, SGD"), "0 * N",
     TEXT_MARK("torch.optim.SGD without momentum keeps no state")},
    {"state-momentum", TEXT_MARK("Optimizer state, SGD with momentum"), "e_w * N", kAdamStates},
    {"state-adam", TEXT_MARK("Optimizer state, Adam"), "2 * e_w * N", kAdamStates},
    {"state-adam-8bit", TEXT_MARK("Optimizer state, 8-bit Adam"), "2 * (1 + 4/B) * N",
     TEXT_MARK("two 8-bit moments, and one fp32 scale per block. The state of tensors below 4096 "
               "elements stays in fp32. With the Trainer of transformers, the state of embeddings "
               "also stays in fp32")},
    {"state-lion", TEXT_MARK("Optimizer state, Lion"), "e_w * N",
     TEXT_MARK("one moment in the weight's dtype")},
    {"state-adafactor", TEXT_MARK("Optimizer state, Adafactor"), "4 * R",
     TEXT_MARK("the second moment is factored into one value per row and one per column; there is "
               "no first moment")},
    {"training", TEXT_MARK("Full training"), "(e_w + e_g + o) * P",
     TEXT_MARK("weights, gradients and optimizer state; with two moments, the total is four times "
               "the weights")},
    {"peft-static", TEXT_MARK("Adapters: weights, gradients, optimizer state"),
     "e_w * K + (e_w + e_g + o) * N",
     TEXT_MARK("K parameters are frozen and N are added. This requires K + N weights, N gradients "
               "and 2 N moments")},
    {"peft-saved", TEXT_MARK("Adapters: savings over full training"), "e * (3*K - 4*N)",
     TEXT_MARK("K parameters are frozen and N are added. Full training needs 4 x K elements, and "
               "training with adapters needs K + 4 x N elements")},
    {"kv-cache", TEXT_MARK("Keys and values, multi-head"), "2 * e * L * b * s * a * d",
     TEXT_MARK("one key and one value per token, head and layer")},
    {"kv-cache-grouped", TEXT_MARK("Keys and values, grouped heads"), "2 * e * L * b * s * g * d",
     TEXT_MARK("g is the number of key-value heads: 1 for multi-query attention, and the number of "
               "heads for multi-head attention")},
    {"kv-cache-window", TEXT_MARK("Keys and values, sliding window"),
     "2 * e * L * b * min(s, w) * g * d", TEXT_MARK("tokens older than the window are dropped")},
    {"kv-cache-latent", TEXT_MARK("Keys and values, latent attention"), "e * L * b * s * (c + r)",
     TEXT_MARK("one compressed vector and one rotary key per token and layer, regardless of the "
               "number of heads")},
    {"prefix-trained", TEXT_MARK("Trained by prefix tuning"), "t * 2 * L * g * d",
     TEXT_MARK("each trained virtual token has keys and values in each layer")},
    {"prompt-trained", TEXT_MARK("Trained by prompt tuning"), "t * h",
     TEXT_MARK("an embedding for each trained virtual token")},
    {"state-galore", TEXT_MARK("Optimizer state, GaLore (one h x f matrix)"),
     "e_w * (min(h, f) * rank + 2 * rank * max(h, f))",
     TEXT_MARK("one matrix that projects the shorter side to the rank, and two moments, each of "
               "size rank x longer side")},
    {"state-adam-16bit", TEXT_MARK("Optimizer state, Adam in bfloat16"), "2 * 2 * N",
     TEXT_MARK("two 16-bit moments")},
    {"state-adam-4bit", TEXT_MARK("Optimizer state, 4-bit Adam"), "2 * (1/2 + 4/B) * N",
     TEXT_MARK("two 4-bit moments, and one fp32 scale per block")},
    // Techniques that the window explains but cannot run.
    {"tensor-parallel-layer",
     TEXT_MARK("Formula only, not planned: activations kept by a layer with tensor parallelism"),
     "b*s*h*e/2*(10 + 24/n) + b*a*s*s*(2*e + 1)/n",
     TEXT_MARK("without sequence parallelism, each GPU holds the complete inputs and outputs of "
               "the tensor-parallel regions, and its share of the tensors inside these regions")},
    {"sequence-parallel-layer",
     TEXT_MARK("Formula only, not planned: activations kept by a layer with tensor and sequence "
               "parallelism"),
     "(34*b*s*h*e/2 + b*a*s*s*(2*e + 1))/n",
     TEXT_MARK("the tensors between the tensor-parallel regions are also split, along the tokens")},
    {"pipeline-stage", TEXT_MARK("Formula only, not planned: a stage of a pipeline (1F1B)"),
     "(weights + gradients + state)/n + min(n - i, m) * activations/n",
     TEXT_MARK(
         "a stage holds its layers, and the activations of the micro-batches that it has "
         "started. With n GPUs and m micro-batches, the ratio of idle time to work is (n - 1)/m")},
    {"context-parallel", TEXT_MARK("Formula only, not planned: context parallel (ring attention)"),
     "activations/n + 2 * 2 * e * b * s/n * g * d",
     TEXT_MARK("each GPU holds a part of the sequence, and two buffers for the keys and values "
               "that the GPUs pass around the ring")},
    {"captured-graphs", TEXT_MARK("Formula only, not planned: CUDA graphs"),
     "weights + gradients + state + "
     "activations + pools",
     TEXT_MARK("captured graphs keep a memory pool that nothing else can use. vramscope cannot add "
               "CUDA graphs to a run, but it opens snapshots that contain such pools")},
    {"fp8", TEXT_MARK("Formula only, not planned: linear layers in 8-bit floating point"),
     "activations - (e - 1) * b * s * x + W",
     TEXT_MARK("inputs of linear layers and a copy of each weight take one byte per element")},
    {"forward-only",
     TEXT_MARK("Formula only, not planned: training by forward passes alone (MeZO)"),
     "weights + temporaries",
     TEXT_MARK("this method keeps no gradients, no optimizer state and no activations. It needs as "
               "much memory as inference, and runs two forward passes per step")},
    {"reversible", TEXT_MARK("Formula only, not planned: reversible layers"),
     "2 * e * b * s * h + block",
     TEXT_MARK("only the last layer's outputs are kept. Backward computes the inputs of each layer "
               "again, from the layer's own outputs")},
    {"block-gelu", TEXT_MARK("Kept by a transformer layer with GELU"),
     "b*s*(e*(8*h + u*f) + 2*p*h + 16)",
     TEXT_MARK("kept tensors: inputs, outputs, means and deviations of both norms; q, k, v and the "
               "output of attention; the feed-forward input and output. The activation function "
               "keeps u tensors: 2 for GELU, or 5 if separate operators compute GELU's tanh form")},
    {"block-gelu-autocast", TEXT_MARK("Kept by a transformer layer with GELU and autocast"),
     "b*s*(20*h + u*f + 2*p*h + 16) + 2*W",
     TEXT_MARK(
         "the tensors kept by the norms (fp32), all other tensors in 16 bits, and 16-bit "
         "copies of the weights. Here, u is bytes per feed-forward element: 4 for GELU, or 16 if "
         "separate operators compute GELU's tanh form")},
    {"block-swiglu", TEXT_MARK("Kept by a transformer layer with SwiGLU"),
     "b*s*(e*(6*h + 4*q + 4*f) + 2*(4 - e)*h + 8)", kKept},
    {"block-swiglu-autocast", TEXT_MARK("Kept by a transformer layer with SwiGLU and autocast"),
     "b*s*(26*h + 8*q + 8*f + 8) + 2*W",
     TEXT_MARK(
         "the tensors kept by the norms (fp32), one 16-bit input for each linear layer, and 16-bit "
         "copies of the weights")},
    {"attention-efficient", TEXT_MARK("Kept by memory-efficient attention"), "4*b*a*32*ceil(s/32)",
     TEXT_MARK("the log-sum-exp of the scores, in fp32")},
    {"attention-flash", TEXT_MARK("Kept by flash attention"), "b*s*(4*a + e*q) + 24",
     TEXT_MARK(
         "the log-sum-exp in fp32, a second copy of the output, and the random generator's state")},
    {"attention-eager", TEXT_MARK("Kept by eager attention"),
     "b*a*s*s*(4 + (1 - D)*(4 - e) + D*(1 + e))",
     TEXT_MARK("the result of softmax in fp32, and a copy of it in the model's dtype")},
    {"attention-eager-low", TEXT_MARK("Kept by eager attention"), "b*a*s*s*(e + D*(1 + e))",
     TEXT_MARK("the result of softmax in the model's dtype")},
    {"attention-math", TEXT_MARK("Kept by math attention"), "b*a*s*s*(4 + 5*D) + 3*(4 - e)*b*s*q",
     TEXT_MARK("scaled_dot_product_attention without a fused kernel computes in fp32")},
    {"layer", TEXT_MARK("Kept by one layer"), "block + attention",
     TEXT_MARK("the layer's own tensors and those of its attention")},
    {"boundaries", TEXT_MARK("Kept by checkpointing every k layers"), "ceil(L/k)*boundary",
     TEXT_MARK("the input of every segment")},
    {"last-norm", TEXT_MARK("Kept by the last norm"), "b*s*(3*e*h + (4 - e)*h + 4)", kKept},
    {"last-norm-autocast", TEXT_MARK("Kept by the last norm and the output layer, with autocast"),
     "b*s*(10*h + 4) + 2*V*h", TEXT_MARK("the output layer's input and weights in 16 bits")},
    {"last-layer-norm", TEXT_MARK("Kept by the embedding and the last norm"),
     "b*s*(2*e*h + p*h + 8)", kKept},
    {"last-layer-norm-autocast",
     TEXT_MARK("Kept by the embedding, the last norm and the output layer, with autocast"),
     "b*s*(6*h + p*h + 8) + 2*V*h", TEXT_MARK("the output layer's input and weights in 16 bits")},
    {"activations", TEXT_MARK("Kept by all layers"), "L * block", kKept},
    {"loss", TEXT_MARK("Kept by the loss"), "4*b*s*V", TEXT_MARK("log-softmax in fp32")},
    {"logits", TEXT_MARK("Logits"), "e*b*s*V",
     TEXT_MARK("the model's output, which is freed before backward unless the program keeps it")},
    {"loss-backward", TEXT_MARK("Allocated at the start of backward"), "8*b*s*V",
     TEXT_MARK("the gradients of log-softmax and of the fp32 logits")},
    {"peak-backward", TEXT_MARK("Peak at the start of backward"),
     "weights + state + gradients + activations + loss",
     TEXT_MARK("gradients are included only if an earlier micro-batch left them")},
    {"peak-recompute", TEXT_MARK("Peak while a segment is recomputed"),
     "weights + state + gradients + activations + k*block",
     TEXT_MARK("one whole segment, plus the inputs that all segments keep")},
    {"peak-optimizer", TEXT_MARK("Peak in the optimizer step"),
     "weights + gradients + state + temporaries",
     TEXT_MARK("a foreach optimizer makes one temporary copy of the trained weights; fused and "
               "for-loop optimizers need almost no temporary memory")},
};

bool IsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the terms in a formula's text, in the order of their first use.
std::vector<Term> TermsOf(std::string_view text) {
  std::vector<Term> terms;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsName(text[end])) ++end;
    if (end == i) {
      ++i;
      continue;
    }
    const std::string_view name = text.substr(i, end - i);
    const auto symbol = std::ranges::find(kSymbols, name, &Symbol::name);
    const bool call = end < text.size() && text[end] == '(';
    if (!call && symbol != std::end(kSymbols) &&
        std::ranges::find(terms, name, &Term::name) == terms.end()) {
      terms.push_back({std::string(name), std::string(symbol->what), 0});
    }
    i = end;
  }
  return terms;
}

}  // namespace

const std::vector<Formula>& Formulas() {
  static const std::vector<Formula>* table = [] {
    auto* formulas = new std::vector<Formula>;
    for (const Row& row : kRows) {
      formulas->push_back({std::string(row.id), std::string(row.title), std::string(row.text),
                           std::string(row.source), TermsOf(row.text)});
    }
    return formulas;
  }();
  return *table;
}

absl::StatusOr<Formula> Evaluate(std::string_view id, const Values& values) {
  const auto found = std::ranges::find(Formulas(), id, &Formula::id);
  if (found == Formulas().end()) {
    return absl::NotFoundError(i18n::Format("no formula is called \"{}\"", id.substr(0, 60)));
  }
  Formula formula = *found;
  std::vector<bool> given(formula.terms.size());
  for (const auto& [name, value] : values) {
    const auto term = std::ranges::find(formula.terms, name, &Term::name);
    if (term == formula.terms.end() || !std::isfinite(value)) {
      return absl::InvalidArgumentError(term == formula.terms.end()
                                            ? i18n::Format("formula {}: {} is not one of its terms",
                                                           formula.id, name.substr(0, 60))
                                            : i18n::Format("formula {}: {} is not a finite number",
                                                           formula.id, name.substr(0, 60)));
    }
    term->value = value;
    given[static_cast<size_t>(term - formula.terms.begin())] = true;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    return absl::InvalidArgumentError(i18n::Format("formula {}: a value for {} ({}) is missing",
                                                   formula.id, formula.terms[i].name,
                                                   formula.terms[i].what));
  }
  const absl::StatusOr<double> value = EvaluateExpression(formula.text, formula.terms);
  if (!value.ok()) return value.status();
  formula.value = *value;
  return formula;
}

}  // namespace vramscope::estimate
