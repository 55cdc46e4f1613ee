// The output layer and the loss on a part of the tokens at a time: logits are there for one chunk,
// and computed again for it in backward.
#include <torch/types.h>

#include "trainer/techniques/recompute/frames.h"
#include "trainer/techniques/recompute/reentrant.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int64_t kIgnored = -100;  // a label that does not count, torch's default

// Each position's label is the token after it; the last one has none.
at::Tensor NextTokens(const at::Tensor& labels) {
  return at::constant_pad_nd(labels, {0, 1}, kIgnored).slice(1, 1).reshape({-1});
}

class ChunkedLoss final : public Technique {
 public:
  ChunkedLoss(int64_t chunks, bool reentrant) : chunks_(chunks), reentrant_(reentrant) {}

  absl::Status OnModel(Model& model) override {
    if (!model.SplitOutput()) {
      return absl::InvalidArgumentError(
          "loss=chunked: this model has no output layer over tokens; use loss=full");
    }
    return absl::OkStatus();
  }
  void AfterSetUp(const RunContext& run, Model&, std::span<const at::Tensor>) override {
    const CheckpointOptions options{.layers_per_segment = 1, .device = run.device};
    runner_ = reentrant_ ? MakeCheckpointRunner(options) : MakeFrameRunner(options, nullptr);
  }
  LossFunction AroundLoss(LossFunction) override {
    return [this](Model& model, at::Tensor& hidden, const Batch& batch) {
      at::Tensor labels = NextTokens(batch["labels"]);
      const at::Tensor counted = (labels != kIgnored).sum();
      // Cut once: the gradients of the parts are put together once.
      std::vector<at::Tensor> rows = hidden.view({-1, hidden.size(-1)}).chunk(chunks_);
      const std::vector<at::Tensor> parts = labels.chunk(chunks_);
      hidden.reset();
      at::Tensor total;
      for (size_t i = 0; i < rows.size(); ++i) {
        const at::Tensor part = parts[i];
        const LayerFunction loss = [&model, part](const at::Tensor& chunk, Carried&) {
          at::Tensor logits = model.Output(chunk);
          at::Tensor wide = logits.to(at::kFloat);
          logits.reset();
          return at::cross_entropy_loss(wide, part, {}, at::Reduction::Sum, kIgnored);
        };
        Carried nothing;
        at::Tensor sum = runner_(rows[i], {loss}, "loss", nothing);
        total = total.defined() ? total + sum : sum + 0;
      }
      return total / counted;
    };
  }
  void AfterRun() override { runner_ = nullptr; }

 private:
  const int64_t chunks_;
  const bool reentrant_;
  LayerRunner runner_;
};

}  // namespace

TechniqueEntry DeclareTechnique_chunked_loss() {
  return {
      .declaration =
          {.id = "chunked-loss",
           .group = "Activations",
           .title = "Loss in chunks",
           .explanation =
               "Logits of a large vocabulary, their 32-bit copy and gradient are often the peak; "
               "in c chunks 1/c of them is there at a time. The output layer runs once more in "
               "backward.",
           .settings = {{.key = "loss",
                         .help = "full: all logits at once; chunked: output layer and loss for a "
                                 "part of the tokens at a time",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "full",
                         .choices = {{"full", ""}, {"chunked", ""}}},
                        {.key = "loss_chunks",
                         .help = "parts that loss=chunked cuts the tokens into",
                         .kind = run::ValueKind::kInteger,
                         .default_value = "8",
                         .low = 1,
                         .high = 65536,
                         .label = "chunks"},
                        {.key = "loss_reentrant",
                         .help = "of loss=chunked: each chunk is computed again in a nested "
                                 "backward (use_reentrant), or in a second run",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", ""}},
                         .label = "re-entrant"}},
           .toggles = {{.id = "chunked-loss",
                        .title = "Loss in chunks",
                        .explanation = "logits for a part of the tokens at a time",
                        .on = {{"loss", true, {"chunked"}}},
                        .ways = {{{"loss", "chunked"}}},
                        .controls = {"loss_chunks", "loss_reentrant"}}},
           .rules = {{.when = {{"loss", true, {"chunked"}}, {"model.family", true, {"basics"}}},
                      .why = "loss=chunked: the basics model's script computes its loss at once",
                      .instead = {{"loss", "full"}}}}},
      .fit = {{.row = "chunked-loss"}},
      .order = 35,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("loss", "chunked")) return nullptr;
        return std::make_unique<ChunkedLoss>(config.Integer("loss_chunks"),
                                             config.Is("loss_reentrant", "true"));
      }};
}

}  // namespace vramscope::trainer
