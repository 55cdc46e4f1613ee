// Tests the page of a snapshot without history, which shows who owns memory and what private pools
// are for.
#include "profiler/explain/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "profiler/explain/pool_owners.h"
#include "profiler/importers/open.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;
using trace::Category;

constexpr auto kLarge = trace::Pool::kLarge;

uint64_t Sum(const std::vector<analysis::Group>& groups) {
  uint64_t sum = 0;
  for (const analysis::Group& g : groups) sum += g.bytes;
  return sum;
}

TEST(PoolOwners, AreNamedFromStacks) {
  TraceMaker m;
  const trace::StackId kv = m.Stack({{"_allocate_kv_cache", "/x/vllm/worker/cache_engine.py", 70},
                                     {"load_model", "/x/vllm/worker/worker.py", 9}});
  const trace::StackId weights =
      m.Stack({{"create_weights", "/x/vllm/model_executor/layers/linear.py", 12}});
  const trace::StackId blas = m.Stack({{"at::cuda::getCurrentCUDABlasHandle()", "", 0},
                                       {"capture_model", "/x/vllm/worker/model_runner.py", 5}});
  const trace::StackId own = m.Stack({{"fill", "/home/me/train.py", 3}});
  uint64_t at = kBase;
  const auto put = [&](uint32_t mempool, uint64_t bytes, trace::StackId stack) {
    m.Segment(at, bytes, kLarge, false, 0, 0, mempool);
    m.Alloc({.address = at, .bytes = bytes, .stack = stack});
    at += bytes;
  };
  put(2, 40 * kMiB, kv);
  put(2, 4 * kMiB, weights);
  put(1, 20 * kMiB, weights);
  put(3, 20 * kMiB, blas);
  put(4, 20 * kMiB, own);
  put(5 << 16, 20 * kMiB, trace::StackId());
  put(0, 20 * kMiB, own);
  const auto t = m.Finish();
  const std::vector<PoolOwner> owners = PoolOwnersOf(*t);
  ASSERT_EQ(owners.size(), 5u);
  EXPECT_EQ(owners[0].name, "vLLM: model weights");
  EXPECT_EQ(owners[1].name, "vLLM: KV cache") << "named after most of its bytes";
  EXPECT_THAT(owners[1].site.name, HasSubstr("_allocate_kv_cache"));
  EXPECT_EQ(owners[2].name, "vLLM: CUDA graph capture")
      << "its allocations for cuBLAS belong to it";
  EXPECT_EQ(owners[3].name, "private pool");
  EXPECT_THAT(owners[3].site.name, HasSubstr("train.py:3 fill"));
  EXPECT_EQ(owners[4].name, "CUDA graph capture") << "recognized by its id";
  EXPECT_EQ(PoolId(owners[4].mempool), "5.0");
  EXPECT_TRUE(PoolOwnersOf(*trace::OfDevice(t, 1)).empty());

  const Fragmentation f = FragmentationAt(*t, m.last());
  EXPECT_EQ(f.owners.size(), 5u);
  for (const Fragmentation::PoolUse& p : f.pools) {
    EXPECT_EQ(p.owner.empty(), p.mempool == 0);
    if (p.mempool == 2) {
      EXPECT_EQ(p.blocks, 2u);
      EXPECT_EQ(PoolName(p), "vLLM: KV cache (private pool 0.2), large, stream 0");
    }
  }
}

TEST(State, ReportsMemoryBySiteCategoryAndPool) {
  TraceMaker m;
  m.Segment(kBase, 40 * kMiB);
  m.Alloc({.address = kBase,
           .bytes = 10 * kMiB,
           .category = Category::kParameter,
           .op = "a",
           .module = "layer"});
  m.Alloc({.address = kBase + 20 * kMiB, .bytes = 5 * kMiB, .category = Category::kActivation});
  m.Segment(kBase + 100 * kMiB, 30 * kMiB);                          // cached
  m.Segment(kBase + 200 * kMiB, 24 * kMiB, kLarge, false, 0, 0, 1);  // free, in a private pool
  m.Segment(kBase + 300 * kMiB, 20 * kMiB, kLarge, false, 1);
  const auto t = m.Finish();
  const MemoryState s = StateAtEnd(*trace::OfDevice(t, 0));
  EXPECT_EQ(s.device, 0);
  EXPECT_EQ(s.event, m.last() - 1);
  EXPECT_EQ(s.fragmentation.reserved, 94 * kMiB);
  EXPECT_EQ(s.fragmentation.allocated, 15 * kMiB);
  EXPECT_EQ(s.fragmentation.cached, 54 * kMiB);
  EXPECT_EQ(s.empty_cache_gives, 30 * kMiB);
  EXPECT_EQ(s.segments.size(), 3u);
  EXPECT_EQ(Sum(s.by_site), 15 * kMiB);
  EXPECT_EQ(Sum(s.by_category), 15 * kMiB);
  EXPECT_EQ(Sum(s.by_pool), 15 * kMiB);
  EXPECT_EQ(s.by_category.front().name, "Parameter");
  EXPECT_EQ(s.by_pool.front().count, 2u);
  EXPECT_THAT(s.headline, HasSubstr("private pools keep the rest"));
  EXPECT_EQ(StateAtEnd(*trace::OfDevice(t, 1)).fragmentation.reserved, 20 * kMiB);
  EXPECT_EQ(StateAtEnd(trace::Trace()).headline, "No memory is in use.");
}

TEST(State, NamesPoolsOfARecordedServingEngine) {
  const std::filesystem::path file =
      std::filesystem::path(VRAMSCOPE_SOURCE_DIR) / "../shared/snapshots/more/verl_mem.pickle.zst";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs ../shared/snapshots/more";
  const auto t = importers::OpenTraceFile(file.string(), {});
  ASSERT_TRUE(t.ok()) << t.status();
  const MemoryState s = StateAtEnd(**t);
  ASSERT_EQ(s.fragmentation.owners.size(), 2u);
  EXPECT_EQ(s.fragmentation.owners[0].name, "vLLM: model weights");
  EXPECT_EQ(s.fragmentation.owners[1].name, "vLLM: KV cache");
  EXPECT_EQ(s.by_pool.front().bytes, 20784 * kMiB);
  EXPECT_EQ(Sum(s.by_pool), s.fragmentation.allocated);
}

}  // namespace
}  // namespace vramscope::explain
