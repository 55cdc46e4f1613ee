#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <optional>

#include "tests/trainer/capture/memory_sink.h"
#include "trainer/backends/cuda/cuda_backend.h"
#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer {
namespace {

using at::Tensor;
using trace::Category;
using trace::EventKind;
using trace::Phase;

run::DeviceProfile Ada() { return *run::FindDevice("rtx-4090"); }

// Begins a run on the emulated platform and records all events.
class PlanRun {
 public:
  explicit PlanRun(const run::DeviceProfile& profile = Ada())
      : backend_(CudaBackend()), recorder_(std::in_place, sink, backend_.clock()) {
    taps_.emplace();
    const absl::Status status = backend_.Start(profile, *recorder_);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  void Finish() {
    const absl::Status status = backend_.Stop();
    EXPECT_TRUE(status.ok()) << status.message();
    taps_.reset();
    recorder_.reset();
  }
  ~PlanRun() {
    if (recorder_) Finish();
  }
  MemorySink sink;
  Recorder& recorder() { return *recorder_; }

 private:
  Backend& backend_;
  std::optional<Recorder> recorder_;
  std::optional<Taps> taps_;
};

struct Net : torch::nn::Module {
  torch::nn::Embedding embedding{nullptr};
  torch::nn::LayerNorm norm{nullptr};
  torch::nn::Linear up{nullptr}, down{nullptr}, head{nullptr};
  Net() {
    embedding = register_module("embedding", torch::nn::Embedding(1000, 64));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({64})));
    up = register_module("up", torch::nn::Linear(64, 256));
    down = register_module("down", torch::nn::Linear(256, 64));
    head = register_module("head", torch::nn::Linear(64, 1000));
  }
  Tensor forward(const Tensor& ids) {
    Tensor x = embedding(ids);
    {
      ModuleScope scope("mlp");
      Tensor y = norm(x);
      y = torch::dropout(torch::gelu(up(y)), 0.1, true);
      x = x + down(y);
    }
    ModuleScope scope("head");
    return head(x);
  }
};

void Train(int steps, bool autocast = false) {
  const auto device = CudaBackend().device();
  auto net = std::make_shared<Net>();
  {
    PhaseScope setup(Phase::kSetup);
    net->to(device);
    for (const Tensor& p : net->parameters()) TagStorage(p, Category::kParameter, "parameter");
    WatchGradients(net->parameters());
  }
  for (int i = 0; i < steps; ++i) {
    StepScope step(i);
    Tensor ids, targets, loss;
    {
      PhaseScope phase(Phase::kData);
      ids = torch::empty({4, 32}, torch::dtype(torch::kLong).device(device));
      targets = torch::empty({4, 32}, torch::dtype(torch::kLong).device(device));
    }
    {
      PhaseScope phase(Phase::kForward);
      at::autocast::set_autocast_enabled(at::kCUDA, autocast);
      at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
      ModuleScope scope("model");
      Tensor logits = net->forward(ids);
      loss = torch::nn::functional::cross_entropy(logits.view({-1, 1000}), targets.view({-1}));
      at::autocast::set_autocast_enabled(at::kCUDA, false);
      at::autocast::clear_cache();
    }
    {
      PhaseScope phase(Phase::kBackward);
      loss.backward();
    }
    {
      PhaseScope phase(Phase::kOptimizer);
      // Does not use torch::optim, which keeps its state in a map that is ordered by pointers, so
      // that the order differs between runs.
      torch::NoGradGuard no_grad;
      for (const Tensor& p : net->parameters()) p.sub_(p.grad() * 1e-3);
    }
    for (const Tensor& p : net->parameters()) p.mutable_grad().reset();
  }
}

TEST(EmulatedCuda, StockModelTrainsAndFreesAllMemory) {
  PlanRun run;
  Train(2);
  EXPECT_GT(run.recorder().live_allocations(), 0u);  // the two workspaces
  run.Finish();
  Replay replay;
  replay.ApplyAll(run.sink);
  EXPECT_TRUE(replay.live.empty());
  EXPECT_TRUE(replay.segments.empty());
  EXPECT_GT(replay.peak_allocated, 2u * (1000 * 64 * 2 + 64 * 256 * 2) * 4);
}

std::string Describe(const MemorySink& sink, const trace::Event& e) {
  return fmt::format(
      "{} id {} {} category {} detail {} pool {} stream {} thread {} at {:#x} bytes {}/{} time {} "
      "module {}",
      trace::Name(e.kind), e.id, sink.Text(e.name), trace::Name(e.category), e.detail,
      static_cast<int>(e.pool), e.stream, e.thread, e.address, e.bytes, e.bytes_rounded, e.time_ns,
      sink.Text(e.module));
}

std::vector<std::string> Describe(const MemorySink& sink) {
  std::vector<std::string> lines;
  for (const trace::Event& e : sink.events) lines.push_back(Describe(sink, e));
  return lines;
}

TEST(EmulatedCuda, RepeatedRunsRecordTheSameEvents) {
  std::vector<std::string> first;
  for (int i = 0; i < 4; ++i) {
    PlanRun run;
    Train(2);
    run.Finish();
    const std::vector<std::string> lines = Describe(run.sink);
    if (i == 0) first = lines;
    ASSERT_EQ(lines.size(), first.size());
    for (size_t k = 0; k < lines.size(); ++k) ASSERT_EQ(lines[k], first[k]) << "event " << k;
  }
}

// An allocation on the device, and the op that made it.
struct Request {
  std::string op;
  uint64_t bytes;
  Category category;
};
std::vector<Request> Requests(const std::function<void()>& body,
                              const run::DeviceProfile& profile = Ada()) {
  PlanRun run(profile);
  body();
  run.Finish();
  std::vector<Request> out;
  for (const trace::Event& e : run.sink.events) {
    if (e.kind == EventKind::kAlloc) out.push_back({run.sink.Text(e.name), e.bytes, e.category});
  }
  return out;
}

Tensor Make(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return torch::empty(sizes, torch::dtype(type).device(CudaBackend().device()));
}

TEST(EmulatedCuda, AssignsCategoriesToTensorsOfOneStep) {
  PlanRun run;
  Train(1);
  run.Finish();
  std::map<Category, int> born, became;
  for (const trace::Event& e : run.sink.events) {
    if (e.kind == EventKind::kAlloc) ++born[e.category];
    if (e.kind == EventKind::kRetag) ++became[e.category];
  }
  EXPECT_EQ(became[Category::kParameter], 9);
  EXPECT_EQ(became[Category::kGradient], 9);
  EXPECT_EQ(born[Category::kInput], 2);
  EXPECT_EQ(born[Category::kWorkspace], 2);  // the loop's thread, autograd's thread
  EXPECT_GT(born[Category::kAutogradDetail], 5);
  EXPECT_GT(became[Category::kActivation], 5);
  EXPECT_EQ(born[Category::kUnknown], 9);  // parameters are Unknown until they are registered
}

// A recording shows that an H200 has two workspaces of 32 MiB. The workspaces of the first GPU in
// the table have another size.
TEST(EmulatedCuda, UsesWorkspaceSizeOfThePlannedGpu) {
  const std::vector<Request> requests = Requests([] { Train(1); }, *run::FindDevice("h200"));
  std::vector<uint64_t> workspaces;
  for (const Request& request : requests)
    if (request.category == Category::kWorkspace) workspaces.push_back(request.bytes);
  EXPECT_EQ(workspaces, std::vector<uint64_t>(2, uint64_t{32} << 20));
}

TEST(EmulatedCuda, AttributesBackwardToForwardModules) {
  PlanRun run;
  Train(1);
  run.Finish();
  std::set<std::string> modules;
  for (const trace::Event& e : run.sink.events) {
    if (e.kind == EventKind::kAlloc && e.thread == 1) modules.insert(run.sink.Text(e.module));
  }
  EXPECT_TRUE(modules.contains("model.mlp"));
  EXPECT_TRUE(modules.contains("model.head"));
}

TEST(EmulatedCuda, ReleasesEverySavedTensor) {
  const SavedTensorCounts before = SavedTensorTotals();
  {
    PlanRun run;
    Train(2);
  }
  const SavedTensorCounts after = SavedTensorTotals();
  EXPECT_GT(after.packed - before.packed, 20u);
  EXPECT_EQ(after.packed - before.packed, after.released - before.released);
}

TEST(EmulatedCuda, AutocastCopiesWeightsAndActivations) {
  const auto count_copies = [](bool autocast) {
    size_t n = 0;
    PlanRun run;
    Train(1, autocast);
    run.Finish();
    for (const trace::Event& e : run.sink.events) {
      n += e.kind == EventKind::kAlloc && run.sink.Text(e.name) == "aten::_to_copy";
    }
    return n;
  };
  // Nine parameters are copied to the device. Autocast copies weights and activations, too.
  EXPECT_EQ(count_copies(false), 9u);
  EXPECT_GT(count_copies(true), 15u);
}

TEST(EmulatedCuda, BmmClonesOperandsWithUnsupportedStrides) {
  const auto requests = Requests([] {
    Tensor a = Make({2, 8, 4}), b = Make({2, 4, 16});
    Tensor plain = at::bmm(a, b);
    Tensor transposed = at::bmm(a, Make({2, 16, 4}).transpose(1, 2));
    // This input has strides of 0, like the gradient of a sum.
    Tensor expanded = at::bmm(Make({1, 1, 1}).expand({2, 8, 4}), b);
  });
  std::vector<uint64_t> bytes;
  for (const Request& r : requests) bytes.push_back(r.bytes);
  EXPECT_THAT(bytes, ::testing::ElementsAre(2 * 8 * 4 * 4, 2 * 4 * 16 * 4, 2 * 8 * 16 * 4,
                                            Ada().blas_workspace_bytes, 2 * 16 * 4 * 4,
                                            2 * 8 * 16 * 4, 4, 2 * 8 * 16 * 4, 2 * 8 * 4 * 4));
}

TEST(EmulatedCuda, ReductionsAllocateStagingAndSemaphores) {
  const run::DeviceProfile hopper = *run::FindDevice("h100-sxm");
  const auto sizes = [&](int64_t rows) {
    std::vector<uint64_t> bytes;
    for (const Request& r : Requests([&] { Make({rows, 1024}).sum(0); }, hopper)) {
      bytes.push_back(r.bytes);
    }
    return bytes;
  };
  EXPECT_THAT(sizes(512), ::testing::ElementsAre(512 * 1024 * 4, 4096));
  EXPECT_THAT(sizes(2048), ::testing::ElementsAre(2048 * 1024 * 4, 4096, 8 * 2048 * 1024, 32));
}

TEST(EmulatedCuda, ViewsAllocateNothing) {
  const auto requests = Requests([] {
    Tensor a = Make({4, 6});
    Tensor v = a.view({24}).view({2, 12}).t().slice(0, 1, 5).unsqueeze(0).expand({3, 4, 2});
    EXPECT_EQ(v.storage().data(), a.storage().data());
    EXPECT_EQ(a.permute({1, 0}).select(0, 1).sizes(), at::IntArrayRef({4}));
  });
  EXPECT_EQ(requests.size(), 1u);
}

TEST(EmulatedCuda, ResizeAllocatesOnlyWhenGrowing) {
  const auto requests = Requests([] {
    Tensor a = at::empty({0}, torch::device(CudaBackend().device()));
    a.resize_({256});
    a.resize_({100});
    EXPECT_EQ(torch::arange(10, torch::device(CudaBackend().device())).numel(), 10);
  });
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].bytes, 1024u);
  EXPECT_EQ(requests[1].bytes, 80u);
}

TEST(EmulatedCuda, SdpaUsesFlashForBf16AndEfficientForFp32) {
  const auto names = [](at::ScalarType type) {
    std::set<std::string> ops;
    PlanRun run;
    Tensor q = Make({2, 4, 64, 32}, type);
    at::scaled_dot_product_attention(q, q, q, {}, 0.0, true);
    q.reset();
    run.Finish();
    for (const trace::Event& e : run.sink.events) ops.insert(run.sink.Text(e.name));
    return ops;
  };
  EXPECT_TRUE(names(at::kBFloat16).contains("aten::_scaled_dot_product_flash_attention"));
  EXPECT_TRUE(names(at::kFloat).contains("aten::_scaled_dot_product_efficient_attention"));
}

// Allocates inputs and their gradients, the result, padded sums of exponentials, and the workspace.
// In addition: the product of result and gradient, and its row sums twice (fp32) or once (16 bits).
TEST(EmulatedCuda, EfficientAttentionAllocatesItsKernelsBuffers) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    // Calls backward directly: autograd's thread might free a tensor after grad() has returned.
    const auto requests = Requests([&] {
      std::vector<Tensor> in;
      for (int i = 0; i < 3; ++i) in.push_back(Make({2, 4, 72, 64}, type));
      const auto [out, sums, seed, offset] = at::_scaled_dot_product_efficient_attention(
          in[0], in[1], in[2], {}, /*compute_log_sumexp=*/true, /*dropout_p=*/0.0,
          /*is_causal=*/true);
      at::_scaled_dot_product_efficient_attention_backward(
          at::empty_like(out), in[0], in[1], in[2], Tensor(), out, sums, seed, offset,
          /*dropout_p=*/0.0, {true, true, true, false}, /*is_causal=*/true);
    });
    const uint64_t element = type == at::kFloat ? 4 : 2;
    const uint64_t tensor = 2 * 4 * 72 * 64 * element, sums = 2 * 4 * 72 * 4;
    const uint64_t workspace = 2 * 4 * 2 * (64 * 64 + 4) * 4;
    std::vector<uint64_t> expected = {tensor, tensor, tensor, tensor, 2 * 4 * 96 * 4,
                                      tensor, tensor, tensor, tensor};
    if (type == at::kFloat) expected.insert(expected.end(), {2 * 4 * 72 * 64 * 4, sums});
    expected.insert(expected.end(), {sums, workspace});
    std::vector<uint64_t> bytes;
    for (const Request& r : requests) bytes.push_back(r.bytes);
    EXPECT_EQ(bytes, expected) << type;
  }
}

TEST(EmulatedCuda, ForeachAndFusedOpsAllocateOnlyTheirResults) {
  const auto requests = Requests([] {
    std::vector<Tensor> a{Make({8}), Make({16})}, b{Make({8}), Make({16})};
    at::_foreach_mul_(a, 0.5);
    at::_foreach_addcmul_(a, b, b, 0.1);
    const std::vector<Tensor> roots = at::_foreach_sqrt(a);
    EXPECT_EQ(roots.size(), 2u);
    const std::vector<Tensor> steps{Make({}), Make({})};
    at::_fused_adamw_(a, b, b, b, {}, steps, 1e-3, 0.9, 0.999, 0.01, 1e-8, false, false);
  });
  EXPECT_EQ(requests.size(), 4u + 2u + 2u);
}

TEST(EmulatedCuda, RecordsOutOfMemoryOnceAndStillAllocates) {
  run::DeviceProfile small = Ada();
  small.memory_bytes = 1ull << 30;
  small.context_bytes = 256ull << 20;
  PlanRun run(small);
  std::vector<Tensor> tensors;
  for (int i = 0; i < 4; ++i) tensors.push_back(Make({100 << 20}));  // 400 MiB each
  tensors.clear();
  run.Finish();
  EXPECT_EQ(run.sink.Count(EventKind::kOutOfMemory), 1u);
  EXPECT_EQ(run.sink.Count(EventKind::kAlloc), 4u);
  EXPECT_EQ(run.sink.Count(EventKind::kFreeCompleted), 4u);
}

TEST(EmulatedCuda, ReportsLeakedAllocationsAndIsolatesTheNextRun) {
  std::optional<MemorySink> sink(std::in_place);
  Tensor leaked;
  {
    Recorder recorder(*sink, CudaBackend().clock());
    ASSERT_TRUE(CudaBackend().Start(Ada(), recorder).ok());
    leaked = Make({100});
    const absl::Status status = CudaBackend().Stop();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("1 allocations"));
  }
  PlanRun run;
  Tensor other = Make({100});
  leaked.reset();
  EXPECT_EQ(run.recorder().live_allocations(), 1u);
  other.reset();
}

TEST(EmulatedCuda, ClockAdvancesByKernelTime) {
  PlanRun run;
  const Clock clock = CudaBackend().clock();
  Tensor a = Make({4096, 4096});
  at::mm(a, a);  // allocates its workspace
  CudaBackend().FinishWork();
  const int64_t start = clock();
  Tensor v = a.t();
  EXPECT_EQ(clock(), start);
  at::mm(a, v);
  CudaBackend().FinishWork();
  const double product = 2.0 * 4096 * 4096 * 4096 / Ada().fp32_flops * 1e9;
  EXPECT_GE(static_cast<double>(clock() - start), product);
  // The modelled time is longer: waves are incomplete, and no GPU reaches its peak rate.
  EXPECT_LT(static_cast<double>(clock() - start), product * 1.4);
}

TEST(EmulatedCuda, RejectsInvalidDeviceAndSecondStart) {
  MemorySink sink;
  Recorder recorder(sink, CudaBackend().clock());
  run::DeviceProfile none;
  EXPECT_EQ(CudaBackend().Start(none, recorder).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(CudaBackend().Start(Ada(), recorder).ok());
  EXPECT_EQ(CudaBackend().Start(Ada(), recorder).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(CudaBackend().Stop().ok());
}

}  // namespace
}  // namespace vramscope::trainer
