// Keeps optimizer state in host memory, like ZeRO-Offload. Gradients are copied to pinned host
// memory, the step updates a copy of the weights there, and the new weights are copied back.
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <torch/types.h>

#include <filesystem>

#include "trainer/capture/cancel.h"
#include "trainer/capture/host_work.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/host_step.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class HostOptimizer final : public Optimizer {
 public:
  HostOptimizer(const OptimizerConfig& config, std::vector<at::Tensor> parameters, bool computes,
                int64_t takes_ns)
      : Optimizer(std::move(parameters), config.lr), computes_(computes), takes_ns_(takes_ns) {
    at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : parameters_) {
      host_.push_back(Pinned(parameter));
      if (computes_) host_.back().copy_(parameter);
    }
    if (computes_) inner_ = MakeOptimizer(config, host_);
  }

  void Step() override {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& gradient = parameters_[i].grad();
      if (!gradient.defined()) continue;
      ThrowIfCancelled();
      at::Tensor& on_host = gradients_.emplace_back(Pinned(gradient));
      on_host.copy_(gradient, /*non_blocking=*/true);
      if (computes_) host_[i].mutable_grad() = on_host;
    }
    WaitForGradients();
    if (inner_ != nullptr) {
      inner_->Step();
      inner_->ZeroGrad(ZeroGradMode::kNone);
    } else {
      HostWorks(takes_ns_);  // in a plan, the step only takes time
    }
    ReleaseList(gradients_);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].grad().defined()) parameters_[i].copy_(host_[i], /*non_blocking=*/true);
    }
  }

  void SetLearningRate(double lr) override {
    if (inner_ != nullptr) inner_->SetLearningRate(lr);
  }
  std::vector<at::Tensor> StateTensors() const override {
    return inner_ != nullptr ? inner_->StateTensors() : std::vector<at::Tensor>();
  }

 private:
  void WaitForGradients() const {
    if (parameters_.empty() || parameters_.front().is_cpu()) return;
    const c10::Device device = parameters_.front().device();
    c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
  }
  static at::Tensor Pinned(const at::Tensor& like) {
    return at::empty(
        like.sizes(),
        like.options().device(at::kCPU).requires_grad(false).pinned_memory(!like.is_cpu()));
  }

  const bool computes_;
  const int64_t takes_ns_;
  std::vector<at::Tensor> host_, gradients_;
  std::unique_ptr<Optimizer> inner_;
};

class OptimizerOffload final : public Technique {
 public:
  explicit OptimizerOffload(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)),
        folder_(config.Is("offload.optimizer", "nvme") ? config.Get("offload.path") : "") {}
  absl::Status OnModel(Model&) override {
    if (folder_.empty()) return absl::OkStatus();
    std::error_code error;
    if (std::filesystem::is_directory(folder_, error)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("offload.path = \"{}\" is not a folder on this computer, but optimizer state "
                    "on disk needs one",
                    folder_.substr(0, 200)));
  }
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<HostOptimizer>(config_, trained, run.measured,
                                           HostStepNs(run.config, trained));
  }

 private:
  OptimizerConfig config_;
  std::string folder_;
};

}  // namespace

TechniqueEntry DeclareTechnique_optimizer_offload() {
  return {
      .declaration =
          {.id = "optimizer-offload",
           .group = "Offload",
           .title = "Optimizer state on the host",
           .explanation = "Moments are in host memory, and the step runs on the host. Gradients "
                          "are copied to the host, and new weights are copied back. The GPU keeps "
                          "weights, gradients and activations. With nvme, the state is on disk "
                          "between steps. This makes no difference for the GPU.",
           .settings = {{.key = "offload.optimizer",
                         .help = "where the optimizer state is kept",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"cpu", ""}, {"nvme", "on disk"}}},
                        {.key = "offload.path",
                         .help = "folder on the disk for offload.optimizer=nvme; \"none\" selects "
                                 "the folder for temporary files",
                         .kind = run::ValueKind::kText,
                         .default_value = ""}},
           .toggles = {{.id = "offload-optimizer",
                        .title = "Optimizer state on the host",
                        .explanation = "the step runs on the CPU",
                        .on = {{"offload.optimizer", true, {"cpu"}}},
                        .ways = {{{"offload.optimizer", "cpu"}}}},
                       {.id = "offload-optimizer-disk",
                        .title = "Optimizer state on disk",
                        .explanation =
                            "the step runs on the CPU, and the optimizer state is on NVMe",
                        .on = {{"offload.optimizer", true, {"nvme"}}},
                        .ways = {{{"offload.optimizer", "nvme"}}},
                        .controls = {"offload.path"}}},
           .rules =
               {{.when = {{"offload.optimizer", true, {"nvme"}},
                          {"backend", true, {"cpu", "cuda"}}},
                 .why = "offload.optimizer=nvme is only supported for plans: use backend=plan, or "
                        "offload.optimizer=cpu",
                 .instead = {{"offload.optimizer", "none"}}},
                {.when = {{"offload.optimizer", false, {"none"}},
                          {"optimizer.bits", false, {"32"}}},
                 .why = "offload.optimizer runs the step on the host, which has no kernels for "
                        "optimizer.bits below 32: set optimizer.bits=32",
                 .instead = {{"optimizer.bits", "32"}}},
                {.when = {{"offload.optimizer", false, {"none"}},
                          {"optimizer.in_backward", true, {"true"}}},
                 .why = "offload.optimizer updates all parameters in one step: set "
                        "optimizer.in_backward=false",
                 .instead = {{"optimizer.in_backward", "false"}}},
                {.when = {{"offload.optimizer", false, {"none"}},
                          {"model.family", true, {"basics"}}},
                 .why = "the script of the model \"basics\" has its own optimizer: set "
                        "offload.optimizer=none",
                 .instead = {{"offload.optimizer", "none"}}}},
           .assumes = {{.when = {{"offload.optimizer", false, {"none"}}},
                        .what = HostStepAssumption()},
                       {.when = {{"offload.optimizer", true, {"nvme"}}},
                        .what = "optimizer state on disk needs the same GPU memory as state in "
                                "host memory; disk access is assumed to take no time"}}},
      .fit = {{.row = "offload-optimizer", .last_resort = true}},
      .order = 43,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("offload.optimizer", "none")) return nullptr;
        return std::make_unique<OptimizerOffload>(config);
      }};
}

}  // namespace vramscope::trainer
