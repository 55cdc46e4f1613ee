// Adam's moments in 8 bits, like bitsandbytes' AdamW8bit: each block of 256 elements has a scale.
// The moments of tensors with fewer than 4096 elements are in fp32. Each optimizer makes two tables
// of 256 values once. In transformers' Trainer (4.52 and later), the moments of every nn.Embedding
// are in fp32, too (GlobalOptimManager, in Trainer.create_optimizer). With paging, moments of
// 100,000 elements or more are in managed memory. PyTorch's allocator does not see it, so these
// moments are in host memory here.
#include <ATen/record_function.h>
#include <torch/types.h>

#include <unordered_set>
#include <utility>

#include "trainer/capture/modelled_kernel.h"
#include "trainer/models/layers.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/quantised_adam.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer::eight_bit_optimizer_technique {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kLeastElements = 4096;
constexpr int64_t kTable = 256;
constexpr int64_t kLeastPaged = 100'000;
constexpr char kStep8[] = "bitsandbytes::optimizer_update_8bit_blockwise";
constexpr char kStep32[] = "bitsandbytes::optimizer_update_32bit";

using Storages = std::unordered_set<uint64_t>;  // values of StorageKey()

// Allocates the state of one bitsandbytes optimizer. Each optimizer has its own two tables.
class Layout {
 public:
  Layout(Storages in_fp32, bool paged, bool computes)
      : in_fp32_(std::move(in_fp32)), paged_(paged), computes_(computes) {}

  QuantisedMoments operator()(const at::Tensor& parameter) {
    const auto type = parameter.options().requires_grad(false);
    const auto zeros = [&](at::IntArrayRef shape, at::ScalarType dtype) {
      return MakeState(parameter, [&] { return at::zeros(shape, type.dtype(dtype)); });
    };
    const auto moment = [&](at::ScalarType dtype) {
      if (!paged_ || parameter.numel() < kLeastPaged) return zeros(parameter.sizes(), dtype);
      const auto host = at::TensorOptions().dtype(dtype);
      return computes_ ? at::zeros(parameter.sizes(), host) : at::empty(parameter.sizes(), host);
    };
    QuantisedMoments made;
    if (parameter.numel() < kLeastElements || in_fp32_.contains(StorageKey(parameter))) {
      made.first.codes = moment(at::kFloat);
      made.second.codes = moment(at::kFloat);
      return made;
    }
    if (!signed_table_.defined()) {
      signed_table_ = Table(parameter.device());
      unsigned_table_ = Table(parameter.device());
    }
    const int64_t blocks = (parameter.numel() + kBlock - 1) / kBlock;
    made.first.codes = moment(at::kByte);
    made.second.codes = moment(at::kByte);
    made.first.scale = zeros({blocks}, at::kFloat);
    made.second.scale = zeros({blocks}, at::kFloat);
    return made;
  }

 private:
  // Makes a table of the value that each byte represents, on the host.
  static at::Tensor Table(at::Device device) {
    const CategoryScope category(trace::Category::kOptimizerState);
    return at::empty({kTable}, at::TensorOptions().dtype(at::kFloat))
        .to(device, /*non_blocking=*/false, /*copy=*/true);
  }

  const Storages in_fp32_;
  const bool paged_, computes_;
  at::Tensor signed_table_, unsigned_table_;
};

// Launches the kernel that updates one tensor in place.
void UpdateByKernel(const at::Tensor& parameter, const QuantisedMoments& moments) {
  const char* kernel = moments.first.scale.defined() ? kStep8 : kStep32;
  RECORD_FUNCTION(kernel, c10::ArrayRef<const c10::IValue>());
  LaunchModelled(kernel, parameter, BytesOfUpdate(parameter, moments));
}

class EightBitOptimizer final : public Technique {
 public:
  explicit EightBitOptimizer(const run::RunConfig& config)
      : config_(OptimizerConfigOf(config)),
        paged_(config.Is("optimizer.paged", "true")),
        embeddings_in_fp32_(config.Is("optimizer.embedding_bits", "32")) {}

  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    in_fp32_.clear();  // may contain entries from the rehearsal
    if (!embeddings_in_fp32_) return;
    model.Visit([&](Module& module, const std::string&) {
      if (auto* embedding = dynamic_cast<Embedding*>(&module))
        in_fp32_.insert(StorageKey(embedding->weight()->tensor));
    });
  }
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext& run,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<QuantisedAdam>(config_, trained, Layout(in_fp32_, paged_, run.measured),
                                           UpdateByKernel, run.measured);
  }

 private:
  OptimizerConfig config_;
  bool paged_, embeddings_in_fp32_;
  Storages in_fp32_;
};

}  // namespace

TechniqueEntry DeclareTechnique_eight_bit_optimizer() {
  return {
      .declaration =
          {.id = "eight-bit-optimizer",
           .group = "Optimizer",
           .title = "8-bit Adam",
           .explanation =
               "Each moment takes one byte per element, and a scale for each 256 elements: a "
               "quarter of fp32. The step runs one kernel per tensor, without temporaries. The "
               "moments of embeddings stay in fp32, as in transformers' Trainer. bitsandbytes "
               "alone uses 8 bits for embeddings, too (optimizer.embedding_bits=8). With paging, "
               "the moments of large tensors are in managed memory: on the GPU while it has room, "
               "otherwise on the host. Each step then brings them back over the bus.",
           .settings =
               {{.key = "optimizer.bits",
                 .help = "bits per element of optimizer state. 16 is bfloat16. 8 and 4 are "
                         "stored in blocks with a scale (see optimizer.library)",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "32",
                 .choices = {{"32", "like the weights"}, {"16", ""}, {"8", ""}, {"4", ""}}},
                {.key = "optimizer.paged",
                 .help = "keep 8-bit moments of large tensors in managed memory, like "
                         "bitsandbytes' paged optimizers",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "false",
                 .choices = {{"false", ""}, {"true", ""}}},
                {.key = "optimizer.embedding_bits",
                 .help = "bits per element of an embedding's moments in bitsandbytes' 8-bit "
                         "optimizer. \"32\": transformers' Trainer (4.52 and later) requests 32 "
                         "bits for embeddings. \"8\": bitsandbytes is used without the Trainer",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "32",
                 .choices = {{"32", "32 (Trainer)"}, {"8", "8 (bitsandbytes alone)"}},
                 .label = "embeddings"}},
           .toggles = {{.id = "optimizer-8bit",
                        .title = "8-bit Adam",
                        .explanation =
                            "one byte per element of a moment, and a scale for each 256 elements",
                        .on = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.library", true, {"bitsandbytes"}},
                               {"optimizer.paged", true, {"false"}}},
                        .ways = {{{"optimizer.bits", "8"},
                                  {"optimizer.library", "bitsandbytes"},
                                  {"optimizer.paged", "false"}}},
                        .controls = {"optimizer.embedding_bits"}},
                       {.id = "optimizer-paged",
                        .title = "Paged 8-bit Adam",
                        .explanation = "moments leave the GPU when memory is short",
                        .on = {{"optimizer.bits", true, {"8"}},
                               {"optimizer.paged", true, {"true"}}},
                        .ways = {{{"optimizer.bits", "8"},
                                  {"optimizer.library", "bitsandbytes"},
                                  {"optimizer.paged", "true"}}},
                        .controls = {"optimizer.embedding_bits"}}},
           .rules =
               {{.when = {{"optimizer.paged", true, {"true"}}, {"optimizer.bits", false, {"8"}}},
                 .why = "optimizer.paged is only supported for 8-bit moments: set optimizer.bits=8",
                 .instead = {{"optimizer.bits", "8"}}},
                {.when = {{"optimizer.bits", true, {"8"}},
                          {"optimizer.name", false, {"adam", "adamw"}}},
                 .why = "optimizer.bits=8 requires Adam: set optimizer.name to adam or adamw",
                 .instead = {{"optimizer.bits", "32"}}}},
           .assumes =
               {{.when = {{"optimizer.paged", true, {"true"}}},
                 .what = "the peak does not include paged moments. They are in managed memory, "
                         "which PyTorch's allocator does not see. Paged moments stay on the GPU "
                         "while there is room for them. The step time assumes that there is room"},
                {.when = {{"optimizer.bits", true, {"8"}},
                          {"optimizer.library", true, {"bitsandbytes"}}},
                 .what = "bitsandbytes' 8-bit kernel is modelled as one kernel per tensor "
                         "that works in place, without temporaries, and moves gradient, "
                         "weight and moments at memory bandwidth"}}},
      .fit = {{.row = "optimizer-8bit", .changes = run::Changes::kRounding},
              {.row = "optimizer-paged", .changes = run::Changes::kRounding, .last_resort = true}},
      .modelled = {{.assumed = 1, .category = "Optimizer state"}},
      .order = 44,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("optimizer.bits", "8") || config.Is("optimizer.library", "torchao")) {
          return nullptr;
        }
        return std::make_unique<EightBitOptimizer>(config);
      }};
}

}  // namespace vramscope::trainer::eight_bit_optimizer_technique
