// Training on several GPUs. The run is one of the ranks. The ranks are data parallel, or
// fully_shard divides the state among them, or the matrices are divided (tensor parallelism).
// DistributedDataParallel's buckets and reduction are PyTorch's own C++ code.
#include <fmt/format.h>
#include <torch/types.h>

#include "profiler/run/check_run.h"
#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"
#include "trainer/sharding/data_parallel.h"
#include "trainer/sharding/fully_sharded.h"
#include "trainer/sharding/tensor_parallel.h"
#include "trainer/sharding/zero_redundancy.h"
#include "trainer/techniques/shared_units.h"

namespace vramscope::trainer {
namespace {

class DataParallelTechnique final : public RankOfMany {
 public:
  explicit DataParallelTechnique(const run::RunConfig& config)
      : RankOfMany(config),
        micro_batches_(config.micro_batches),
        loss_is_outside_(LossIsOutside(config)),
        deals_out_(config.Is("shard.strategy", "zero1")),
        options_{.gradients_are_views = config.Is("shard.gradients", "views"),
                 .finds_unused = config.Is("shard.find_unused", "true"),
                 .bucket_bytes = config.Integer("shard.bucket_mb") << 20} {}

  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor> trained) override {
    parallel_ = std::make_unique<DataParallel>(
        group_, model, std::vector<at::Tensor>(trained.begin(), trained.end()), options_);
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    reduces_ = ++forwards_ % micro_batches_ == 0;
    parallel_->BeforeForward(reduces_);
    return nullptr;
  }
  LossFunction AroundLoss(LossFunction inner) override {
    return [this, inner](Model& model, at::Tensor& logits, const Batch& batch) {
      if (loss_is_outside_) parallel_->AfterForward(reduces_, {&logits});
      at::Tensor loss = inner(model, logits, batch);
      if (loss_is_outside_) return loss;
      // With a chunked loss, the model returns only the loss.
      std::vector<at::Tensor*> returned = {&loss};
      if (logits.defined()) returned.push_back(&logits);
      parallel_->AfterForward(reduces_, returned);
      return loss;
    };
  }
  std::unique_ptr<Optimizer> DivideOptimizer(const MakeOptimizerOf& make,
                                             const std::vector<at::Tensor>& trained) override {
    return deals_out_ ? MakeZeroRedundancy(group_, make, trained) : nullptr;
  }
  void AfterRun() override { parallel_.reset(); }

 private:
  const int micro_batches_;
  const bool loss_is_outside_;
  const bool deals_out_;  // the optimizer is divided among the ranks (ZeRO-1)
  const DataParallelOptions options_;
  int64_t forwards_ = 0;
  bool reduces_ = false;
  std::unique_ptr<DataParallel> parallel_;
};

class FullyShardedTechnique final : public SharedUnits<FullySharded, ShardOptions> {
 public:
  explicit FullyShardedTechnique(const run::RunConfig& config)
      : SharedUnits(
            config,
            {.reshards_after_forward = config.Is("shard.strategy", "zero3"),
             .layers_per_unit = LayersPerUnit(config),
             .forward_prefetch = static_cast<int>(config.Integer("shard.forward_prefetch")),
             .backward_prefetch = static_cast<int>(config.Integer("shard.backward_prefetch")),
             .offloads = config.Is("offload.parameters", "cpu")}) {}

  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    sharded_->BeforeForward();
    return nullptr;
  }
  // Sums squared norms over the ranks and takes the roots, one number per gradient, as PyTorch does
  // for DTensors.
  at::Tensor NormsOverRanks(const at::Tensor& norms) override {
    at::Tensor squares = norms.pow(2);
    std::vector<at::Tensor> sums = {squares.clone()};
    group_->allreduce(sums)->wait();
    at::Tensor whole = sums.front().pow(0.5);
    squares.reset();
    return whole;
  }
};

class TensorParallelTechnique final : public RankOfMany {
 public:
  explicit TensorParallelTechnique(const run::RunConfig& config)
      : RankOfMany(config),
        config_(Sizes(config)),
        vocabulary_(config.Is("shard.vocabulary", "whole")   ? Vocabulary::kWhole
                    : config.Is("shard.vocabulary", "parts") ? Vocabulary::kParts
                                                             : Vocabulary::kLoss) {}

  absl::Status OnModel(Model& model) override {
    if (!config_.ok()) return config_.status();
    const RankOf rank{.rank = rank_, .ranks = ranks_};
    if (absl::Status status = RankOfMany::OnModel(model); !status.ok()) return status;
    if (absl::Status status = CheckRanks(*config_, rank); !status.ok()) return status;
    auto split = SplitModel(model, rank, vocabulary_);
    if (!split.ok()) return split.status();
    parallel_ = *std::move(split);
    return absl::OkStatus();
  }
  void AfterLoad(const RunContext&, Model& model) override { parallel_->Join(group_, model); }
  void AfterRun() override { parallel_->Leave(); }

 private:
  // Returns a config that has all sizes that must be divisible by the number of ranks. For some
  // families, CheckRun() does not read these sizes.
  static absl::StatusOr<run::ModelConfig> Sizes(const run::RunConfig& config) {
    absl::StatusOr<run::ModelConfig> sizes = run::CheckRun(config);
    const auto object = run::ParseConfigObject(config.model_config_json);
    if (!sizes.ok() || !object.ok()) return sizes;
    run::ConfigReader reader(*object);
    const auto fill = [&reader](int64_t& size, const char* key, int64_t most, int64_t otherwise) {
      if (size == 0) size = reader.Integer({key}, 1, most, otherwise);
    };
    fill(sizes->heads, "num_attention_heads", run::kMaxHeads, 0);
    fill(sizes->kv_heads, "num_key_value_heads", run::kMaxHeads, sizes->heads);
    fill(sizes->intermediate_size, "intermediate_size", run::kMaxIntermediate, 0);
    if (!reader.status().ok()) return reader.status();
    return sizes;
  }

  const absl::StatusOr<run::ModelConfig> config_;
  const Vocabulary vocabulary_;
  std::shared_ptr<TensorParallel> parallel_;
};

}  // namespace

TechniqueEntry DeclareTechnique_sharding() {
  using run::ValueKind;
  const run::Condition ddp{"shard.strategy", true, {"ddp"}};
  const run::Condition units{"shard.strategy", true, {"zero2", "zero3"}};
  const run::Condition fsdp2{"shard.implementation", true, {"fsdp2"}};
  const run::Condition dealt{"shard.strategy", true, {"zero1"}};
  const run::Condition split{"shard.strategy", true, {"tensor"}};
  const run::Condition any{"shard.strategy", false, {"none"}};
  const run::SettingValues none{{"shard.strategy", "none"}, {"shard.ranks", "1"}};
  const auto not_with = [&](const run::Condition& other, std::string why, std::string value) {
    return run::Rule{.when = {units, other},
                     .why = "With shard.strategy=zero2 or zero3, " + std::move(why),
                     .instead = {{other.key, std::move(value)}}};
  };
  const auto not_split = [&](const run::Condition& other, std::string why, std::string value) {
    return run::Rule{.when = {split, other},
                     .why = "With shard.strategy=tensor, " + std::move(why),
                     .instead = {{other.key, std::move(value)}}};
  };
  return {
      .declaration =
          {.id = "sharding",
           .group = "Several GPUs",
           .title = "Several GPUs",
           .explanation =
               "Each GPU trains on its own batch, and gradients are averaged. With ddp, "
               "DistributedDataParallel copies gradients into buckets. The buckets need as much "
               "memory as the gradients, unless gradients are views of them. zero1 is like ddp, "
               "but with ZeroRedundancyOptimizer: each GPU has the optimizer state of its share of "
               "the parameters. zero3 applies fully_shard to each layer and the model (FSDP2). "
               "Weights, gradients and optimizer state are divided among the GPUs, and a layer is "
               "gathered while it runs. zero2 is like zero3, but with reshard_after_forward=False: "
               "gathered weights stay until the end of backward. With tensor (tensor parallelism), "
               "every GPU has the same batch. It holds a part of each layer's heads and "
               "feed-forward width (ColwiseParallel, RowwiseParallel), with the gradients and "
               "optimizer state of this part. Between these parts, every GPU holds the complete "
               "activations. They are summed over the GPUs twice per layer in forward, and twice "
               "in backward.",
           .settings =
               {{.key = "shard.strategy",
                 .help = "how GPUs share the training; batch is the number of samples of one GPU",
                 .kind = ValueKind::kChoice,
                 .default_value = "none",
                 .choices = {{"none", ""},
                             {"ddp", "DistributedDataParallel"},
                             {"zero1", "ZeroRedundancyOptimizer over ddp"},
                             {"zero2", "fully_shard, weights stay until backward"},
                             {"zero3", "fully_shard"},
                             {"tensor", "ColwiseParallel and RowwiseParallel"}}},
                {.key = "shard.ranks",
                 .help = "number of GPUs",
                 .kind = ValueKind::kInteger,
                 .default_value = "1",
                 .low = 1,
                 .high = 4096,
                 .label = "GPUs"},
                {.key = "shard.rank",
                 .help = "rank of the GPU whose memory is planned; the first is 0",
                 .kind = ValueKind::kInteger,
                 .default_value = "0",
                 .low = 0,
                 .high = 4095},
                {.key = "shard.gradients",
                 .help = "ddp: \"copies\": buckets hold copies of the gradients; \"views\": "
                         "gradients are views of the buckets (gradient_as_bucket_view)",
                 .kind = ValueKind::kChoice,
                 .default_value = "copies",
                 .choices = {{"copies", ""}, {"views", ""}},
                 .label = "buckets"},
                {.key = "shard.find_unused",
                 .help = "ddp: find parameters that a forward does not use "
                         "(find_unused_parameters). Models with unused parts need this. "
                         "DistributedDataParallel then copies the model's outputs",
                 .kind = ValueKind::kChoice,
                 .default_value = "false",
                 .choices = {{"false", ""}, {"true", ""}},
                 .label = "find unused"},
                {.key = "shard.bucket_mb",
                 .help = "ddp: size of a bucket in MiB; the gradients in a bucket are averaged "
                         "together (bucket_cap_mb)",
                 .kind = ValueKind::kInteger,
                 .default_value = "25",
                 .low = 1,
                 .high = 65536,
                 .label = "MiB per bucket"},
                {.key = "shard.vocabulary",
                 .help =
                     "for shard.strategy=tensor: \"whole\" keeps embedding and output layer "
                     "complete on every GPU. \"parts\" splits them and gathers the logits. "
                     "\"loss\" splits them and computes the loss over the parts (loss_parallel)",
                 .kind = ValueKind::kChoice,
                 .default_value = "whole",
                 .choices = {{"whole", ""},
                             {"parts", "split the embedding and the output layer"},
                             {"loss", "split the loss as well"}},
                 .label = "vocabulary"},
                {.key = "shard.units",
                 .help = "zero2 and zero3: which parameters are gathered together (fully_shard on "
                         "each layer and the model, or only on the model)",
                 .kind = ValueKind::kChoice,
                 .default_value = "layer",
                 .choices = {{"layer", "each layer"}, {"model", "the model as a whole"}},
                 .label = "units"},
                {.key = "shard.forward_prefetch",
                 .help = "zero2 and zero3: number of layers gathered ahead in forward "
                         "(set_modules_to_forward_prefetch)",
                 .kind = ValueKind::kInteger,
                 .default_value = "0",
                 .low = 0,
                 .high = 64,
                 .label = "ahead in forward"},
                {.key = "shard.backward_prefetch",
                 .help = "zero2 and zero3: number of layers gathered ahead in backward; FSDP2's "
                         "default is 1, and more layers need set_modules_to_backward_prefetch",
                 .kind = ValueKind::kInteger,
                 .default_value = "1",
                 .low = 1,
                 .high = 64,
                 .label = "ahead in backward"}},
           .toggles = {{.id = "ddp",
                        .title = "Data parallel",
                        .explanation = "every GPU has the whole model and optimizer state, and a "
                                       "second copy of the gradients",
                        .on = {ddp},
                        .ways = {{{"shard.strategy", "ddp"}, {"shard.ranks", "4"}}},
                        .controls = {"shard.ranks", "shard.rank", "shard.gradients",
                                     "shard.bucket_mb", "shard.find_unused"}},
                       {.id = "zero1",
                        .title = "Sharded optimizer state",
                        .explanation =
                            "data parallelism; each GPU updates its share of the parameters",
                        .on = {dealt},
                        .ways = {{{"shard.strategy", "zero1"}, {"shard.ranks", "4"}}},
                        .controls = {"shard.ranks", "shard.rank", "shard.gradients",
                                     "shard.bucket_mb", "shard.find_unused"}},
                       {.id = "zero2",
                        .title = "Shards, weights gathered once",
                        .explanation = "gradients and optimizer state are divided",
                        .on = {{"shard.strategy", true, {"zero2"}}, fsdp2},
                        .ways = {{{"shard.strategy", "zero2"}, {"shard.ranks", "4"}}},
                        .controls = {"shard.ranks", "shard.rank", "shard.units",
                                     "shard.forward_prefetch", "shard.backward_prefetch"}},
                       {.id = "zero3",
                        .title = "Shards (FSDP2)",
                        .explanation =
                            "weights are also divided; a layer is gathered while it runs",
                        .on = {{"shard.strategy", true, {"zero3"}}, fsdp2},
                        .ways = {{{"shard.strategy", "zero3"}, {"shard.ranks", "4"}}},
                        .controls = {"shard.ranks", "shard.rank", "shard.units",
                                     "shard.forward_prefetch", "shard.backward_prefetch"}},
                       {.id = "tensor-parallel",
                        .title = "Tensor parallel",
                        .explanation = "each GPU has a part of every layer",
                        .on = {split},
                        .ways = {{{"shard.strategy", "tensor"},
                                  {"shard.ranks", "2"},
                                  {"optimizer.impl", "loop"}}},
                        .controls = {"shard.ranks", "shard.rank", "shard.vocabulary"}}},
           .rules =
               {{.when =
                     {any, {"shard.ranks", true, {"1"}}, {"offload.parameters", true, {"none"}}},
                 .why = "shard.strategy requires at least two GPUs; set shard.ranks=2 or more",
                 .instead = {{"shard.ranks", "2"}}},
                {.when = {any, {"backend", true, {"cuda"}}},
                 .why = "shard.strategy is not supported on this computer's GPU, where the run is "
                        "a single process; use backend=plan",
                 .instead = none},
                {.when = {units, {"backend", true, {"cpu"}}},
                 .why = "With shard.strategy=zero2 or zero3, backend=cpu does not compute the "
                        "values of other ranks; use backend=plan, or shard.strategy=ddp",
                 .instead = none},
                {.when = {any, {"mode", false, {"train"}}},
                 .why = "shard.strategy applies only to training, not to inference and generation",
                 .instead = none},
                {.when = {any, {"optimizer.in_backward", true, {"true"}}},
                 .why = "shard.strategy averages gradients before the optimizer uses them; set "
                        "optimizer.in_backward=false",
                 .instead = {{"optimizer.in_backward", "false"}}},
                {.when = {any, {"loss", true, {"chunked"}}, {"loss_reentrant", true, {"true"}}},
                 .why = "shard.strategy is not supported with loss=chunked and re-entrant "
                        "checkpoints: every chunk adds to the output layer's gradient, which may "
                        "be averaged only once; set loss_reentrant=false",
                 .instead = {{"loss_reentrant", "false"}}},
                {.when = {units, fsdp2, {"optimizer.name", true, {"adafactor"}}},
                 .why = "With shard.strategy=zero2 or zero3, PyTorch's Adafactor refuses "
                        "distributed tensors; use adamw, or shard.implementation=fsdp1",
                 .instead = {{"optimizer.name", "adamw"}}},
                {.when =
                     {units,
                      fsdp2,
                      {"optimizer.bits", true, {"8"}},
                      {"optimizer.library", true, {"bitsandbytes"}}},
                 .why = "With shard.strategy=zero2 or zero3, bitsandbytes refuses distributed "
                        "tensors; set optimizer.library=torchao, or shard.strategy=zero1",
                 .instead = {{"optimizer.library", "torchao"}, {"optimizer.paged", "false"}}},
                not_with({"optimizer.name", true, {"muon", "adam-mini"}},
                         "this optimizer is not supported, because it needs complete matrices; use "
                         "adamw, or shard.strategy=ddp",
                         "adamw"),
                {.when =
                     {units,
                      {"offload.optimizer", false, {"none"}},
                      {"offload.parameters", true, {"none"}}},
                 .why =
                     "With shard.strategy=zero2 or zero3, optimizer state is on the same device as "
                     "the shards; also set offload.parameters=cpu, or set offload.optimizer=none",
                 .instead = {{"offload.optimizer", "none"}}},
                not_with({"offload.activations", true, {"cpu"}},
                         "gathered weights would be treated as activations; set "
                         "offload.activations=none",
                         "none"),
                not_with({"activation_compression", true, {"int8"}},
                         "gathered weights would be treated as activations; set "
                         "activation_compression=none",
                         "none"),
                {.when = {{"shard.strategy", true, {"ddp", "zero1"}},
                          {"shard.find_unused", true, {"true"}},
                          {"checkpointing.mode", false, {"none", "selective", "budget"}},
                          {"checkpointing.reentrant", true, {"true"}}},
                 .why = "With shard.find_unused, DistributedDataParallel treats parameters of "
                        "re-entrant checkpoints as unused, and fails; set "
                        "checkpointing.reentrant=false",
                 .instead = {{"checkpointing.reentrant", "false"}}},
                {.when = {split, {"backend", true, {"cpu"}}},
                 .why = "With shard.strategy=tensor, backend=cpu does not compute what other ranks "
                        "contribute to sums; use backend=plan, or shard.strategy=ddp",
                 .instead = none},
                {.when =
                     {split,
                      {"model.family", false, {"llama", "qwen3", "gemma", "gemma2", "gemma3"}}},
                 .why = "shard.strategy=tensor can split only q, k, v, o, gate, up and down of "
                        "Llama, Qwen2, Qwen3, Mistral and Gemma. This model has other layers: set "
                        "shard.strategy=none",
                 .instead = none},
                not_split({"optimizer.impl", true, {"foreach", "fused"}},
                          "PyTorch's foreach and fused optimizers refuse lists that mix split and "
                          "unsplit parameters; set optimizer.impl=loop, which PyTorch uses by "
                          "default in this case",
                          "loop"),
                not_split({"optimizer.name", true, {"adafactor"}},
                          "PyTorch's Adafactor refuses distributed tensors; use adamw", "adamw"),
                not_split({"optimizer.bits", false, {"32"}},
                          "moments in fewer bits are not supported for split parameters; set "
                          "optimizer.bits=32",
                          "32"),
                not_split({"optimizer.name", true, {"muon", "adam-mini"}},
                          "this optimizer is not supported, because it needs complete matrices; "
                          "use adamw",
                          "adamw"),
                not_split({"clip_grad_norm", false, {"0"}},
                          "PyTorch refuses to compute a common norm of split and unsplit "
                          "gradients; set clip_grad_norm=0",
                          "0"),
                not_split(
                    {"precision", true, {"amp-fp16"}},
                    "infinite gradients are not detected across ranks; use precision=amp-bf16",
                    "amp-bf16"),
                {.when = {split, {"shard.vocabulary", true, {"loss"}}, {"loss", true, {"chunked"}}},
                 .why =
                     "shard.vocabulary=loss computes the loss of all logits at once: set loss=full",
                 .instead = {{"loss", "full"}}},
                {.when =
                     {split, {"shard.vocabulary", false, {"whole"}}, {"trainable", false, {"all"}}},
                 .why = "shard.vocabulary is only supported if all parameters are trained: set "
                        "trainable=all",
                 .instead = {{"trainable", "all"}}},
                not_split({"lora.rank", false, {"0"}},
                          "adapters are not supported; set lora.rank=0", "0"),
                not_split({"quantization", false, {"none"}},
                          "quantized weights are not supported; set quantization=none", "none"),
                not_split({"offload.optimizer", false, {"none"}},
                          "the optimizer runs on the GPU; set offload.optimizer=none", "none"),
                not_split(
                    {"offload.activations", true, {"cpu"}},
                    "saved distributed tensors are not offloaded; set offload.activations=none",
                    "none"),
                not_split(
                    {"activation_compression", true, {"int8"}},
                    "saved distributed tensors are not compressed; set activation_compression=none",
                    "none"),
                {.when = {dealt, {"backend", true, {"cpu"}}},
                 .why = "With shard.strategy=zero1, backend=cpu does not compute the updates of "
                        "other ranks; use backend=plan, or shard.strategy=ddp",
                 .instead = none},
                {.when = {dealt, {"offload.optimizer", false, {"none"}}},
                 .why = "With shard.strategy=zero1, the optimizer runs on the GPU; set "
                        "offload.optimizer=none, or use shard.strategy=zero3 with "
                        "offload.parameters=cpu",
                 .instead = {{"offload.optimizer", "none"}}},
                {.when = {dealt, {"model.family", true, {"basics"}}},
                 .why = "this shard.strategy is not supported for the model \"basics\", whose "
                        "script has its own optimizer; use shard.strategy=ddp",
                 .instead = none},
                {.when = {units, {"model.family", true, {"basics"}}},
                 .why = "this shard.strategy is not supported for the model \"basics\", whose "
                        "script has its own optimizer; use shard.strategy=ddp",
                 .instead = none}},
           .implies =
               {"one process represents one rank of shard.ranks. The setting \"batch\" is the "
                "batch of one GPU; with shard.strategy=tensor, all GPUs have the same batch",
                "FSDP and tensor parallelism can't be combined: shard.strategy selects only one of "
                "them"},
           .assumes =
               {{.when = {any},
                 .what = "other ranks respond immediately and have the same values as this rank. "
                         "NCCL's own buffers take 4 MiB per channel, with 16 channels for each of "
                         "two neighbours"},
                {.when = {units, fsdp2},
                 .what =
                     "fully_shard is implemented in Python. The plan makes the same allocations, "
                     "one by one, as fully_shard of PyTorch 2.11"},
                {.when = {{"shard.strategy", true, {"ddp", "zero1"}}},
                 .what = "a bucket as large as all gradients stays in memory until NCCL's watchdog "
                         "runs. The watchdog runs every 100 ms. If a run is faster or slower than "
                         "planned, the peak of its first steps may be higher or lower by the size "
                         "of this bucket"}}},
      .modelled = {{.assumed = 1, .category = "Communication"},
                   {.assumed = 1, .category = "Gradient"}},
      // A unit stays gathered while checkpointing runs its layers again, so sharding encloses
      // checkpointing.
      .order = 28,
      .place = 47,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("shard.strategy", "ddp") || config.Is("shard.strategy", "zero1")) {
          return std::make_unique<DataParallelTechnique>(config);
        }
        if (config.Is("shard.strategy", "none")) return nullptr;
        if (config.Is("shard.implementation", "fsdp1") && !config.Is("shard.strategy", "tensor")) {
          return nullptr;  // flat_sharding.cpp declares FSDP1
        }
        if (config.Is("shard.strategy", "tensor")) {
          return std::make_unique<TensorParallelTechnique>(config);
        }
        return std::make_unique<FullyShardedTechnique>(config);
      }};
}

}  // namespace vramscope::trainer
