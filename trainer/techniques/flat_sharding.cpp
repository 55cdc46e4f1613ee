// FSDP1, which shards flat parameters. FSDP2 shards each parameter by rows (sharding.cpp).
#include <torch/types.h>

#include "trainer/sharding/flat_sharded.h"
#include "trainer/techniques/shared_units.h"

namespace vramscope::trainer {
namespace {

FlatOptions OptionsOf(const run::RunConfig& config) {
  FlatOptions options{
      .reshards_after_forward = config.Is("shard.strategy", "zero3"),
      .layers_per_unit = LayersPerUnit(config),
      .limits_gathers = config.Is("shard.limit_all_gathers", "true"),
      .prefetches_forward = config.Integer("shard.forward_prefetch") > 0,
      .backward_prefetch =
          config.Is("shard.backward_prefetch_at", "before")  ? FlatPrefetch::kBeforeUnit
          : config.Is("shard.backward_prefetch_at", "after") ? FlatPrefetch::kAfterUnit
                                                             : FlatPrefetch::kNever,
      .original_parameters = config.Is("shard.original_parameters", "true"),
      .checkpoints_hold_units = config.Is("checkpointing.mode", "layer") && !LossIsOutside(config),
      .offloads = config.Is("offload.parameters", "cpu")};
  if (config.Is("shard.gathered_as", "bf16")) options.gathered_as = at::kBFloat16;
  if (config.Is("shard.gathered_as", "fp16")) options.gathered_as = at::kHalf;
  return options;
}

class FlatSharding final : public SharedUnits<FlatSharded, FlatOptions> {
 public:
  explicit FlatSharding(const run::RunConfig& config)
      : SharedUnits(config, OptionsOf(config)),
        replicas_(static_cast<int>(config.Integer("shard.replicas"))),
        micro_batches_(config.micro_batches),
        adds_up_whole_(config.Is("shard.no_sync", "true")) {
    // Each group of consecutive GPUs, such as a node's, splits one copy of the model. The GPUs at
    // the same position in their groups have the same part.
    together_ = ranks_ / replicas_;
    place_ = together_ > 0 ? rank_ % together_ : 0;
  }

  absl::Status OnModel(Model& model) override {
    if (ranks_ % replicas_ == 0 && together_ > 1) return SharedUnits::OnModel(model);
    if (replicas_ == 1) return SharedUnits::OnModel(model);
    return absl::InvalidArgumentError(
        fmt::format("shard.replicas = {} does not divide shard.ranks = {} into equal groups of two "
                    "or more GPUs, which each split one copy of the model",
                    replicas_, ranks_));
  }
  std::unique_ptr<Held> AroundRun(const RunContext& run) override {
    auto held = std::make_unique<HeldReplicas>(*this);
    if (replicas_ > 1) {
      options_.replicas = run.join_ranks(rank_ / together_, replicas_);
      if (run.config.Is("precision", "amp-fp16")) all_ = run.join_ranks(rank_, ranks_);
    }
    held->inner = SharedUnits::AroundRun(run);
    return held;
  }
  void OverflowsOverRanks(const at::Tensor& found) override {
    std::vector<at::Tensor> sums = {found};
    if (auto work = (all_ ? all_ : group_)->allreduce(sums)) work->wait();
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    sharded_->BeforeForward(++forwards_ % micro_batches_ == 0 || !adds_up_whole_);
    return nullptr;
  }
  bool ClipNorm(double most) override {
    sharded_->ClipNorm(most);
    return true;
  }
  std::vector<at::Tensor> Trained(std::vector<at::Tensor> parameters) override {
    return options_.original_parameters ? std::move(parameters) : sharded_->TrainedTensors();
  }

 private:
  // The destructor shuts down all process groups except the one that splits the model.
  struct HeldReplicas final : Held {
    explicit HeldReplicas(FlatSharding& of) : owner(of) {}
    ~HeldReplicas() override {
      for (auto* group : {&owner.options_.replicas, &owner.all_}) {
        if (*group) (*group)->shutdown();
        group->reset();
      }
    }
    FlatSharding& owner;
    std::unique_ptr<Held> inner;
  };

  const int replicas_;
  c10::intrusive_ptr<c10d::ProcessGroup> all_;  // the group of all ranks, if it is not `group_`
  const int micro_batches_;
  const bool adds_up_whole_;
  int64_t forwards_ = 0;
};

}  // namespace

TechniqueEntry DeclareTechnique_flat_sharding() {
  using run::ValueKind;
  const run::Condition fsdp1{"shard.implementation", true, {"fsdp1"}};
  const run::Condition units{"shard.strategy", true, {"zero2", "zero3"}};
  const run::Condition rows{"shard.original_parameters", true, {"true"}};
  const run::Condition flat{"shard.original_parameters", true, {"false"}};
  const auto not_with = [&](std::vector<run::Condition> other, std::string why,
                            run::SettingValues instead) {
    other.insert(other.begin(), {fsdp1, units});
    return run::Rule{.when = std::move(other),
                     .why = "With shard.implementation=fsdp1, " + std::move(why),
                     .instead = std::move(instead)};
  };
  const std::string nested =
      "a re-entrant checkpoint inside a unit frees the whole unit's weights at the end of the "
      "checkpoint's backward, and then PyTorch fails; set checkpointing.reentrant=false";
  const std::string partly =
      "PyTorch refuses partly trained units if use_orig_params=False; set "
      "shard.original_parameters=true";
  const std::vector<std::string> controls = {"shard.ranks",
                                             "shard.rank",
                                             "shard.replicas",
                                             "shard.units",
                                             "shard.limit_all_gathers",
                                             "shard.backward_prefetch_at",
                                             "shard.original_parameters",
                                             "shard.no_sync",
                                             "shard.gathered_as"};
  const auto yes_or_no = [](std::string key, std::string help, std::string value,
                            std::string label) {
    return run::SettingDeclaration{.key = std::move(key),
                                   .help = std::move(help),
                                   .kind = ValueKind::kChoice,
                                   .default_value = std::move(value),
                                   .choices = {{"true", ""}, {"false", ""}},
                                   .label = std::move(label)};
  };
  return {
      .declaration =
          {.id = "flat-sharding",
           .group = "Several GPUs",
           .title = "Shards of flat parameters",
           .explanation =
               "With FullyShardedDataParallel (FSDP1) instead of fully_shard, all parameters of a "
               "layer form one flat tensor, which is divided evenly among the GPUs. This tensor is "
               "gathered as a whole, and the parameters are views of it. The gradients of all the "
               "layer's parameters, trained or not, are also one tensor until they are scattered. "
               "This GPU's gradients stay in memory until the next forward, even if the program "
               "releases them earlier.",
           .settings =
               {{.key = "shard.implementation",
                 .help = "for zero2 and zero3: \"fsdp2\" uses fully_shard, \"fsdp1\" uses "
                         "FullyShardedDataParallel around each layer and the model",
                 .kind = ValueKind::kChoice,
                 .default_value = "fsdp2",
                 .choices = {{"fsdp2", "fully_shard"}, {"fsdp1", "FullyShardedDataParallel"}},
                 .label = "by"},
                {.key = "shard.replicas",
                 .help = "fsdp1: number of groups of GPUs. Each group splits one copy of the model "
                         "(HYBRID_SHARD). Gradients are scattered within a group and summed over "
                         "the groups. 1: all GPUs form one group",
                 .kind = ValueKind::kInteger,
                 .default_value = "1",
                 .low = 1,
                 .high = 65536,
                 .label = "groups"},
                yes_or_no("shard.limit_all_gathers",
                          "fsdp1: \"true\" (limit_all_gathers): before the host gathers a unit, it "
                          "waits until the weights of the unit two places earlier are freed; "
                          "\"false\": no limit",
                          "true", "limit gathers"),
                {.key = "shard.backward_prefetch_at",
                 .help = "fsdp1: when backward gathers the next layer: before it computes a "
                         "layer's gradients (BACKWARD_PRE), after it computes them "
                         "(BACKWARD_POST), or when it needs the next layer (None)",
                 .kind = ValueKind::kChoice,
                 .default_value = "before",
                 .choices = {{"before", "before a layer"},
                             {"after", "after a layer"},
                             {"never", "when needed"}},
                 .label = "gather next"},
                yes_or_no("shard.original_parameters",
                          "fsdp1: \"true\" gives the optimizer this GPU's part of each parameter "
                          "(use_orig_params), \"false\" gives it the flat parameters",
                          "true", "original parameters"),
                yes_or_no("shard.no_sync",
                          "fsdp1: accumulate unsharded gradients in all micro-batches except the "
                          "last (no_sync)",
                          "false", "no_sync"),
                {.key = "shard.gathered_as",
                 .help = "fsdp1: type in which weights are gathered and gradients scattered "
                         "(MixedPrecision(param_dtype=...)); the shards keep their own type",
                 .kind = ValueKind::kChoice,
                 .default_value = "weights",
                 .choices = {{"weights", "their own type"}, {"bf16", ""}, {"fp16", ""}},
                 .label = "gathered as"}},
           .toggles = {{.id = "fsdp1",
                        .title = "Flat shards (FSDP1)",
                        .explanation =
                            "each layer's parameters form one tensor, which is divided evenly",
                        .on = {fsdp1, {"shard.strategy", true, {"zero3"}}},
                        .ways = {{{"shard.implementation", "fsdp1"},
                                  {"shard.strategy", "zero3"},
                                  {"shard.ranks", "4"}}},
                        .controls = controls},
                       {.id = "fsdp1-gathered-once",
                        .title = "Flat shards, gathered once (FSDP1)",
                        .explanation = "SHARD_GRAD_OP: weights stay until backward",
                        .on = {fsdp1, {"shard.strategy", true, {"zero2"}}},
                        .ways = {{{"shard.implementation", "fsdp1"},
                                  {"shard.strategy", "zero2"},
                                  {"shard.ranks", "4"}}},
                        .controls = controls}},
           .rules =
               {not_with(
                    {{"shard.forward_prefetch", false, {"0", "1"}}},
                    "at most one layer is gathered ahead; set shard.forward_prefetch=1",
                    {{"shard.forward_prefetch", "1"}}),
                not_with(
                    {{"shard.backward_prefetch", false, {"1"}}},
                    "backward gathers one layer ahead, at the point that "
                    "shard.backward_prefetch_at sets; set shard.backward_prefetch=1",
                    {{"shard.backward_prefetch", "1"}}),
                not_with(
                    {{"offload.parameters", true, {"cpu"}}, {"shard.ranks", true, {"1"}}},
                    "one GPU means NO_SHARD, which is not supported; use "
                    "shard.implementation=fsdp2",
                    {{"shard.implementation", "fsdp2"}}),
                not_with(
                    {{"offload.parameters", true, {"cpu"}},
                     {"micro_batches", false, {"1"}},
                     {"shard.no_sync", true, {"false"}}},
                    "PyTorch does not accumulate gradients on the host; set shard.no_sync=true",
                    {{"shard.no_sync", "true"}}),
                {.when =
                     {{"shard.replicas", false, {"1"}}, {"shard.implementation", true, {"fsdp2"}}},
                 .why =
                     "shard.replicas requires FSDP1 (HYBRID_SHARD); set shard.implementation=fsdp1",
                 .instead = {{"shard.replicas", "1"}}},
                {.when = {{"shard.replicas", false, {"1"}},
                          {"shard.strategy", false, {"zero2", "zero3"}}},
                 .why =
                     "shard.replicas requires a strategy that splits the model within each group "
                     "of GPUs; set shard.strategy=zero3 or zero2",
                 .instead = {{"shard.replicas", "1"}}},
                not_with({{"quantization", false, {"none"}}},
                         "PyTorch refuses to flatten integers; set quantization=none, or "
                         "shard.implementation=fsdp2",
                         {{"quantization", "none"}}),
                not_with({{"lora.rank", false, {"0"}},
                          {"lora.dtype", true, {"fp32"}},
                          {"precision", true, {"bf16", "fp16"}}},
                         "PyTorch refuses to flatten fp32 adapters and 16-bit weights into one "
                         "tensor; set lora.dtype=weights",
                         {{"lora.dtype", "weights"}}),
                not_with({flat, {"lora.rank", false, {"0"}}}, partly,
                         {{"shard.original_parameters", "true"}}),
                not_with({flat, {"trainable", false, {"all"}}}, partly,
                         {{"shard.original_parameters", "true"}}),
                not_with({{"checkpointing.mode", true, {"attention", "ffn"}},
                          {"checkpointing.reentrant", true, {"true"}}},
                         nested, {{"checkpointing.reentrant", "false"}}),
                not_with({{"shard.units", true, {"model"}},
                          {"checkpointing.mode", true, {"layer", "every-k", "alternate"}},
                          {"checkpointing.reentrant", true, {"true"}}},
                         nested, {{"checkpointing.reentrant", "false"}}),
                not_with({{"galore.rank", false, {"0"}}},
                         "GaLore can't be used: it projects matrices, but a part of a flat "
                         "parameter is one-dimensional; set galore.rank=0",
                         {{"galore.rank", "0"}}),
                not_with(
                    {{"gradients.dtype", true, {"fp32"}}},
                    "gradients.dtype=fp32 can't be used: it relies on hooks of single parameters, "
                    "but only flat parameters get gradients; set gradients.dtype=weights",
                    {{"gradients.dtype", "weights"}}),
                not_with({{"save", false, {"none"}}},
                         "state_dict gathers the model, which is not supported; set save=none",
                         {{"save", "none"}}),
                not_with({{"resume.map_location", false, {"none"}}},
                         "load_state_dict gathers the model, which is not supported; set "
                         "resume.map_location=none",
                         {{"resume.map_location", "none"}}),
                not_with({{"load", true, {"cast-on-device"}}},
                         "units are moved to the GPU one by one; set load=device",
                         {{"load", "device"}})},
           .assumes = {{.when = {fsdp1, units},
                        .what = "FullyShardedDataParallel is Python code. Its allocations are "
                                "reproduced one by one, as in PyTorch 2.11"}}},
      .modelled = {{.assumed = 0, .category = "Communication"},
                   {.assumed = 0, .category = "Gradient"}},
      .order = 28,  // the same as sharding.cpp (FSDP2)
      .place = 48,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const bool shards =
            config.Is("shard.strategy", "zero2") || config.Is("shard.strategy", "zero3");
        if (!shards || !config.Is("shard.implementation", "fsdp1")) return nullptr;
        return std::make_unique<FlatSharding>(config);
      }};
}

}  // namespace vramscope::trainer
