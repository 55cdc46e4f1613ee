// Training on several cards, as one of their ranks: data parallel. What PyTorch has in C++
// (buckets, reduction) is PyTorch's own.
#include <fmt/format.h>
#include <torch/torch.h>

#include "trainer/sharding/data_parallel.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class DataParallelTechnique final : public Technique {
 public:
  explicit DataParallelTechnique(const run::RunConfig& config)
      : rank_(static_cast<int>(config.Integer("shard.rank"))),
        ranks_(static_cast<int>(config.Integer("shard.ranks"))),
        micro_batches_(config.micro_batches),
        views_(config.Is("shard.gradients", "views")) {}

  absl::Status OnModel(Model&) override {
    if (rank_ < ranks_) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format(
        "shard.rank = {} is not one of {} ranks: they are counted from 0 to shard.ranks - 1", rank_,
        ranks_));
  }
  std::unique_ptr<Held> AroundRun(const RunContext& run) override {
    return std::make_unique<HeldGroup>(*this, run.join_ranks(rank_, ranks_));
  }
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor> trained) override {
    parallel_ = std::make_unique<DataParallel>(
        group_, model, std::vector<at::Tensor>(trained.begin(), trained.end()), views_);
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    const bool reduces = ++forwards_ % micro_batches_ == 0;
    parallel_->BeforeForward(reduces);
    return std::make_unique<HeldForward>(*parallel_, reduces);
  }
  void AfterRun() override { parallel_.reset(); }
  bool repeats() const override { return false; }

 private:
  class HeldGroup final : public Held {
   public:
    HeldGroup(DataParallelTechnique& owner, c10::intrusive_ptr<c10d::ProcessGroup> group)
        : owner_(owner) {
      owner_.group_ = std::move(group);
    }
    ~HeldGroup() override {
      owner_.group_->shutdown();
      owner_.group_.reset();
    }

   private:
    DataParallelTechnique& owner_;
  };
  class HeldForward final : public Held {
   public:
    HeldForward(DataParallel& parallel, bool reduces) : parallel_(parallel), reduces_(reduces) {}
    ~HeldForward() override { parallel_.AfterForward(reduces_); }

   private:
    DataParallel& parallel_;
    const bool reduces_;
  };

  const int rank_, ranks_, micro_batches_;
  const bool views_;
  int64_t forwards_ = 0;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::unique_ptr<DataParallel> parallel_;
};

}  // namespace

TechniqueEntry DeclareTechnique_sharding() {
  using run::ValueKind;
  const run::Condition ddp{"shard.strategy", true, {"ddp"}};
  const run::Condition any{"shard.strategy", false, {"none"}};
  const run::SettingValues none{{"shard.strategy", "none"}, {"shard.ranks", "1"}};
  return {
      .declaration =
          {.id = "sharding",
           .group = "Several GPUs",
           .title = "Data parallel",
           .explanation =
               "Each GPU trains on a batch of its own and gradients are averaged. "
               "DistributedDataParallel copies them into buckets: once more as much as all "
               "gradients, unless gradients are views of the buckets.",
           .settings = {{.key = "shard.strategy",
                         .help = "how GPUs share the training; batch is what one GPU sees",
                         .kind = ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"ddp", "DistributedDataParallel"}}},
                        {.key = "shard.ranks",
                         .help = "GPUs that share",
                         .kind = ValueKind::kInteger,
                         .default_value = "1",
                         .low = 1,
                         .high = 4096,
                         .label = "GPUs"},
                        {.key = "shard.rank",
                         .help = "which of the GPUs is looked at, counted from 0",
                         .kind = ValueKind::kInteger,
                         .default_value = "0",
                         .low = 0,
                         .high = 4095},
                        {.key = "shard.gradients",
                         .help = "buckets of ddp: copies of the gradients, or gradients are views "
                                 "of them (gradient_as_bucket_view)",
                         .kind = ValueKind::kChoice,
                         .default_value = "copies",
                         .choices = {{"copies", ""}, {"views", ""}},
                         .label = "buckets"}},
           .toggles = {{.id = "ddp",
                        .title = "Data parallel",
                        .explanation = "every GPU holds everything, and gradients once more",
                        .on = {ddp},
                        .ways = {{{"shard.strategy", "ddp"}, {"shard.ranks", "4"}}},
                        .controls = {"shard.ranks", "shard.gradients"}}},
           .rules =
               {{.when = {any, {"shard.ranks", true, {"1"}}},
                 .why = "shard.strategy: one GPU has nobody to share with; set shard.ranks=2 "
                        "or more",
                 .instead = {{"shard.ranks", "2"}}},
                {.when = {any, {"backend", true, {"cuda"}}},
                 .why = "shard.strategy: one process on this computer's GPU is not several; "
                        "use backend=plan",
                 .instead = none},
                {.when = {any, {"mode", true, {"inference"}}},
                 .why = "shard.strategy=ddp shares gradients, which inference has none of",
                 .instead = none},
                {.when = {any, {"optimizer.in_backward", true, {"true"}}},
                 .why = "shard.strategy: gradients are averaged before they are used; set "
                        "optimizer.in_backward=false",
                 .instead = {{"optimizer.in_backward", "false"}}},
                {.when = {any, {"loss", true, {"chunked"}}},
                 .why = "shard.strategy: with loss=chunked the output layer's gradient comes "
                        "once for every chunk, and DistributedDataParallel takes each gradient "
                        "once; set loss=full",
                 .instead = {{"loss", "full"}}}},
           .implies = {"one process stands for one rank of shard.ranks; batch is that of a GPU"}},
      .order = 47,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("shard.strategy", "ddp")) return nullptr;
        return std::make_unique<DataParallelTechnique>(config);
      }};
}

}  // namespace vramscope::trainer
