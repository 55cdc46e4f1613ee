#include "trainer/capture/recorder.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/trainer/capture/memory_sink.h"
#include "trainer/capture/cancel.h"
#include "trainer/capture/device_work.h"
#include "trainer/capture/flat_map.h"
#include "trainer/capture/free_request.h"
#include "trainer/capture/scopes.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;
using trace::Pool;

class RecorderTest : public ::testing::Test {
 protected:
  void Alloc(uint64_t key, uint64_t bytes = 100) {
    recorder_->OnAlloc(key, bytes, 512, key, 0, Pool::kSmall);
  }
  // Flushes the recorder and returns the events of the run so far.
  const std::vector<Event>& Events() {
    recorder_->Flush();
    return sink_.events;
  }
  Event LastAlloc() {
    Event found;
    for (const Event& event : Events()) {
      if (event.kind == EventKind::kAlloc) found = event;
    }
    return found;
  }

  MemorySink sink_;
  int64_t now_ = 0;
  std::optional<Recorder> recorder_{std::in_place, sink_, [this] { return ++now_; }};
};

TEST_F(RecorderTest, IsCurrentDuringItsLifetime) {
  EXPECT_EQ(Recorder::Current(), &*recorder_);
  recorder_.reset();
  EXPECT_EQ(Recorder::Current(), nullptr);
}

TEST_F(RecorderTest, ScopesDoNothingWithoutARecorder) {
  recorder_.reset();
  PhaseScope phase(Phase::kForward);
  StepScope step(0);
  ModuleScope module("m");
  CategoryScope category(Category::kWorkspace);
}

// If another stream still uses a block, its free is first requested and completes later.
TEST_F(RecorderTest, RecordsFreeRequestBeforeCompletion) {
  Alloc(1);
  Alloc(2);
  {
    const FreeRequestScope scope;
    recorder_->OnFree(1);
    recorder_->OnFree(1);  // a second request is ignored
  }
  EXPECT_EQ(recorder_->live_allocations(), 2u);
  recorder_->OnFree(2);
  recorder_->OnFree(1);
  EXPECT_EQ(recorder_->live_allocations(), 0u);
  std::vector<std::pair<EventKind, uint64_t>> frees;
  for (const Event& event : Events()) {
    if (event.kind != EventKind::kAlloc) frees.emplace_back(event.kind, event.id);
  }
  const std::vector<std::pair<EventKind, uint64_t>> wanted = {{EventKind::kFreeRequested, 0},
                                                              {EventKind::kFreeRequested, 1},
                                                              {EventKind::kFreeCompleted, 1},
                                                              {EventKind::kFreeCompleted, 0}};
  EXPECT_EQ(frees, wanted);
}

// A kernel must have the operator, the module and the correlation of the call that launched it.
TEST_F(RecorderTest, WorkHasOperatorAndModuleOfItsLaunch) {
  using trace::ActivityKind;
  const auto launch = [&](int64_t begin_ns) {
    recorder_->OnDeviceWork({.what = {.kind = ActivityKind::kKernel,
                                      .stream = 3,
                                      .begin_ns = begin_ns,
                                      .end_ns = begin_ns + 5},
                             .name = "gemm",
                             .call_name = "cudaLaunchKernel",
                             .call_begin_ns = begin_ns - 2,
                             .call_end_ns = begin_ns - 1});
  };
  {
    ModuleScope module("mlp");
    recorder_->BeginOp("aten::linear", -1, false);
    recorder_->BeginOp("aten::mm", -1, false);
    launch(10);
    recorder_->EndOp();
    recorder_->EndOp();
  }
  launch(20);
  // Like an allocation, memory from the driver gets the context of the current operation.
  recorder_->PushOwner("mlp.weight");
  recorder_->OnDeviceWork({.what = {.kind = ActivityKind::kDriverAlloc, .address = 64, .bytes = 32},
                           .call_name = "cudaMalloc"});
  recorder_->PopOwner();
  recorder_->Flush();
  ASSERT_EQ(sink_.activities.size(), 6u);
  const auto& rows = sink_.activities;
  for (size_t i = 0; i < rows.size(); i += 2) {
    EXPECT_EQ(rows[i].kind, ActivityKind::kRuntimeCall);
    EXPECT_EQ(rows[i].correlation, i / 2 + 1);
    EXPECT_EQ(rows[i + 1].correlation, i / 2 + 1);
    EXPECT_EQ(rows[i].op, rows[i + 1].op);
    EXPECT_EQ(rows[i].module, rows[i + 1].module);
  }
  EXPECT_EQ(sink_.Text(rows[1].name), "gemm");
  EXPECT_EQ(sink_.Text(rows[1].op), "aten::mm");
  EXPECT_EQ(sink_.Text(rows[1].module), "mlp");
  EXPECT_EQ(rows[1].stream, 3u);
  EXPECT_EQ(rows[0].begin_ns, 8);
  EXPECT_EQ(rows[1].end_ns, 15);
  EXPECT_EQ(sink_.Text(rows[3].op) + sink_.Text(rows[3].module), "");
  EXPECT_EQ(sink_.Text(rows[5].module), "mlp.weight");
  EXPECT_EQ(rows[5].bytes, 32u);
}

TEST_F(RecorderTest, ReusedAddressGetsNewId) {
  Alloc(0x1000);
  recorder_->OnFree(0x1000);
  Alloc(0x1000);
  EXPECT_EQ(LastAlloc().id, 1u);
  recorder_->OnFree(0x1000);
  recorder_->OnFree(0x1000);  // already freed
  recorder_->OnFree(0x9999);  // never allocated
  EXPECT_EQ(sink_.Count(EventKind::kAlloc), 2u);
  Events();
  EXPECT_EQ(sink_.Count(EventKind::kFreeRequested), 2u);
  EXPECT_EQ(sink_.Count(EventKind::kFreeCompleted), 2u);
  EXPECT_EQ(recorder_->live_allocations(), 0u);
}

TEST_F(RecorderTest, InitialCategoryDependsOnPhase) {
  const auto born = [&](Phase phase) {
    PhaseScope scope(phase);
    Alloc(0x1000);
    recorder_->OnFree(0x1000);
    return LastAlloc().category;
  };
  EXPECT_EQ(born(Phase::kSetup), Category::kUnknown);
  EXPECT_EQ(born(Phase::kData), Category::kInput);
  EXPECT_EQ(born(Phase::kForward), Category::kTemporary);
  EXPECT_EQ(born(Phase::kLoss), Category::kTemporary);
  EXPECT_EQ(born(Phase::kBackward), Category::kTemporary);
  EXPECT_EQ(born(Phase::kOptimizer), Category::kTemporary);
  {
    PhaseScope scope(Phase::kBackward);
    recorder_->BeginOp("MulBackward0", 1, true);
    EXPECT_EQ(born(Phase::kBackward), Category::kAutogradDetail);
    {
      // A checkpoint's node recomputes forward within backward. The temporaries of this
      // recomputation count as temporaries of forward.
      ModuleScope module("layers.0");
      EXPECT_EQ(born(Phase::kBackward), Category::kTemporary);
    }
    CategoryScope workspace(Category::kWorkspace);
    EXPECT_EQ(born(Phase::kBackward), Category::kWorkspace);
    recorder_->EndOp();
  }
}

TEST_F(RecorderTest, PhasesNest) {
  EXPECT_EQ(recorder_->phase(), Phase::kNone);
  PhaseScope outer(Phase::kForward);
  {
    PhaseScope inner(Phase::kEval);
    EXPECT_EQ(recorder_->phase(), Phase::kEval);
  }
  EXPECT_EQ(recorder_->phase(), Phase::kForward);
}

TEST_F(RecorderTest, SavedStoragesAreActivationsUntilReleased) {
  Alloc(0x1000);
  recorder_->OnSaved(0x1000);
  EXPECT_EQ(recorder_->CategoryOf(0x1000), Category::kActivation);
  recorder_->OnSaved(0x1000);
  recorder_->OnSavedReleased(0x1000);
  EXPECT_EQ(recorder_->CategoryOf(0x1000), Category::kActivation);
  recorder_->OnSavedReleased(0x1000);
  EXPECT_EQ(recorder_->CategoryOf(0x1000), Category::kTemporary);
  recorder_->OnSavedReleased(0x1000);  // a surplus call is ignored
  Events();
  EXPECT_EQ(sink_.Count(EventKind::kRetag), 2u);
}

TEST_F(RecorderTest, SavedParametersStayParameters) {
  Alloc(0x1000);
  recorder_->Retag(0x1000, Category::kParameter, "parameter");
  recorder_->Retag(0x1000, Category::kParameter, "parameter");
  recorder_->OnSaved(0x1000);
  EXPECT_EQ(recorder_->CategoryOf(0x1000), Category::kParameter);
  recorder_->OnSavedReleased(0x1000);
  EXPECT_EQ(recorder_->CategoryOf(0x1000), Category::kParameter);
  const Event retag = Events().back();
  EXPECT_EQ(sink_.Count(EventKind::kRetag), 1u);
  EXPECT_EQ(sink_.Text(retag.name), "parameter");
}

TEST_F(RecorderTest, IgnoresRetagOfUnknownKeys) {
  recorder_->Retag(0x77, Category::kGradient, "gradient");
  recorder_->OnSaved(0x77);
  EXPECT_EQ(recorder_->CategoryOf(0x77), Category::kUnknown);
  EXPECT_TRUE(Events().empty());
}

TEST_F(RecorderTest, AllocationsHaveModulePathAndOperator) {
  {
    ModuleScope model("model");
    ModuleScope layer("layers.3");
    {
      ModuleScope mlp("mlp");
      recorder_->BeginOp("aten::mm", 7, false);
      Alloc(0x1000);
      EXPECT_EQ(recorder_->CurrentModule(), "model.layers.3.mlp");
      EXPECT_EQ(recorder_->CurrentOp(), "aten::mm");
      recorder_->EndOp();
    }
    Alloc(0x2000);
  }
  const Event last = LastAlloc();
  EXPECT_EQ(sink_.Text(last.module), "model.layers.3");
  EXPECT_EQ(sink_.Text(last.name), "");
  for (const Event& event : sink_.events) {
    if (event.kind == EventKind::kAlloc && event.id == 0) {
      EXPECT_EQ(sink_.Text(event.module), "model.layers.3.mlp");
      EXPECT_EQ(sink_.Text(event.name), "aten::mm");
    }
  }
}

TEST_F(RecorderTest, FindsForwardModuleByThreadAndSequenceNumber) {
  {
    ModuleScope module("model");
    recorder_->BeginOp("aten::mm", 7, false, /*forward_thread=*/1);
    recorder_->EndOp();
  }
  {
    ModuleScope module("other");
    recorder_->BeginOp("aten::mm", 7, false, /*forward_thread=*/2);
    recorder_->EndOp();
  }
  std::thread device([&] {
    recorder_->BeginOp("autograd::engine::evaluate_function: MmBackward0", -1, false);
    recorder_->BeginOp("MmBackward0", 7, true, /*forward_thread=*/1);
    recorder_->BeginOp("aten::mm", -1, false);
    Alloc(0x1000);
    recorder_->EndOp();
    recorder_->EndOp();
    recorder_->EndOp();
  });
  device.join();
  const Event alloc = LastAlloc();
  EXPECT_EQ(sink_.Text(alloc.module), "model");
  EXPECT_EQ(sink_.Text(alloc.name), "aten::mm");
  EXPECT_EQ(alloc.category, Category::kAutogradDetail);
  EXPECT_EQ(alloc.thread, 1u);
}

TEST_F(RecorderTest, NumbersThreadsAnewForEachRecorder) {
  std::optional<Recorder>* slot = &recorder_;
  for (int run = 0; run < 3; ++run) {
    if (run > 0) {
      slot->reset();
      sink_ = MemorySink();
      slot->emplace(sink_, [this] { return ++now_; });
    }
    Alloc(0x1000);
    std::thread([&] { Alloc(0x2000); }).join();
    EXPECT_EQ(LastAlloc().thread, 1u);
    EXPECT_EQ(sink_.events.front().thread, 0u);
  }
}

TEST_F(RecorderTest, OmitsOperatorEventsIfDisabled) {
  recorder_.reset();
  recorder_.emplace(
      sink_, [this] { return ++now_; }, RecorderOptions{.record_ops = false});
  recorder_->BeginOp("aten::mm", 1, false);
  Alloc(0x1000);
  recorder_->EndOp();
  EXPECT_EQ(sink_.Text(LastAlloc().name), "aten::mm");
  EXPECT_EQ(sink_.Count(EventKind::kOpBegin), 0u);
}

TEST_F(RecorderTest, OmitsSlicesBelowMaxOpDepth) {
  recorder_.reset();
  recorder_.emplace(
      sink_, [this] { return ++now_; }, RecorderOptions{.max_op_depth = 1});
  recorder_->BeginOp("aten::linear", 1, false);
  recorder_->BeginOp("aten::addmm", 1, false);
  Alloc(0x1000);
  recorder_->EndOp();
  recorder_->EndOp();
  EXPECT_EQ(sink_.Text(LastAlloc().name), "aten::addmm");
  EXPECT_EQ(sink_.Count(EventKind::kOpBegin), 1u);
  EXPECT_EQ(sink_.Count(EventKind::kOpEnd), 1u);
}

TEST_F(RecorderTest, NamesAllocationAfterOperatorAboveEmpty) {
  recorder_->BeginOp("aten::mm", -1, false, 0);
  recorder_->BeginOp("aten::empty", -1, false, 0);
  Alloc(0x1000);
  recorder_->EndOp();
  recorder_->EndOp();
  EXPECT_EQ(sink_.Text(LastAlloc().name), "aten::mm");
  recorder_->BeginOp("aten::empty", -1, false, 0);  // no other operator is active
  Alloc(0x2000);
  recorder_->EndOp();
  EXPECT_EQ(sink_.Text(LastAlloc().name), "aten::empty");
  EXPECT_EQ(sink_.Count(EventKind::kOpBegin), 1u);  // aten::empty itself has no slice
  EXPECT_EQ(sink_.Count(EventKind::kOpEnd), 1u);
}

TEST_F(RecorderTest, OmitsOpsWithoutTimeOrAllocations) {
  int64_t now = 0;
  recorder_.reset();
  recorder_.emplace(sink_, [&] { return now; });
  recorder_->BeginOp("aten::t", -1, false, 0);
  recorder_->BeginOp("aten::as_strided", -1, false, 0);
  recorder_->EndOp();
  recorder_->EndOp();
  recorder_->BeginOp("aten::mul", -1, false, 0);  // takes time
  now = 5;
  recorder_->EndOp();
  recorder_->BeginOp("aten::clone", -1, false, 0);  // allocates memory
  Alloc(0x1000);
  recorder_->EndOp();
  Events();
  EXPECT_EQ(sink_.Count(EventKind::kOpBegin), 2u);
  EXPECT_EQ(sink_.Count(EventKind::kOpEnd), 2u);
}

TEST_F(RecorderTest, OptimizerStateHasItsParametersModule) {
  {
    OwnerScope owner("layers.0.weight");
    Alloc(0x1000);
  }
  EXPECT_EQ(sink_.Text(LastAlloc().module), "layers.0.weight");
  ModuleScope module("optimizer");
  {
    OwnerScope owner(uint64_t{0x1000});
    Alloc(0x2000);
  }
  EXPECT_EQ(sink_.Text(LastAlloc().module), "layers.0.weight");
  {
    OwnerScope owner(uint64_t{0x9999});  // no allocation has this id, so the module is the owner
    Alloc(0x3000);
  }
  EXPECT_EQ(sink_.Text(LastAlloc().module), "optimizer");
}

TEST_F(RecorderTest, TimesNeverDecrease) {
  now_ = 1000;
  Alloc(0x1000);
  now_ = 10;
  Alloc(0x2000);
  EXPECT_GE(Events()[1].time_ns, Events()[0].time_ns);
}

TEST_F(RecorderTest, SegmentFreeHasIdOfItsAlloc) {
  recorder_->OnSegmentAlloc(0x100000, 2 << 20, 0, Pool::kSmall);
  recorder_->OnSegmentAlloc(0x300000, 20 << 20, 0, Pool::kLarge);
  recorder_->OnSegmentFree(0x100000);
  recorder_->OnSegmentFree(0x100000);
  recorder_->OnOutOfMemory(1 << 30, 5);
  const auto& events = Events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[1].id, 1u);
  EXPECT_EQ(events[2].id, 0u);
  EXPECT_EQ(events[3].bytes, 1u << 30);
  EXPECT_EQ(events[3].bytes_rounded, 5u);
}

TEST_F(RecorderTest, MappedPagesHaveTheirSegmentsId) {
  recorder_->OnSegmentAlloc(0x100000, 2 << 20, 0, Pool::kSmall);
  recorder_->OnSegmentAlloc(0x40000000, 1 << 30, 3, Pool::kLarge, /*expandable=*/true);
  recorder_->OnSegmentMap(0x40000000, 0x40000000, 20 << 20);
  recorder_->OnSegmentUnmap(0x40000000, 0x40000000, 20 << 20);
  recorder_->OnSegmentMap(0x123, 0x123, 1);
  const auto& events = Events();
  ASSERT_EQ(events.size(), 4u) << "an unknown segment is ignored";
  EXPECT_EQ(events[0].detail, 0);
  EXPECT_EQ(events[1].detail, 1);
  EXPECT_EQ(events[2].kind, trace::EventKind::kSegmentMap);
  EXPECT_EQ(events[3].kind, trace::EventKind::kSegmentUnmap);
  for (int i : {2, 3}) {
    EXPECT_EQ(events[i].id, 1u);
    EXPECT_EQ(events[i].address, 0x40000000u);
    EXPECT_EQ(events[i].bytes, 20u << 20);
    EXPECT_EQ(events[i].stream, 3u);
    EXPECT_EQ(events[i].pool, Pool::kLarge);
  }
}

TEST_F(RecorderTest, RandomEventsReplayWithoutErrors) {
  std::mt19937 random(1);
  std::vector<uint64_t> live;
  recorder_->OnSegmentAlloc(1 << 20, 1ull << 30, 0, Pool::kLarge);
  for (int i = 0; i < 50'000; ++i) {
    const uint32_t dice = random() % 8;
    if (live.empty() || dice < 4) {
      const uint64_t key = 512ull * (i + 1);
      Alloc(key, 1 + random() % 500);
      live.push_back(key);
      continue;
    }
    const size_t pick = random() % live.size();
    const uint64_t key = live[pick];
    if (dice == 4) recorder_->OnSaved(key);
    if (dice == 5) recorder_->OnSavedReleased(key);
    if (dice == 6) recorder_->Retag(key, Category::kGradient, "gradient");
    if (dice != 7 && live.size() < 1000) continue;
    recorder_->OnFree(key);
    live[pick] = live.back();
    live.pop_back();
  }
  for (uint64_t key : live) recorder_->OnFree(key);
  EXPECT_EQ(recorder_->live_allocations(), 0u);
  Events();
  Replay replay;
  replay.ApplyAll(sink_);
  EXPECT_TRUE(replay.live.empty());
  EXPECT_EQ(replay.allocated, 0u);
}

TEST(FlatMapTest, MatchesStdMap) {
  std::mt19937_64 random(3);
  FlatMap<int> map(4);
  std::map<uint64_t, int> reference;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t key = 512 * (1 + random() % 700);
    if (random() % 3 == 0) {
      EXPECT_EQ(map.Erase(key), reference.erase(key) == 1);
    } else {
      map.Insert(key, i);
      reference[key] = i;
    }
    ASSERT_EQ(map.size(), reference.size());
    const uint64_t other = 512 * (1 + random() % 700);
    const int* found = map.Find(other);
    auto it = reference.find(other);
    ASSERT_EQ(found != nullptr, it != reference.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, it->second);
    }
  }
}

TEST(CancelTest, ThrowsOnlyInScopeWithFlagSet) {
  std::atomic<bool> flag{true};
  ThrowIfCancelled();
  {
    CancelScope scope(&flag);
    EXPECT_THROW(ThrowIfCancelled(), CancelledError);
    flag = false;
    ThrowIfCancelled();
  }
  flag = true;
  ThrowIfCancelled();
}

}  // namespace
}  // namespace vramscope::trainer
