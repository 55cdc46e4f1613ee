#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <optional>

#include "tests/trainer/capture/memory_sink.h"
#include "trainer/backends/backend.h"
#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer {
namespace {

using at::Tensor;
using trace::Category;
using trace::EventKind;
using trace::Phase;

run::DeviceProfile Ada() {
  run::DeviceProfile d;
  d.key = "test-ada";
  d.name = "test";
  d.memory_bytes = 24ull << 30;
  d.context_bytes = 500ull << 20;
  d.sm_count = 128;
  d.max_threads_per_sm = 1536;
  d.compute_capability = 89;
  d.blas_workspace_bytes = 8519680;
  d.bandwidth_bytes_per_s = 1008e9;
  d.fp32_flops = 82.6e12;
  d.tf32_flops = 82.6e12;
  d.bf16_flops = 165.2e12;
  return d;
}

// A run on the plan device with everything recorded.
class PlanRun {
 public:
  explicit PlanRun(const run::DeviceProfile& profile = Ada())
      : backend_(PlanBackend()), recorder_(std::in_place, sink, backend_.clock()) {
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
  const auto device = PlanBackend().device();
  std::optional<PhaseScope> setup(std::in_place, Phase::kSetup);
  auto net = std::make_shared<Net>();
  net->to(device);
  for (const Tensor& p : net->parameters()) TagStorage(p, Category::kParameter, "parameter");
  WatchGradients(net->parameters());
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-3));
  setup.reset();
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
      optimizer.step();
    }
    optimizer.zero_grad();
  }
}

TEST(Plan, StockModelTrainsAndEverythingIsFreed) {
  PlanRun run;
  Train(2);
  EXPECT_GT(run.recorder().live_allocations(), 0u);  // the two workspaces
  run.Finish();
  Replay replay;
  replay.ApplyAll(run.sink);
  EXPECT_TRUE(replay.live.empty());
  EXPECT_TRUE(replay.segments.empty());
  EXPECT_GT(replay.peak_allocated, 3u * (1000 * 64 * 2 + 64 * 256 * 2) * 4);
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

TEST(Plan, RunsGiveTheSameEvents) {
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

}  // namespace
}  // namespace vramscope::trainer
