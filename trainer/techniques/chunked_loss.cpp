// Computes the output layer and the loss for a part of the tokens at a time. In one form, only one
// chunk's logits exist at a time, and backward recomputes them. In the other form (torchtune's
// CEWithChunkedOutputLoss), all logits are kept in the weights' type, and torch.compile fuses the
// cross entropy of a chunk into one kernel.
#include <ATen/record_function.h>
#include <torch/autograd.h>
#include <torch/types.h>

#include "trainer/capture/modelled_kernel.h"
#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/techniques/recompute/frames.h"
#include "trainer/techniques/recompute/reentrant.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int64_t kIgnored = -100;  // label of ignored tokens, torch's default

// Each position's label is the next token. The last position has none.
at::Tensor NextTokens(const at::Tensor& labels) {
  return at::constant_pad_nd(labels, {0, 1}, kIgnored).slice(1, 1).reshape({-1});
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr char kCrossEntropy[] = "inductor::cross_entropy";

// Sums the rows' losses as Inductor does. Saves the logits (not a copy) and two numbers per row.
// Backward returns a gradient of the logits' type.
struct CompiledCrossEntropy : torch::autograd::Function<CompiledCrossEntropy> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits,
                            const at::Tensor& labels, bool computes) {
    RECORD_FUNCTION(kCrossEntropy, c10::ArrayRef<const c10::IValue>());
    const auto wide = logits.options().dtype(at::kFloat).requires_grad(false);
    const at::Tensor largest = at::empty({logits.size(0), 1}, wide);
    const at::Tensor log_sum = at::empty({logits.size(0), 1}, wide);
    at::Tensor loss = at::empty({}, wide);
    LaunchModelled(kCrossEntropy, logits, 2 * BytesOf(logits));  // the maximum, then the sum
    if (computes) {
      loss.copy_(
          at::cross_entropy_loss(logits.to(at::kFloat), labels, {}, at::Reduction::Sum, kIgnored));
    }
    context->save_for_backward({logits, labels, largest, log_sum});
    context->saved_data["computes"] = computes;
    return loss;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    RECORD_FUNCTION(kCrossEntropy, c10::ArrayRef<const c10::IValue>());
    at::Tensor gradient = at::empty_like(saved[0]);
    LaunchModelled(kCrossEntropy, gradient, BytesOf(saved[0]) + BytesOf(gradient));
    if (context->saved_data["computes"].toBool()) {
      const at::Tensor counts = (saved[1] != kIgnored).unsqueeze(1);
      const at::Tensor labels = saved[1].clamp_min(0).unsqueeze(1);
      at::Tensor wide = at::softmax(saved[0].to(at::kFloat), -1);
      wide = wide.scatter_add(1, labels, at::full_like(labels, -1, wide.options()));
      gradient.copy_(wide * counts * gradients[0]);
    }
    return {gradient, at::Tensor(), at::Tensor()};
  }
};

class ChunkedLoss final : public Technique {
 public:
  ChunkedLoss(int64_t chunks, bool keeps_logits, bool reentrant)
      : chunks_(chunks), keeps_logits_(keeps_logits), reentrant_(reentrant) {}

  absl::Status OnModel(Model& model) override {
    if (!model.SplitOutput()) {
      return absl::InvalidArgumentError(
          "loss=chunked: this model has no output layer over tokens; use loss=full");
    }
    return absl::OkStatus();
  }
  void AfterSetUp(const RunContext& run, Model&, std::span<const at::Tensor>) override {
    computes_ = run.measured;
    if (keeps_logits_) return;
    const CheckpointOptions options{.layers_per_segment = 1, .device = run.device};
    runner_ = reentrant_ ? MakeCheckpointRunner(options) : MakeFrameRunner(options, nullptr);
  }
  LossFunction AroundLoss(LossFunction) override {
    if (keeps_logits_) {
      return [this](Model& model, at::Tensor& hidden, const Batch& batch) {
        return OfKeptLogits(model, hidden, batch);
      };
    }
    return [this](Model& model, at::Tensor& hidden, const Batch& batch) {
      at::Tensor labels = NextTokens(batch["labels"]);
      const at::Tensor counted = (labels != kIgnored).sum();
      // Calls chunk() only once, so that backward concatenates the parts' gradients only once.
      std::vector<at::Tensor> rows = hidden.view({-1, hidden.size(-1)}).chunk(chunks_);
      const std::vector<at::Tensor> parts = labels.chunk(chunks_);
      hidden.reset();
      at::Tensor total;
      for (size_t i = 0; i < rows.size(); ++i) {
        const LayerFunction loss = [&model](const at::Tensor& chunk, Carried& given) {
          at::Tensor logits = model.Output(chunk);
          at::Tensor wide = logits.to(at::kFloat);
          logits.reset();
          return at::cross_entropy_loss(wide, given.front(), {}, at::Reduction::Sum, kIgnored);
        };
        Carried its_labels{parts[i]};
        at::Tensor sum = runner_(rows[i], {loss}, "loss", its_labels);
        total = total.defined() ? total + sum : sum + 0;
      }
      return total / counted;
    };
  }
  void AfterRun() override { runner_ = nullptr; }

 private:
  // Computes all logits, then the loss of each part. The tensors that the loss saves are not
  // offloaded, because backward uses them first.
  at::Tensor OfKeptLogits(Model& model, at::Tensor& hidden, const Batch& batch) const {
    const PackerScope none(nullptr);
    std::vector<at::Tensor> logits;
    for (const at::Tensor& part : hidden.chunk(chunks_, 1)) logits.push_back(model.Output(part));
    hidden.reset();
    const at::Tensor labels = NextTokens(batch["labels"]);
    const at::Tensor counted = (labels != kIgnored).sum();
    const std::vector<at::Tensor> parts = labels.view(batch["labels"].sizes()).chunk(chunks_, 1);
    at::Tensor total;
    for (size_t i = 0; i < logits.size(); ++i) {
      const at::Tensor sum = CompiledCrossEntropy::apply(
          logits[i].reshape({-1, logits[i].size(-1)}), parts[i].reshape({-1}), computes_);
      total = total.defined() ? total + sum : sum + 0;
    }
    return total / counted;
  }

  const int64_t chunks_;
  const bool keeps_logits_, reentrant_;
  bool computes_ = false;
  LayerRunner runner_;
};

}  // namespace

TechniqueEntry DeclareTechnique_chunked_loss() {
  return {
      .declaration =
          {.id = "chunked-loss",
           .group = "Activations",
           .title = "Loss in chunks",
           .explanation = "If the vocabulary is large, the logits, their fp32 copy and their "
                          "gradient often cause the peak. With c chunks, only 1/c of them exists "
                          "at a time, but the output layer runs once more in backward.",
           .settings =
               {{.key = "loss",
                 .help = "\"full\" computes all logits at once. \"chunked\" computes the output "
                         "layer and the loss for a part of the tokens at a time",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "full",
                 .choices = {{"full", ""}, {"chunked", ""}}},
                {.key = "loss_chunks",
                 .help = "number of chunks for loss=chunked",
                 .kind = run::ValueKind::kInteger,
                 .default_value = "8",
                 .low = 1,
                 .high = 65536,
                 .label = "chunks"},
                {.key = "loss_keeps",
                 .help = "for loss=chunked: \"nothing\" recomputes a chunk's logits in backward. "
                         "\"logits\" keeps the logits of all chunks, each with a compiled cross "
                         "entropy that makes no fp32 copy (torchtune)",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "nothing",
                 .choices = {{"nothing", ""}, {"logits", ""}},
                 .label = "keeps"},
                {.key = "loss_reentrant",
                 .help =
                     "for loss=chunked: \"true\" recomputes each chunk in a nested backward (as "
                     "with use_reentrant=True), \"false\" runs the chunk's forward a second time",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "false",
                 .choices = {{"false", ""}, {"true", ""}},
                 .label = "re-entrant"}},
           .toggles = {{.id = "chunked-loss",
                        .title = "Loss in chunks",
                        .explanation = "computes logits for a part of the tokens at a time",
                        .on = {{"loss", true, {"chunked"}}},
                        .ways = {{{"loss", "chunked"}}},
                        .controls = {"loss_chunks", "loss_keeps", "loss_reentrant"}}},
           .rules = {{.when = {{"loss", true, {"chunked"}}, {"model.family", true, {"basics"}}},
                      .why = "loss=chunked is not supported for the model \"basics\", whose script "
                             "computes its loss as a whole; set loss=full",
                      .instead = {{"loss", "full"}}},
                     {.when = {{"loss_keeps", true, {"logits"}},
                               {"loss_reentrant", true, {"true"}}},
                      .why = "loss_reentrant has no effect with loss_keeps=logits, because no "
                             "chunk is recomputed; set loss_reentrant=false",
                      .instead = {{"loss_reentrant", "false"}}}},
           .assumes =
               {{.when = {{"loss", true, {"chunked"}}, {"loss_keeps", true, {"logits"}}},
                 .what = "the compiled cross entropy of a chunk is modelled after "
                         "Inductor's code: the logits are kept, their gradient has the same type "
                         "as the logits, and there is no fp32 copy"}}},
      .fit = {{.row = "chunked-loss"}},
      .modelled = {{.assumed = 0, .category = "Activation", .ops = {kCrossEntropy}},
                   {.assumed = 0, .category = "Autograd detail", .ops = {kCrossEntropy}},
                   {.assumed = 0, .category = "Temporary", .ops = {kCrossEntropy}}},
      .order = 35,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("loss", "chunked")) return nullptr;
        return std::make_unique<ChunkedLoss>(config.Integer("loss_chunks"),
                                             config.Is("loss_keeps", "logits"),
                                             config.Is("loss_reentrant", "true"));
      }};
}

}  // namespace vramscope::trainer
