// GaLore: Adam keeps the moments of a low-rank projection of the gradient (Zhao et al. 2024), like
// transformers' optim="galore_adamw" (galore_torch's AdamW). `galore.targets`
// (optim_target_modules) selects linear layers. For each of their weights, the first step, and
// then every `galore.gap`-th step, computes a projection from the singular vectors of the
// gradient. All other parameters, including embeddings and norms, have full moments and are
// updated first.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <unordered_set>

#include "trainer/capture/cancel.h"
#include "trainer/models/layers.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer::gradient_projection_technique {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-6, kScale = 0.25;
constexpr char kLayers[] = "layers", kAllLinear[] = "all-linear";

struct State {
  int64_t step = 0;
  bool projected = false;
  at::Tensor projection, moment, variance;
};

class ProjectedAdam final : public Optimizer {
 public:
  // `projected`: storages of the projected weights.
  ProjectedAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters,
                const std::unordered_set<uint64_t>& projected, int64_t rank, int64_t gap)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        rank_(rank),
        gap_(gap),
        states_(parameters_.size()) {
    // The parameter group without projections comes first, then the group with projections.
    for (const bool chosen : {false, true}) {
      for (size_t i = 0; i < parameters_.size(); ++i) {
        states_[i].projected = projected.contains(StorageKey(parameters_[i]));
        if (states_[i].projected == chosen) order_.push_back(i);
      }
    }
  }

  void Step() override {
    at::NoGradGuard no_grad;
    // Variables of the Python loop. Each keeps its tensor until it is assigned again.
    at::Tensor gradient, denominator, update;
    for (const size_t i : order_) {
      at::Tensor& parameter = parameters_[i];
      if (!parameter.grad().defined()) continue;
      ThrowIfCancelled();
      const OwnerScope owner(StorageKey(parameter));
      State& state = states_[i];
      gradient = parameter.grad();
      const bool right = state.projected && parameter.size(0) >= parameter.size(1);
      if (state.projected) {
        if (state.step % gap_ == 0) state.projection = Projection(gradient, right);
        gradient = right ? at::matmul(gradient, state.projection.t())
                         : at::matmul(state.projection.t(), gradient);
      }
      if (!state.moment.defined()) {
        state.moment = MakeState(parameter, [&] { return at::zeros_like(gradient); });
        state.variance = MakeState(parameter, [&] { return at::zeros_like(gradient); });
      }
      ++state.step;
      state.moment.mul_(kBeta1).add_(gradient, 1 - kBeta1);
      state.variance.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
      denominator = state.variance.sqrt().add_(kEps);
      const auto t = static_cast<double>(state.step);
      const double size = lr_ * std::sqrt(1 - std::pow(kBeta2, t)) / (1 - std::pow(kBeta1, t));
      update = state.moment / denominator;
      if (state.projected) {
        const at::Tensor wide =
            right ? at::matmul(update, state.projection) : at::matmul(state.projection, update);
        update = wide * kScale;
      }
      parameter.add_(update, -size);
      if (weight_decay_ > 0) parameter.add_(parameter, -lr_ * weight_decay_);
    }
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor : {state.projection, state.moment, state.variance}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

 private:
  // The package stores a slice of the singular vectors, which keeps the whole matrix alive.
  at::Tensor Projection(const at::Tensor& gradient, bool right) const {
    const at::Tensor wide = gradient.to(at::kFloat);
    auto [u, s, v] = at::linalg_svd(wide, /*full_matrices=*/false);
    at::Tensor kept = right ? v.slice(0, 0, rank_) : u.slice(1, 0, rank_);
    // The package also computes the projection for the other side, but does not use it.
    const at::Tensor unused =
        right ? at::matmul(u.slice(1, 0, rank_), at::diag(s.slice(0, 0, rank_)))
              : at::matmul(at::diag(s.slice(0, 0, rank_)), v.slice(0, 0, rank_));
    kept = kept.to(gradient.scalar_type());
    TagStorage(kept, trace::Category::kOptimizerState, "projection");
    return kept;
  }

  const double weight_decay_;
  const int64_t rank_, gap_;
  std::vector<State> states_;
  std::vector<size_t> order_;  // order of the updates
};

// Visits the nn.Linear modules below `root` with their paths (GPT-2's layers are Conv1D).
using LinearVisitor = std::function<void(const Linear& linear, const std::string& path)>;
void VisitLinear(Module& root, const LinearVisitor& visitor) {
  root.Visit([&](Module& module, const std::string& path) {
    const auto* linear = dynamic_cast<const Linear*>(&module);
    if (linear != nullptr && !linear->transposed()) visitor(*linear, path);
  });
}

class GradientProjection final : public Technique {
 public:
  explicit GradientProjection(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)),
        rank_(config.Integer("galore.rank")),
        gap_(config.Integer("galore.gap")),
        targets_(config.Names("galore.targets")) {}

  absl::Status OnModel(Model& model) override {
    const std::vector<const Linear*> chosen = Chosen(model);
    std::set<const Parameter*> embedded;
    model.Visit([&](Module& module, const std::string&) {
      if (auto* embedding = dynamic_cast<Embedding*>(&module))
        embedded.insert(embedding->weight().get());
    });
    for (const Linear* linear : chosen) {
      if (!embedded.contains(linear->weight().get())) continue;
      return absl::InvalidArgumentError(
          "galore.targets selects the output layer, which shares the embedding's weight: "
          "transformers puts that into two parameter groups, which PyTorch refuses; set "
          "galore.targets=layers");
    }
    if (!chosen.empty()) return absl::OkStatus();
    std::set<std::string> names;
    VisitLinear(model,
                [&](const Linear& linear, const std::string&) { names.insert(linear.name()); });
    return absl::InvalidArgumentError(fmt::format(
        "galore.targets={} selects no linear layer of this model, which has {}; or set layers",
        fmt::join(targets_, ","),
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    projected_.clear();  // may contain entries from the rehearsal
    for (const Linear* linear : Chosen(model))
      projected_.insert(StorageKey(linear->weight()->tensor));
  }
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext&,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<ProjectedAdam>(config_, trained, projected_, rank_, gap_);
  }
  // cuSOLVER and cuBLAS allocate workspaces for the thread of the step.
  bool rehearses() const override { return false; }

 private:
  std::vector<const Linear*> Chosen(Model& model) const {
    std::vector<const Linear*> out;
    const bool all = targets_.front() == kAllLinear;
    if (targets_.front() == kLayers) {
      for (Module* layer : model.Layers())
        VisitLinear(*layer, [&](const Linear& linear, auto&) { out.push_back(&linear); });
      return out;
    }
    VisitLinear(model, [&](const Linear& linear, const std::string& path) {
      const bool named = std::ranges::any_of(targets_, [&](const std::string& target) {
        return path.find(target) != std::string::npos;
      });
      if (all || named) out.push_back(&linear);
    });
    return out;
  }

  OptimizerConfig config_;
  int64_t rank_, gap_;
  std::vector<std::string> targets_;
  std::unordered_set<uint64_t> projected_;  // storages of the projected weights
};

run::Rule NotWith(run::Condition other, const char* why, run::SettingValues instead) {
  return {.when = {{"galore.rank", false, {"0"}}, std::move(other)},
          .why = std::string("galore.rank ") + why,
          .instead = std::move(instead)};
}

}  // namespace

TechniqueEntry DeclareTechnique_gradient_projection() {
  return {
      .declaration =
          {.id = "gradient-projection",
           .group = "Optimizer",
           .title = "GaLore",
           .explanation =
               "The gradient of a linear layer is projected to a few dimensions. Adam keeps its "
               "moments for the projection: two moments of rank x longer side, and a projection "
               "matrix. The gradient itself keeps its size. The moments of embeddings, norms, the "
               "output layer and other parameters keep their size, too. The singular vectors are "
               "recomputed every few hundred steps, which is slow and needs memory.",
           .settings =
               {{.key = "galore.rank",
                 .help = "rank of the projected moments of a matrix; 0: moments are not projected",
                 .kind = run::ValueKind::kInteger,
                 .default_value = "0",
                 .low = 0,
                 .high = 65536,
                 .label = "rank"},
                {.key = "galore.gap",
                 .help = "number of steps between two computations of the projection",
                 .kind = run::ValueKind::kInteger,
                 .default_value = "200",
                 .low = 1,
                 .high = 1e6,
                 .label = "steps"},
                {.key = "galore.targets",
                 .help = "linear layers whose gradients are projected. \"layers\": all linear "
                         "layers in the model's layers, like transformers' "
                         "optim_target_modules=[\"attn\", \"mlp\"] for Llama and similar models. "
                         "\"all-linear\": also the output layer, if it is not tied to the "
                         "embedding. Other values are parts of the linear layers' paths",
                 .kind = run::ValueKind::kText,
                 .default_value = "layers",
                 .format = "names",
                 .label = "on"}},
           .toggles = {{.id = "galore",
                        .title = "GaLore",
                        .explanation = "moments with low rank",
                        .on = {{"galore.rank", false, {"0"}}},
                        .ways = {{{"galore.rank", "128"}}},
                        .controls = {"galore.rank", "galore.gap", "galore.targets"}}},
           .rules =
               {NotWith({"model.family", true, {"gpt2"}},
                        "is not supported for GPT-2, because transformers' GaLore skips Conv1D "
                        "layers: set galore.rank=0",
                        {{"galore.rank", "0"}}),
                NotWith(
                    {"optimizer.name", false, {"adamw"}},
                    "requires AdamW, because GaLore is a form of AdamW: set optimizer.name=adamw",
                    {{"galore.rank", "0"}}),
                NotWith({"optimizer.bits", false, {"32"}},
                        "is only supported for fp32 moments: set optimizer.bits=32",
                        {{"optimizer.bits", "32"}}),
                NotWith(
                    {"offload.optimizer", false, {"none"}},
                    "is only supported for optimizer state on the GPU: set offload.optimizer=none",
                    {{"offload.optimizer", "none"}}),
                NotWith({"shard.strategy", true, {"zero1", "zero2", "zero3", "tensor"}},
                        "is not supported for sharded gradients, because a part of a gradient has "
                        "other singular vectors than the whole gradient: use shard.strategy=ddp or "
                        "shard.strategy=none",
                        {{"shard.ranks", "1"}, {"shard.strategy", "none"}}),
                NotWith({"resume.map_location", false, {"none"}},
                        "is not supported when a checkpoint is loaded, because GaLore's state "
                        "can't be loaded: set resume.map_location=none",
                        {{"resume.map_location", "none"}}),
                NotWith({"model.family", true, {"basics"}},
                        "is not supported for the model \"basics\", whose script has its own "
                        "optimizer: set galore.rank=0",
                        {{"galore.rank", "0"}})}},
      .order = 45,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Integer("galore.rank") == 0) return nullptr;
        return std::make_unique<GradientProjection>(config);
      }};
}

}  // namespace vramscope::trainer::gradient_projection_technique
