// transformers 4.51's generate(), greedy (generation/utils.py). First, the model or its encoder
// runs on the prompt. Each later token reads the keys and values of all previous tokens.
#include "trainer/models/generation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "profiler/run/lengths.h"
#include "trainer/capture/cancel.h"
#include "trainer/capture/scopes.h"
#include "trainer/models/training_mode.h"
#include "trainer/techniques/end_tokens.h"
#include "trainer/techniques/loop_technique.h"

namespace vramscope::trainer {
namespace {

class Generation final : public LoopTechnique {
 public:
  explicit Generation(const run::RunConfig& config)
      : rows_(config.batch / config.micro_batches),
        prompt_(config.seq),
        ends_(!config.Get("generate.lengths").empty()),
        tokens_(TokensOf(config)),
        cache_(config.Get("generate.cache")),
        instead_(config.Is("mode", "generate")),
        random_(static_cast<uint64_t>(config.seed)) {}

  absl::Status OnModel(Model& model) override {
    form_ = model.generation();
    // The last generated token is not an input of the model.
    const int64_t most = form_.positions;
    if (form_.tuples && prompt_ + tokens_ - 1 > most) {
      return absl::InvalidArgumentError(
          fmt::format("generate.tokens = {} after {} would be more than the model's {} positions "
                      "(n_positions): set generate.tokens={}, or seq lower",
                      tokens_, prompt_, most, std::max<int64_t>(most - prompt_ + 1, 1)));
    }
    if (cache_ != "sliding") return absl::OkStatus();
    if (form_.window == 0) {
      return absl::InvalidArgumentError(
          "generate.cache=sliding needs a model with a sliding window (sliding_window), but this "
          "model has none: use generate.cache=static");
    }
    if (prompt_ <= form_.window) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("generate.cache=sliding has a mask as wide as the window, {}, so it does not "
                    "support a prompt of {} tokens: use generate.cache=dynamic, or seq <= {}",
                    form_.window, prompt_, form_.window));
  }
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    model_ = &model;
  }
  bool InsteadOfStep(const RunContext& run, const LoopAccess& loop) override {
    if (instead_) Generate(run, loop);
    return instead_;
  }
  void AfterSteps(const RunContext& run, const LoopAccess& loop) override {
    if (!instead_) Generate(run, loop);
  }
  void AfterRun() override { fixed_.reset(); }
  bool trains() const override { return !instead_; }
  bool repeats() const override { return !instead_; }
  // In a rehearsed run, the libraries' workspaces exist only as allocations of the tape. Generation
  // is executed, not played from the tape, and would not find them.
  bool rehearses() const override { return false; }

 private:
  at::Tensor Prompt(const RunContext& run) {
    PhaseScope phase(trace::Phase::kData);
    std::vector<at::Tensor> host;
    for (const InputSpec& spec : model_->Inputs(rows_, prompt_)) {
      host.push_back(at::empty(spec.shape, at::TensorOptions().dtype(spec.dtype)));
    }
    if (run.measured) model_->FillInputs(host, random_);
    return host.front().to(run.device);
  }

  // Returns how many tokens the longest sequence gets, which is at most generate.tokens.
  static int64_t TokensOf(const run::RunConfig& config) {
    const int64_t most = config.Integer("generate.tokens");
    const auto lengths = run::ParseLengths(config.Get("generate.lengths"));
    if (!lengths.ok() || lengths->empty()) return most;
    const auto rows = static_cast<size_t>(config.batch / config.micro_batches);
    int64_t longest = 0;
    for (size_t row = 0; row < std::min(rows, lengths->size()); ++row) {
      longest = std::max<int64_t>(longest, (*lengths)[row].high);
    }
    return std::min(most, longest);
  }

  // Returns the model's cache of fixed size. Later calls reuse it; the mask hides its old values.
  KeyValueCache* FixedCache(const at::Tensor& ids) {
    if (cache_ != "static" && cache_ != "sliding") return nullptr;
    if (fixed_ != nullptr) return fixed_.get();
    CacheShape shape{
        .layers = form_.layers,
        .batch = rows_,
        .heads = form_.kv_heads,
        .room = prompt_ + tokens_ - 1,
        .width = form_.head_dim,
        .options = ids.options().dtype(model_->Parameters().front()->tensor.scalar_type())};
    if (cache_ == "static") {
      fixed_ = std::make_unique<StaticCache>(shape);
    } else {
      shape.room = std::min(shape.room, form_.window);
      fixed_ = std::make_unique<SlidingCache>(shape);
    }
    return fixed_.get();
  }

  static at::Tensor CountSeen(const KeyValueCache& cache) {
    const at::Tensor any = cache.first().select(0, 0).select(0, 0).any(-1);
    return any.sum();
  }

  static at::Tensor FirstPositions(const at::Tensor& ids, const KeyValueCache* cache) {
    at::Tensor positions = [&] {
      at::Tensor counted = at::ones_like(ids.select(0, 0)).cumsum(0);
      return counted - 1;
    }();
    if (cache == nullptr || cache->room() == 0) return positions;
    CountSeen(*cache);
    const at::Tensor seen = CountSeen(*cache);
    seen.item<int64_t>();
    return positions;
  }

  // The model's arguments for the next token.
  struct Inputs {
    at::Tensor ids;
    GenerationPass pass;
  };
  // If `given`, the model gets a cache as an argument, so `ids` are cut to the new tokens.
  static std::unique_ptr<Inputs> Prepare(at::Tensor ids, const at::Tensor& mask,
                                         const at::Tensor& positions, bool given) {
    auto inputs = std::make_unique<Inputs>();
    inputs->pass = {.positions = positions, .position_ids = {}, .mask = mask};
    if (given) {
      (positions.select(0, -1) >= ids.size(1)).item<bool>();
      if (ids.size(1) != positions.size(0)) ids = ids.index({at::indexing::Slice(), positions});
    }
    inputs->ids = ids.clone(at::MemoryFormat::Contiguous);
    if (!mask.defined()) return inputs;
    at::Tensor all = [&] {
      const at::Tensor counted = mask.cumsum(-1);
      return counted - 1;
    }();
    all.masked_fill_(mask == 0, 1);
    inputs->pass.position_ids =
        given ? all.slice(1, -inputs->ids.size(1)).clone(at::MemoryFormat::Contiguous) : all;
    return inputs;
  }

  // Returns the positions of the next pass.
  static at::Tensor Advance(const at::Tensor& positions, const KeyValueCache* cache) {
    if (cache != nullptr) return positions.slice(0, -1) + 1;
    const at::Tensor more = [&] {
      const at::Tensor begin = positions.select(0, -1) + 1;
      const at::Tensor end = (positions.select(0, -1) + 1) + 1;
      const int64_t next = begin.item<int64_t>();
      end.item<int64_t>();
      return at::arange(next, next + 1, at::kLong);
    }();
    return at::cat({positions, more.to(positions.device())});
  }

  void Generate(const RunContext& run, const LoopAccess& loop) {
    at::Tensor ids = Prompt(run);
    const PhaseScope phase(trace::Phase::kGeneration);
    at::NoGradGuard no_grad;
    EvaluationScope evaluation;
    std::vector<std::unique_ptr<Held>> held = loop.hold();
    const GenerationForm& form = form_;
    const std::optional<EndTokens> ends =
        ends_ ? std::optional<EndTokens>(ids.device()) : std::nullopt;
    const at::Tensor start =
        form.encodes ? torch::tensor(form.start_token, at::kLong).to(ids.device()) : at::Tensor();
    if (ends) ends->Check();
    if (ends && !form.encodes) ends->CheckForPadding(ids);
    at::Tensor mask = ends ? ends->MaskOf(ids) : at::ones({rows_, prompt_}, ids.options());
    const at::Tensor prompt = ids;  // the caller keeps it
    at::Tensor encoded, encoded_mask;
    if (form.encodes) {
      encoded = Encode(ids, mask);
      encoded_mask = std::move(mask);
      ids = at::ones({rows_, 1}, ids.options()) * start;
    }
    // generate() keeps its own arguments until it returns, while its loop makes longer tensors.
    const at::Tensor first_ids = ids, first_mask = mask;
    KeyValueCache* cache = FixedCache(ids);
    std::unique_ptr<KeyValueCache> grows;
    if (cache_ == "dynamic") grows = Growing(form);
    if (grows) cache = grows.get();
    CrossCache cross;
    at::Tensor unfinished = at::ones({rows_}, ids.options());
    at::Tensor positions = FirstPositions(ids, cache);
    std::unique_ptr<Inputs> inputs;
    at::Tensor logits, scores, next, finished;
    std::vector<int64_t> said;
    for (int64_t token = 0; token < tokens_; ++token) {
      ThrowIfCancelled();
      const AnnotationScope range(token == 0 ? "prefill" : "decode");
      {
        const bool given = cache != nullptr && (token > 0 || cache->given_empty());
        std::unique_ptr<Inputs> made = Prepare(ids, mask, positions, given);
        made->pass.cache = cache;
        // generate() passes no positions to models whose cache is a tuple.
        if (form.tuples) made->pass.positions.reset();
        if (form.encodes) {
          made->pass.mask = encoded_mask;
          made->pass.encoded = encoded;
          made->pass.cross = cache != nullptr ? &cross : nullptr;
        }
        // The arguments of the previous pass live until the arguments of this pass are complete.
        made->pass.prepared = [&inputs] { inputs.reset(); };
        if (cache) cache->Begin();
        Batch batch;
        batch.Set("input_ids", made->ids);
        {
          const GenerationScope scope(made->pass);
          logits = model_->Logits(batch);
        }
        inputs = std::move(made);
      }
      if (mask.defined()) {
        const at::Tensor one = mask.new_ones({rows_, 1});
        mask = at::cat({mask, one}, -1);
      }
      positions = Advance(positions, cache);
      scores = logits.select(1, -1).to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
      next = at::argmax(scores, -1);
      if (ends) next = ends->Padded(next, unfinished);
      ids = at::cat({ids, next.unsqueeze(1)}, -1);
      if (run.measured) said.push_back(next[0].item<int64_t>());
      Stop(token + 1 == tokens_, ends ? &*ends : nullptr, ids, unfinished, finished);
      logits.reset();
      finished.item<bool>();
      loop.done(static_cast<double>(token + 1) / static_cast<double>(tokens_));
    }
    if (run.measured) {
      Recorder::Current()->Marker(fmt::format("generated={}", fmt::join(said, ",")));
    }
    while (!held.empty()) held.pop_back();
  }

  std::unique_ptr<KeyValueCache> Growing(const GenerationForm& form) const {
    if (form.tuples) return std::make_unique<TupleCache>();
    return std::make_unique<DynamicCache>();
  }

  at::Tensor Encode(const at::Tensor& ids, const at::Tensor& mask) {
    const AnnotationScope range("encode");
    Batch batch;
    batch.Set("input_ids", ids);
    batch.Set("attention_mask", mask);
    return model_->Encode(batch);
  }

  // Applies a StoppingCriteriaList: the maximum length and, if enabled, the end tokens.
  void Stop(bool full, const EndTokens* ends, const at::Tensor& ids, at::Tensor& unfinished,
            at::Tensor& finished) const {
    const at::TensorOptions truth = unfinished.options().dtype(at::kBool);
    at::Tensor done = [&] {
      at::Tensor done = at::full({rows_}, false, truth);
      at::Tensor length = at::full({rows_}, full, truth);
      done = done | length;
      length.reset();
      if (ends != nullptr) done = done | ends->Ended(ids);
      return done;
    }();
    unfinished = [&] {
      const at::Tensor open = done.bitwise_not();
      done.reset();
      return unfinished & open;
    }();
    finished = unfinished.max() == 0;
  }

  const int64_t rows_, prompt_;
  const bool ends_;  // whether end tokens are checked
  const int64_t tokens_;
  const std::string cache_;
  const bool instead_;
  std::mt19937_64 random_;
  std::unique_ptr<StaticCache> fixed_;
  Model* model_ = nullptr;
  GenerationForm form_;
};

}  // namespace

TechniqueEntry DeclareTechnique_generation() {
  using run::ValueKind;
  const run::Condition off{"generate.tokens", true, {"0"}};
  const run::Condition on{"generate.tokens", false, {"0"}};
  return {
      .declaration =
          {.id = "generation",
           .group = "Evaluation",
           .title = "Generation",
           .explanation =
               "transformers' generate() processes a prompt of seq tokens, then generates one "
               "token after another. Keys and values of all previous tokens are kept. With "
               "dynamic, each layer's cache is reallocated for every token, with space for one "
               "more token. With static, space for all tokens is allocated at the beginning, and "
               "unused positions are masked. With sliding, only a window is kept. With none, the "
               "whole sequence is recomputed for each token.",
           .settings =
               {{.key = "generate.tokens",
                 .help = "number of tokens that generate() produces after training and "
                         "evaluation, or instead of them (mode=generate); 0: no generation",
                 .kind = ValueKind::kInteger,
                 .default_value = "0",
                 .low = 0,
                 .high = 1 << 20,
                 .label = "tokens"},
                {.key = "generate.cache",
                 .help = "how the keys and values of previous tokens are kept",
                 .kind = ValueKind::kChoice,
                 .default_value = "dynamic",
                 .choices = {{"dynamic", "DynamicCache (grows)"},
                             {"static", "StaticCache (preallocated)"},
                             {"sliding", "SlidingWindowCache"},
                             {"none", "nothing (use_cache=False)"}},
                 .label = "cache"},
                {.key = "generate.lengths",
                 .help =
                     "number of new tokens after which a sequence gets its end token. A list gives "
                     "one number for each sequence in turn (\"40,120\"). For a range, the maximum "
                     "is used. Generation ends with the longest sequence. Empty: no end token",
                 .kind = ValueKind::kText,
                 .default_value = "",
                 .format = "lengths",
                 .label = "end after"}},
           .toggles = {{.id = "generate",
                        .title = "Generate only",
                        .explanation = "no training: processes a prompt, then generates tokens "
                                       "with a cache of keys and values",
                        .on = {{"mode", true, {"generate"}}},
                        .ways = {{{"mode", "generate"}, {"generate.tokens", "64"}}},
                        .controls = {"generate.tokens", "generate.cache", "generate.lengths"}},
                       {.id = "generate-after",
                        .title = "Generate after training",
                        .explanation = "weights and optimizer state stay in memory",
                        .on = {on, {"mode", true, {"train"}}},
                        .ways = {{{"generate.tokens", "64"}}},
                        .controls = {"generate.tokens", "generate.cache", "generate.lengths"}}},
           .rules =
               {{.when = {{"mode", true, {"generate"}}, off},
                 .why = "mode=generate needs a number of tokens, but generate.tokens is 0: set "
                        "generate.tokens=64",
                 .instead = {{"generate.tokens", "64"}}},
                {.when = {on, {"mode", true, {"inference"}}},
                 .why = "generate.tokens is not supported with mode=inference, which runs only "
                        "forward passes; set mode=generate",
                 .instead = {{"mode", "generate"}}},
                {.when =
                     {on,
                      {"model.family",
                       false,
                       {"llama", "qwen3", "mixtral", "qwen3-moe", "phi", "phi3", "gpt2", "t5"}}},
                 .why = "generate.tokens supports Llama, Qwen2, Qwen3, Mistral, Mixtral, Phi, "
                        "GPT-2, T5 and similar models; the caches of other models are not "
                        "supported: set generate.tokens=0",
                 .instead = {{"generate.tokens", "0"}}},
                {.when =
                     {on,
                      {"generate.cache", true, {"static", "sliding"}},
                      {"model.family", true, {"gpt2", "t5"}}},
                 .why = "generate.cache=static and generate.cache=sliding are not available for "
                        "{model}: transformers 4.51 has no such cache, or vramscope does not "
                        "support the cache; set generate.cache=dynamic",
                 .instead = {{"generate.cache", "dynamic"}}},
                {.when = {{"generate.lengths", false, {""}}, off},
                 .why = "generate.lengths needs generated tokens, but generate.tokens is 0: set "
                        "generate.tokens=64",
                 .instead = {{"generate.lengths", ""}}},
                {.when = {{"generate.lengths", false, {""}}, {"backend", true, {"cpu", "cuda"}}},
                 .why = "generate.lengths is only supported for plans, because other backends end "
                        "a sequence at the end token that they compute; use backend=plan",
                 .instead = {{"generate.lengths", ""}}},
                {.when = {on, {"shard.strategy", false, {"none"}}},
                 .why = "generate.tokens is only supported on one GPU: set shard.strategy=none",
                 .instead = {{"generate.tokens", "0"}}},
                {.when = {on, {"attention", true, {"flash-2"}}},
                 .why =
                     "generate.tokens is not supported with attention=flash-2, because generation "
                     "uses other functions of the flash-attn package; use attention=flash",
                 .instead = {{"attention", "flash"}}},
                {.when = {on,
                          {"generate.cache", true, {"static", "sliding"}},
                          {"attention", true, {"flash", "cudnn"}}},
                 .why = "generate.cache=static and generate.cache=sliding use a mask, which flash "
                        "kernels do not accept: use attention=efficient",
                 .instead = {{"attention", "efficient"}}},
                {.when = {on,
                          {"generate.cache", true, {"static", "sliding"}},
                          {"precision", true, {"amp-bf16", "amp-fp16"}}},
                 .why = "generate.cache=static stores keys in the weights' type, but autocast "
                        "computes keys in another type; use generate.cache=dynamic",
                 .instead = {{"generate.cache", "dynamic"}}},
                {.when = {on, {"offload.parameters", true, {"cpu"}}},
                 .why = "generate.tokens is only supported with weights on the GPU: set "
                        "offload.parameters=none",
                 .instead = {{"offload.parameters", "none"}}}},
           .assumes = {{.when = {on, {"generate.lengths", true, {""}}},
                        .what = "generation always ends at the maximum length. End tokens are not "
                                "computed, and the few bytes for checking them are not allocated"},
                       {.when = {on, {"generate.lengths", false, {""}}},
                        .what = "generate.lengths determines the ends of sequences: keys and "
                                "values of finished sequences stay until the last one ends"}}},
      .order = 81,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Integer("generate.tokens") == 0) return nullptr;
        return std::make_unique<Generation>(config);
      }};
}

}  // namespace vramscope::trainer
