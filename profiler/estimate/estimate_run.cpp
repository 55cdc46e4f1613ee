#include "profiler/estimate/estimate_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/estimate/weights.h"

namespace vramscope::estimate {
namespace {

// The settings of the run that the formulas need.
struct Settings {
  double b = 0, s = 0;  // sequences of a micro-batch; tokens of a sequence
  double e_w = 4;       // bytes of one weight, and of its gradient
  double e = 4;         // bytes of one element of an activation
  bool autocast = false;
  bool frozen = false;  // some weights are not trained
  std::string_view attention, optimizer;
  std::string_view state_formula;
  double state_bytes = 0;  // optimizer state of each parameter
  bool foreach = false;
  bool accumulates = false;
  int segment = 0;  // layers between checkpoints; 0: no checkpoints
};

Settings Read(const run::RunConfig& config) {
  Settings out;
  out.b = std::max(1, config.batch / std::max(1, config.micro_batches));
  out.s = config.seq;
  out.e_w = static_cast<double>(BytesPerWeight(config.Get("precision")));
  out.autocast = config.Is("precision", "amp-bf16") || config.Is("precision", "amp-fp16");
  out.e = config.Is("precision", "fp32") ? 4 : 2;
  out.frozen = config.Integer("lora.rank") > 0 || !config.Is("trainable", "all");
  out.attention = config.Get("attention");
  out.optimizer = config.Get("optimizer.name");
  const bool adam =
      out.optimizer == "adam" || out.optimizer == "adamw" || out.optimizer == "adam-2023";
  const bool momentum = config.Number("optimizer.momentum") > 0;
  out.state_formula = adam ? "state-adam" : momentum ? "state-momentum" : "state-sgd";
  out.state_bytes = adam ? 2 * out.e_w : momentum ? out.e_w : 0;
  out.foreach = adam && config.Is("optimizer.impl", "foreach");
  out.accumulates = config.micro_batches > 1;
  if (config.Is("checkpointing.mode", "layer")) out.segment = 1;
  if (config.Is("checkpointing.mode", "every-k"))
    out.segment = static_cast<int>(config.Integer("checkpointing.k"));
  return out;
}

struct LinearLayer {
  std::string_view name;
  int64_t inputs, outputs;
};

std::vector<LinearLayer> LinearLayers(const run::ModelConfig& m) {
  const int64_t h = m.hidden_size, f = m.intermediate_size;
  const int64_t q = m.heads * m.head_dim, kv = m.kv_heads * m.head_dim;
  if (m.family == run::Family::kGpt2)
    return {{"c_attn", h, 3 * h}, {"c_proj", h, h}, {"c_fc", h, f}, {"c_proj", f, h}};
  if (m.family != run::Family::kLlama) return {};
  return {{"q_proj", h, q},    {"k_proj", h, kv}, {"v_proj", h, kv},  {"o_proj", q, h},
          {"gate_proj", h, f}, {"up_proj", h, f}, {"down_proj", f, h}};
}

// Returns whether the target names a module of a single layer, such as "layers.3.self_attn.q_proj".
// A target such as "q_proj" matches a module in every layer.
bool NamesOneLayer(std::string_view target) {
  for (size_t i = 0; i < target.size(); ++i) {
    const bool digit = target[i] >= '0' && target[i] <= '9';
    if (digit && i > 0 && target[i - 1] == '.') return true;
  }
  return false;
}

uint64_t BlockParameters(const WeightCount& count) {
  if (count.layers == 0) return 0;
  // All norms have the same size: two norms per layer, and a final norm.
  const uint64_t norm = count.norm / (2 * count.layers + 1) * 2;
  return (count.attention + count.mlp) / count.layers + norm;
}

Line Made(std::string_view id, const Values& values, Planned planned = Planned::kNothing) {
  absl::StatusOr<Formula> formula = Evaluate(id, values);
  // An error here is a bug: the id or the values do not match the table of formulas.
  if (!formula.ok()) {
    Line line;
    line.formula.id = id;
    line.formula.source = std::string(formula.status().message());
    return line;
  }
  return {*std::move(formula), planned};
}

Line AttentionLine(const Settings& s, const run::ModelConfig& m) {
  const double a = static_cast<double>(m.heads), q = static_cast<double>(m.heads * m.head_dim);
  const double dropout = m.attention_dropout > 0 ? 1 : 0;
  if (s.attention == "efficient")
    return Made("attention-efficient", {{"b", s.b}, {"s", s.s}, {"a", a}});
  if (s.attention == "flash")
    return Made("attention-flash", {{"b", s.b}, {"s", s.s}, {"a", a}, {"e", s.e}, {"q", q}});
  const Values scores = {{"b", s.b}, {"s", s.s}, {"a", a}, {"e", s.e}, {"D", dropout}};
  if (s.attention == "eager") {
    // transformers' Llama, and every model under autocast, computes softmax in fp32.
    const bool high = m.family == run::Family::kLlama || s.autocast;
    return Made(high ? "attention-eager" : "attention-eager-low", scores);
  }
  Values math = scores;
  math.emplace_back("q", q);
  return Made("attention-math", math);
}

Line BlockLine(const Settings& s, const run::ModelConfig& m) {
  const double h = static_cast<double>(m.hidden_size), f = static_cast<double>(m.intermediate_size);
  const double q = static_cast<double>(m.heads * m.head_dim);
  double w = 0;
  for (const LinearLayer& linear : LinearLayers(m))
    w += static_cast<double>(linear.inputs * linear.outputs);
  const WeightCount count = CountWeights(m);
  const double norms =
      count.layers > 0 ? static_cast<double>(count.norm / (2 * count.layers + 1)) : 0;
  const double all = static_cast<double>(BlockParameters(count)) - 2 * norms;
  w = std::max(w, all);  // unlike the sum above, `all` also counts biases
  const bool gelu = m.family == run::Family::kGpt2;
  if (!gelu && s.autocast)
    return Made("block-swiglu-autocast",
                {{"b", s.b}, {"s", s.s}, {"h", h}, {"q", q}, {"f", f}, {"W", w}});
  if (!gelu)
    return Made("block-swiglu", {{"b", s.b}, {"s", s.s}, {"e", s.e}, {"h", h}, {"q", q}, {"f", f}});
  const bool written_out = m.activation == run::Activation::kGeluNew;
  const double dropout = m.residual_dropout > 0 ? 1 : 0;
  if (s.autocast)
    return Made("block-gelu-autocast", {{"b", s.b},
                                        {"s", s.s},
                                        {"h", h},
                                        {"f", f},
                                        {"u", written_out ? 16 : 4},
                                        {"p", dropout},
                                        {"W", w}});
  return Made("block-gelu", {{"b", s.b},
                             {"s", s.s},
                             {"e", s.e},
                             {"h", h},
                             {"f", f},
                             {"u", written_out ? 5 : 2},
                             {"p", dropout}});
}

// Returns formulas for all tensors that the forward pass and the loss keep for backward.
Section Activations(const Settings& s, const run::ModelConfig& m) {
  Section section{.title = TEXT_MARK("Activations"), .note = {}, .lines = {}};
  if (m.family == run::Family::kBasics) {
    section.note = TEXT_MARK("No closed-form formula covers the layers of this model family.");
    return section;
  }
  const double layers = static_cast<double>(m.layers);
  const double h = static_cast<double>(m.hidden_size), v = static_cast<double>(m.vocab_size);
  Line attention = AttentionLine(s, m);
  Line block = BlockLine(s, m);
  Line layer =
      Made("layer", {{"block", block.formula.value}, {"attention", attention.formula.value}},
           s.frozen || s.segment > 0 ? Planned::kNothing : Planned::kLayer);
  const double per_layer = layer.formula.value;
  for (Line* line : {&block, &attention, &layer}) section.lines.push_back(std::move(*line));
  if (s.segment > 0) {
    section.lines.push_back(
        Made("boundaries", {{"L", layers},
                            {"k", static_cast<double>(s.segment)},
                            {"boundary", (s.autocast ? 4 : s.e) * s.b * s.s * h}}));
  } else {
    section.lines.push_back(Made("activations", {{"L", layers}, {"block", per_layer}}));
  }
  const bool gelu = m.family == run::Family::kGpt2;
  Values last = {{"b", s.b}, {"s", s.s}, {"h", h}};
  if (s.autocast) {
    last.emplace_back("V", v);
  } else {
    last.emplace_back("e", s.e);
  }
  if (gelu) last.emplace_back("p", m.embedding_dropout > 0 ? 1 : 0);
  section.lines.push_back(Made(gelu ? (s.autocast ? "last-layer-norm-autocast" : "last-layer-norm")
                                    : (s.autocast ? "last-norm-autocast" : "last-norm"),
                               last));
  const Values logits = {{"b", s.b}, {"s", s.s}, {"V", v}};
  section.lines.push_back(Made("loss", logits));
  Values stored = logits;
  stored.emplace_back("e", s.e);
  section.lines.push_back(Made("logits", stored));
  section.lines.push_back(Made("loss-backward", logits));
  section.note = TEXT_MARK(
      "Valid only if all parameters are trained, because a frozen linear layer keeps no input.");
  return section;
}

double ValueOf(const Section& section, std::string_view id) {
  for (const Line& line : section.lines) {
    if (line.formula.id == id) return line.formula.value;
  }
  return 0;
}

// Returns a line for each point of a step at which memory can be highest. The line with the largest
// value is compared with the plan's peak.
Section Peaks(const Settings& s, const Section& kept, double weights, double gradients,
              double state) {
  Section peak{.title = TEXT_MARK("Peak: the largest of these values"), .note = {}, .lines = {}};
  double activations = ValueOf(kept, s.segment > 0 ? "boundaries" : "activations");
  for (const Line& line : kept.lines) {
    if (line.formula.id.starts_with("last-")) activations += line.formula.value;
  }
  const Values backward = {{"weights", weights},
                           {"state", state},
                           {"gradients", s.accumulates ? gradients : 0},
                           {"activations", activations}};
  Values begin = backward;
  begin.emplace_back("loss", ValueOf(kept, "loss") + ValueOf(kept, "loss-backward"));
  peak.lines.push_back(Made("peak-backward", begin));
  if (s.segment > 0) {
    Values again = backward;
    again.emplace_back("k", s.segment);
    again.emplace_back("block", ValueOf(kept, "layer"));
    peak.lines.push_back(Made("peak-recompute", again));
  }
  peak.lines.push_back(Made("peak-optimizer", {{"weights", weights},
                                               {"gradients", gradients},
                                               {"state", state},
                                               {"temporaries", s.foreach ? weights : 0}}));
  std::ranges::max_element(peak.lines, {}, [](const Line& line) {
    return line.formula.value;
  })->planned = Planned::kPeak;
  peak.note = TEXT_MARK("The estimate omits workspaces, temporaries and the rounding of blocks.");
  return peak;
}

// Returns the size of the KV cache for one micro-batch of sequences. If the run generates tokens
// with a cache, these tokens are part of the sequences.
Section Inference(const Settings& s, const run::RunConfig& config, const run::ModelConfig& model) {
  Section section{.title = TEXT_MARK("Inference"), .note = {}, .lines = {}};
  const int64_t tokens = config.Integer("generate.tokens");
  const bool kept = tokens > 0 && !config.Is("generate.cache", "none");
  // The last generated token has no keys and values: only a further token would need them.
  const double length = kept ? s.s + static_cast<double>(tokens - 1) : s.s;
  // Under autocast, keys are fp32 (like the position embeddings) and values are 16-bit, so the
  // average is 3 bytes.
  const double e = s.autocast && kept ? 3 : s.e;
  Values cache = {{"e", e},
                  {"L", static_cast<double>(model.layers)},
                  {"b", s.b},
                  {"s", length},
                  {"g", static_cast<double>(model.kv_heads)},
                  {"d", static_cast<double>(model.head_dim)}};
  const Planned planned = kept ? Planned::kKvCache : Planned::kNothing;
  if (model.sliding_window > 0 && (!kept || config.Is("generate.cache", "sliding"))) {
    cache.emplace_back("w", static_cast<double>(model.sliding_window));
    section.lines.push_back(Made("kv-cache-window", cache, planned));
  } else {
    section.lines.push_back(Made("kv-cache-grouped", cache, planned));
  }
  return section;
}

}  // namespace

uint64_t LoraParameters(const run::RunConfig& config, const run::ModelConfig& model) {
  if (config.Integer("lora.rank") == 0) return 0;
  uint64_t sum = 0;
  for (const std::string& target : config.Names("lora.targets")) {
    const std::string_view last = std::string_view(target).substr(target.rfind('.') + 1);
    for (const LinearLayer& linear : LinearLayers(model)) {
      if (linear.name != last) continue;
      auto one = static_cast<uint64_t>(linear.inputs + linear.outputs) *
                 static_cast<uint64_t>(config.Integer("lora.rank"));
      if (config.Is("lora.kind", "dora")) one += static_cast<uint64_t>(linear.outputs);
      sum += one * static_cast<uint64_t>(NamesOneLayer(target) ? 1 : model.layers);
    }
  }
  return sum;
}

std::optional<uint64_t> TrainableParameters(const run::RunConfig& config,
                                            const run::ModelConfig& model) {
  const WeightCount count = CountWeights(model);
  if (config.Integer("lora.rank") > 0) return LoraParameters(config, model);
  if (config.Is("trainable", "all")) return count.total();
  if (config.Is("trainable", "first-layer") || config.Is("trainable", "last-layer"))
    return BlockParameters(count);
  return std::nullopt;
}

std::vector<Section> EstimateRun(const run::RunConfig& config, const run::ModelConfig& model) {
  const Settings s = Read(config);
  const uint64_t stored = CountWeights(model).total();
  const uint64_t added = LoraParameters(config, model);
  const std::optional<uint64_t> trainable = TrainableParameters(config, model);
  const double p = static_cast<double>(stored);
  std::vector<Section> sections;

  Section weights{.title = TEXT_MARK("Stored size"), .note = {}, .lines = {}};
  for (const auto& [title, bytes] : {std::pair{TEXT_MARK("Weights in fp32"), 4.0},
                                     {TEXT_MARK("Weights in bf16 or fp16"), 2.0},
                                     {TEXT_MARK("Weights in int8"), 1.0}}) {
    Line line = Made("weights", {{"e_w", bytes}, {"P", p}});
    line.formula.title = title;
    weights.lines.push_back(std::move(line));
  }
  sections.push_back(std::move(weights));

  Section training{.title = TEXT_MARK("Training memory of this run, without activations"),
                   .note = {},
                   .lines = {}};
  training.lines.push_back(Made("weights", {{"e_w", s.e_w}, {"P", p + static_cast<double>(added)}},
                                Planned::kParameters));
  if (trainable.has_value()) {
    const double n = static_cast<double>(*trainable);
    training.lines.push_back(Made("gradients", {{"e_g", s.e_w}, {"N", n}}, Planned::kGradients));
    Values state = {{"N", n}};
    if (s.state_formula != "state-sgd") state.emplace_back("e_w", s.e_w);
    training.lines.push_back(Made(s.state_formula, state, Planned::kOptimizerState));
  } else {
    training.note = TEXT_MARK("Only a plan can determine how many parameters a pattern matches.");
  }
  const double gradients = ValueOf(training, "gradients");
  const double state = ValueOf(training, s.state_formula);
  const double in_memory = ValueOf(training, "weights");
  sections.push_back(std::move(training));

  Section whole{.title = TEXT_MARK("Compared with full training"), .note = {}, .lines = {}};
  whole.lines.push_back(
      Made("training", {{"e_w", s.e_w}, {"e_g", s.e_w}, {"o", s.state_bytes}, {"P", p}}));
  if (s.frozen && trainable.has_value()) {
    const double n = static_cast<double>(*trainable);
    const double k = config.Integer("lora.rank") > 0 ? p : p - n;
    whole.lines.push_back(Made(
        "peft-static", {{"e_w", s.e_w}, {"K", k}, {"e_g", s.e_w}, {"o", s.state_bytes}, {"N", n}}));
    if (config.Integer("lora.rank") > 0 && s.state_formula == "state-adam")
      whole.lines.push_back(Made("peft-saved", {{"e", s.e_w}, {"K", k}, {"N", n}}));
  }
  sections.push_back(std::move(whole));

  Section kept = Activations(s, model);
  if (!kept.lines.empty() && !s.frozen) {
    Section peak = Peaks(s, kept, in_memory, gradients, state);
    sections.push_back(std::move(kept));
    sections.push_back(std::move(peak));
  } else {
    sections.push_back(std::move(kept));
  }

  sections.push_back(Inference(s, config, model));
  return sections;
}

std::vector<StaticCell> StaticTable(uint64_t parameters) {
  struct Optimizer {
    std::string_view name, formula;
  };
  constexpr Optimizer kOptimizers[] = {{"sgd", "state-sgd"},
                                       {"sgd, momentum", "state-momentum"},
                                       {"lion", "state-lion"},
                                       {"adam, adamw", "state-adam"},
                                       {TEXT_MARK("adam, adamw (8-bit)"), "state-adam-8bit"}};
  std::vector<StaticCell> table;
  for (const Optimizer& optimizer : kOptimizers) {
    for (const auto& [precision, bytes] :
         {std::pair{std::string_view("fp32, autocast"), 4.0}, {"bf16, fp16", 2.0}}) {
      const double n = static_cast<double>(parameters);
      Values values = {{"N", n}};
      if (optimizer.formula == "state-adam-8bit") {
        values.emplace_back("B", 256);
      } else if (optimizer.formula != "state-sgd") {
        values.emplace_back("e_w", bytes);
      }
      const uint64_t weights = parameters * static_cast<uint64_t>(bytes);
      table.push_back({optimizer.name, precision, weights, weights,
                       Made(optimizer.formula, values).formula.bytes()});
    }
  }
  return table;
}

}  // namespace vramscope::estimate
