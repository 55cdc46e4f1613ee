// Compares plans with recordings. The steps differ in one known place, and the test computes the
// expected alignment itself. The expected sums of kernels are constants.
#include "profiler/explain/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::ActivityKind;
using trace::Category;
using trace::Phase;

// An allocation or free of an artificial step. All sizes differ, so that there is only one longest
// alignment.
struct Request {
  bool alloc = true;
  uint64_t size = 0;
};

std::vector<Request> SomeStep(uint64_t seed, int allocations) {
  std::mt19937_64 dice(seed);
  std::vector<Request> out;
  std::vector<uint64_t> live;
  for (int i = 0; i < allocations; ++i) {
    live.push_back(512 * static_cast<uint64_t>(i + 1));
    out.push_back({true, live.back()});
    while (!live.empty() && dice() % 2 == 0) {
      std::swap(live[dice() % live.size()], live.back());
      out.push_back({false, live.back()});
      live.pop_back();
    }
  }
  return out;
}

std::shared_ptr<const trace::Trace> TraceOf(const std::vector<Request>& requests) {
  TraceMaker t;
  t.Segment(kBase, kMiB * 1000);
  std::map<uint64_t, uint64_t> ids;
  t.BeginStep(0);
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& r = requests[i];
    if (i == 0) t.Add({.kind = trace::EventKind::kPhaseBegin, .detail = uint8_t(Phase::kForward)});
    if (i == requests.size() / 2) {
      t.Add({.kind = trace::EventKind::kPhaseEnd});
      t.Add({.kind = trace::EventKind::kPhaseBegin, .detail = uint8_t(Phase::kBackward)});
    }
    if (r.alloc)
      ids[r.size] = t.Alloc({.address = kBase + r.size * 1000,
                             .bytes = r.size,
                             .category = Category::kActivation,
                             .stack = t.Stack({{"forward", "model.py", uint32_t(r.size)}}),
                             .op = "aten::mm",
                             .module = "layers." + std::to_string(r.size)});
    else
      t.Free(ids.at(r.size));
  }
  t.Add({.kind = trace::EventKind::kPhaseEnd});
  t.EndStep();
  return t.Finish();
}

// The length of the longest common subsequence (textbook algorithm) and of the common prefix.
struct Alignment {
  size_t equal = 0, same_begin = 0;
};
Alignment Align(const std::vector<Request>& a, const std::vector<Request>& b) {
  const auto same = [](const Request& x, const Request& y) {
    return x.alloc == y.alloc && x.size == y.size;
  };
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j)
      table[i + 1][j + 1] =
          same(a[i], b[j]) ? table[i][j] + 1 : std::max(table[i][j + 1], table[i + 1][j]);
  Alignment out{.equal = table[a.size()][b.size()]};
  while (out.same_begin < std::min(a.size(), b.size()) &&
         same(a[out.same_begin], b[out.same_begin]))
    ++out.same_begin;
  return out;
}

uint64_t PeakOf(const std::vector<Request>& requests) {
  uint64_t now = 0, peak = 0;
  for (const Request& r : requests) {
    now += r.alloc ? r.size : -r.size;
    peak = std::max(peak, now);
  }
  return peak;
}

// If `moved`, an allocation is in another place, so its free may have no counterpart either.
void Check(const std::vector<Request>& planned, const std::vector<Request>& measured,
           bool moved = false) {
  const auto found = HoldAgainst(*TraceOf(planned), *TraceOf(measured), std::nullopt);
  ASSERT_TRUE(found.ok()) << found.status();
  const Alignment expected = Align(planned, measured);
  EXPECT_EQ(found->step, 0);
  EXPECT_LE(found->requests.equal, expected.equal);
  EXPECT_GE(found->requests.equal, expected.equal - (moved ? 1 : 0));
  EXPECT_EQ(found->requests.total, std::max(planned.size(), measured.size()));
  EXPECT_EQ(found->allocated.planned, PeakOf(planned));
  EXPECT_EQ(found->allocated.measured, PeakOf(measured));
  ASSERT_EQ(found->first.has_value(), expected.equal != found->requests.total);
  if (!found->first) return;
  // Each side with a request at the first difference must state its own size and call site.
  EXPECT_EQ(found->first->planned.index, expected.same_begin);
  EXPECT_EQ(found->first->measured.index, expected.same_begin);
  for (const auto& [side, all] : {std::pair(&found->first->planned, &planned),
                                  std::pair(&found->first->measured, &measured)}) {
    if (side->text.empty()) continue;
    const std::string size = std::to_string((*all)[side->index].size);
    EXPECT_THAT(side->text, HasSubstr(size + " B"));
    EXPECT_EQ(side->module, "layers." + size);
    EXPECT_EQ(side->op, "aten::mm");
    EXPECT_EQ(side->category, Category::kActivation);
    EXPECT_THAT(side->stack, ElementsAre(HasSubstr("model.py:" + size)));
  }
}

TEST(Prediction, EqualStepsHaveNoDifference) {
  const auto step = SomeStep(1, 60);
  Check(step, step);
}

TEST(Prediction, FindsADroppedAllocation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto planned = SomeStep(seed, 40);
    auto measured = planned;
    const uint64_t size = 512 * (1 + seed);
    std::erase_if(measured, [&](const Request& r) { return r.size == size; });
    Check(planned, measured);
    Check(measured, planned);
  }
}

TEST(Prediction, FindsAChangedSize) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto planned = SomeStep(seed, 40);
    auto measured = planned;
    for (Request& r : measured)
      if (r.size == 512 * (1 + seed)) r.size += 100 * 512;
    Check(planned, measured);
  }
}

TEST(Prediction, FindsSwappedAllocations) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto planned = SomeStep(seed, 40);
    auto measured = planned;
    for (size_t i = seed; i + 1 < measured.size(); ++i)
      if (measured[i].alloc && measured[i + 1].alloc) {
        std::swap(measured[i], measured[i + 1]);
        break;
      }
    Check(planned, measured, true);
  }
}

TEST(Prediction, ReportsErrorsByCategoryAndPhase) {
  const auto make = [](uint64_t forward, uint64_t backward) {
    TraceMaker t;
    t.Segment(kBase, 100 * kMiB);
    t.BeginStep(3);
    t.Add({.kind = trace::EventKind::kPhaseBegin, .detail = uint8_t(Phase::kForward)});
    t.Alloc({.address = kBase, .bytes = forward, .category = Category::kActivation});
    t.Add({.kind = trace::EventKind::kPhaseEnd});
    t.Add({.kind = trace::EventKind::kPhaseBegin, .detail = uint8_t(Phase::kBackward)});
    t.Alloc({.address = kBase + 50 * kMiB, .bytes = backward, .category = Category::kGradient});
    t.Add({.kind = trace::EventKind::kPhaseEnd});
    t.EndStep();
    return t.Finish();
  };
  const auto p = HoldAgainst(*make(1000, 500), *make(800, 500), std::nullopt);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->step, 3);
  EXPECT_EQ(p->allocated.error(), 200);
  EXPECT_DOUBLE_EQ(*p->allocated.relative(), 200.0 / 1300);
  EXPECT_EQ(p->reserved.error(), 0);
  ASSERT_EQ(p->categories.size(), 2u);
  EXPECT_EQ(p->categories[0].category, Category::kActivation);
  EXPECT_EQ(p->categories[0].bytes.error(), 200);
  EXPECT_DOUBLE_EQ(*p->categories[0].bytes.relative(), 0.25);
  EXPECT_EQ(p->categories[1].bytes.error(), 0);
  ASSERT_EQ(p->phases.size(), 2u);
  EXPECT_EQ(p->phases[0].phase, Phase::kForward);
  EXPECT_EQ(p->phases[0].allocated.planned, 1000u);
  EXPECT_EQ(p->phases[0].allocated.measured, 800u);
  EXPECT_EQ(p->phases[1].phase, Phase::kBackward);
  EXPECT_EQ(p->phases[1].allocated.planned, 1500u);
  EXPECT_EQ(p->phases[1].allocated.measured, 1300u);
}

TEST(Prediction, ComparesStepsThatBothTracesHave) {
  const auto make = [](std::vector<uint64_t> steps) {
    TraceMaker t;
    t.Segment(kBase, 100 * kMiB);
    for (const uint64_t step : steps) {
      t.BeginStep(step);
      t.Alloc({.address = kBase + step * kMiB, .bytes = 512});
      t.EndStep();
    }
    return t.Finish();
  };
  EXPECT_EQ(HoldAgainst(*make({0, 1, 2}), *make({0, 1}), std::nullopt)->step, 1);
  EXPECT_EQ(HoldAgainst(*make({0, 1, 2}), *make({0, 1}), 0)->step, 0);
  EXPECT_EQ(HoldAgainst(*make({0, 1}), *make({2}), std::nullopt).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(HoldAgainst(*make({0, 1}), *make({0}), 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(HoldAgainst(*make({}), *make({}), std::nullopt)->step, std::nullopt);
}

// A kernel counts for the step that launched it, even if the GPU runs it much later.
TEST(Prediction, MatchesKernelsByName) {
  const auto make = [](int64_t each_ns, bool other_name) {
    TraceMaker t;
    t.BeginStep(0);
    t.Add({.kind = trace::EventKind::kMarker});
    const auto launch = [&](uint64_t correlation, const std::string& name) {
      t.Work({.kind = ActivityKind::kRuntimeCall,
              .name = t.String("cudaLaunchKernel"),
              .correlation = correlation});
      t.Work({.kind = ActivityKind::kKernel, .name = t.String(name), .correlation = correlation},
             1'000'000, each_ns);
    };
    launch(1, "add");
    launch(2, "add");
    launch(3, other_name ? "sgemm (modelled)" : "ampere_sgemm_128x64_nn");
    t.EndStep();
    t.Add({.kind = trace::EventKind::kMarker});
    launch(4, "add");  // after the step
    return t.Finish();
  };
  const auto p = HoldAgainst(*make(100, true), *make(250, false), std::nullopt);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->total.planned_count, 3u);
  EXPECT_EQ(p->total.measured_ns, 750);
  EXPECT_EQ(p->both.planned_count, 2u);
  EXPECT_EQ(p->both.planned_ns, 200);
  EXPECT_EQ(p->both.measured_ns, 500);
  ASSERT_EQ(p->kernels.size(), 2u);
  EXPECT_EQ(p->kernels[0].name, "add");
  EXPECT_EQ(p->kernels[1].name, "matrix products")
      << "kernels of different names are summed by class";
  EXPECT_TRUE(p->kernels[1].is_class);
  EXPECT_EQ(p->kernels[1].planned_ns, 100);
  EXPECT_EQ(p->kernels[1].measured_ns, 250);
  EXPECT_EQ(p->by_class.planned_count, 1u);
  EXPECT_EQ(p->by_op.planned_count, 0u) << "their op is unknown";
}

// A kernel has the class of its operator: one library call may launch several kernels, and a
// convolution may run as a matrix product.
TEST(Prediction, MatchesLibraryKernelsByClass) {
  const auto make = [](const std::vector<std::pair<std::string, std::string>>& launches) {
    TraceMaker t;
    t.BeginStep(0);
    t.Add({.kind = trace::EventKind::kMarker});
    for (const auto& [op, name] : launches)
      t.Work({.kind = ActivityKind::kKernel, .name = t.String(name), .op = t.String(op)}, 0, 10);
    t.Add({.kind = trace::EventKind::kMarker});
    t.EndStep();
    return t.Finish();
  };
  const auto p =
      HoldAgainst(*make({{"aten::mm", "cublasGemmEx (modelled)"},
                         {"aten::sdpa", "cudnn_attention_forward (modelled)"},
                         {"aten::conv2d", "cudnn_convolution_forward (modelled)"},
                         {"aten::add", "add"}}),
                  *make({{"aten::mm", "nvjet_sm90_tst_128x160"},
                         {"aten::mm", "void cublasLt::splitKreduce_kernel<32>()"},
                         {"aten::sdpa", "cudnn_generated_fort_native_sdpa_sm90_flash_fprop"},
                         {"aten::conv2d", "void cudnn::nchwToNhwcKernel<float>()"},
                         {"aten::conv2d", "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>()"},
                         {"aten::add", "add"}}),
                  std::nullopt);
  ASSERT_TRUE(p.ok()) << p.status();
  const auto counts = [](const std::vector<Prediction::Kernel>& kernels) {
    std::map<std::string, std::pair<uint64_t, uint64_t>> rows;
    for (const Prediction::Kernel& k : kernels) rows[k.name] = {k.planned_count, k.measured_count};
    return rows;
  };
  const std::map<std::string, std::pair<uint64_t, uint64_t>> expected = {
      {"matrix products", {1, 2}}, {"attention", {1, 1}}, {"convolutions", {1, 2}}};
  auto rows = counts(p->kernels), classes = counts(p->classes);
  EXPECT_EQ(rows["add"], std::pair(uint64_t{1}, uint64_t{1}));
  EXPECT_EQ(classes["others"], std::pair(uint64_t{1}, uint64_t{1}));
  rows.erase("add");
  classes.erase("others");
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(classes, expected);
  EXPECT_EQ(p->by_class.measured_ns, 50);
}

// Kernels whose names differ are matched in order, but only with kernels of the same
// operator.
TEST(Prediction, MatchesRenamedKernelsByOpAndOrder) {
  const auto make = [](const std::vector<std::pair<std::string, std::string>>& launches,
                       int64_t ns) {
    TraceMaker t;
    t.BeginStep(0);
    t.Add({.kind = trace::EventKind::kMarker});
    for (const auto& [op, name] : launches)
      t.Work({.kind = ActivityKind::kKernel, .name = t.String(name), .op = t.String(op)}, 0, ns);
    t.Add({.kind = trace::EventKind::kMarker});
    t.EndStep();
    return t.Finish();
  };
  const auto p = HoldAgainst(*make({{"aten::fft", "fft (modelled)"},
                                    {"aten::add", "add"},
                                    {"aten::fft", "twiddles (modelled)"},
                                    {"aten::fft", "fft (modelled)"},
                                    {"aten::rnn", "rnn (modelled)"}},
                                   10),
                             *make({{"aten::add", "add"},
                                    {"aten::fft", "vector_fft"},
                                    {"aten::fft", "twiddle_kernel"},
                                    {"aten::svd", "svd_kernel"},
                                    {"aten::fft", "vector_fft"},
                                    {"aten::fft", "extra"}},
                                   30),
                             std::nullopt);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->total.planned_count, 5u);
  EXPECT_EQ(p->total.measured_count, 6u);
  EXPECT_EQ(p->both.planned_count, 1u);
  EXPECT_EQ(p->by_op.planned_count, 3u);
  EXPECT_EQ(p->by_op.measured_ns, 90);
  std::map<std::string, std::pair<std::string, uint64_t>> rows;
  for (const Prediction::Kernel& k : p->kernels)
    rows[k.name] = {k.measured_name, k.planned_count + k.measured_count};
  const std::map<std::string, std::pair<std::string, uint64_t>> expected = {
      {"fft (modelled)", {"vector_fft", 4}},
      {"twiddles (modelled)", {"twiddle_kernel", 2}},
      {"add", {"", 2}},
      {"rnn (modelled)", {"", 1}},
      {"svd_kernel", {"", 1}},
      {"extra", {"", 1}}};
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace vramscope::explain
