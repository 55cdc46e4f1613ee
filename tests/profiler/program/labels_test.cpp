// Checks which categories the marks of a made-up training step give its blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiler/base/i18n.h"
#include "profiler/program/program.h"
#include "profiler/trace/assumptions.h"
#include "profiler/trace/counters.h"
#include "profiler/trace/missing_gradients.h"
#include "tests/profiler/recording/hand_made.h"

namespace vramscope::program {
namespace {

using recording::Action;
using recording::kMiB;
using trace::Category;
using trace::EventKind;
using trace::Phase;

constexpr uint64_t kBase = 0x7f0000000000;
constexpr uint64_t kWorkspace = 8'519'680;
enum Place : uint64_t { kParameter = 0, kSaved = 1, kGradient = 2, kState = 3, kFreed = 4 };
uint64_t At(uint64_t place) { return kBase + place * 16 * kMiB; }

recording::Recording Step() {
  recording::Recording r;
  r.has_segments = true;
  const auto alloc = [&](uint64_t place, uint64_t bytes = 2 * kMiB) {
    Add(r, Action::kAlloc, At(place), bytes, 1000 * static_cast<int64_t>(r.entries.size()));
  };
  const auto free = [&](uint64_t place) {
    const auto time = 1000 * static_cast<int64_t>(r.entries.size());
    Add(r, Action::kFreeRequested, At(place), 2 * kMiB, time);
    Add(r, Action::kFreeCompleted, At(place), 2 * kMiB, time);
  };
  Add(r, Action::kSegmentAlloc, kBase, 128 * kMiB, 0);
  // The numbers in the comments count allocations and frees. Marks refer to these numbers.
  alloc(kParameter);     // 1, set-up
  alloc(kSaved);         // 2, forward
  alloc(5, kWorkspace);  // 3, forward
  alloc(kGradient);      // 4, backward
  alloc(kFreed);         // 5, backward
  free(kFreed);          // 6
  free(kSaved);          // 7
  alloc(kState);         // 8, optimizer
  r.segments.push_back(recording::LargeSegment(kBase, 128 * kMiB,
                                               {recording::Live(At(0), 16 * kMiB, 2 * kMiB),
                                                {.address = At(1), .bytes = 16 * kMiB},
                                                recording::Live(At(2), 16 * kMiB, 2 * kMiB),
                                                recording::Live(At(3), 16 * kMiB, 2 * kMiB),
                                                {.address = At(4), .bytes = 16 * kMiB},
                                                recording::Live(At(5), 48 * kMiB, kWorkspace)}));
  return r;
}

constexpr std::string_view kKnown = "\"t\",0,1,1100,0,1,";  // the mark of the parameter
Marks MarksOfStep(std::string_view known = kKnown) {
  const std::string text = fmt::format(
      "[\"n\",0,\"layer\"]\n"
      "[\"X\",0,0,0,0]\n"
      "[\"F\",0,1,1000,0,0,1,1]\n[{}{}]\n[\"M\",0,1,1200,0,0]\n"
      "[\"s\",0,2,2000,0,{},7]\n[\"m\",0,3,3000,0]\n[\"f\",0,3,3100,0]\n"
      "[\"B\",0,3,4000,0]\n[\"G\",0,3,4100,1,0]\n[\"r\",0,6,6000,1,7]\n[\"t\",0,7,7000,0,3,{}]\n"
      "[\"b\",0,7,7100,0]\n[\"O\",0,7,8000,0]\n[\"t\",0,8,8100,0,4,{}]\n"
      "[\"k\",0,8,8150,0,{}]\n[\"o\",0,8,8200,0]\n"
      "[\"E\",0,8,9000,0]\n",
      known, At(kParameter), At(kSaved) + 512, At(kGradient), At(kState), At(kState));
  return ParseMarks(text).value();
}

std::shared_ptr<const trace::Trace> Built(bool virtual_clock, std::string_view known = kKnown) {
  About about;
  about.ended = "end";
  about.virtual_clock = virtual_clock;
  ReadOptions options;
  options.device.blas_workspace_bytes = kWorkspace;
  return BuildTrace(Step(), MarksOfStep(known), about, options).value();
}

// Returns the row of the allocation with this number.
uint32_t Row(const trace::Trace& t, uint64_t place) {
  const auto& addresses = t.allocations.address;
  return static_cast<uint32_t>(std::find(addresses.begin(), addresses.end(), At(place)) -
                               addresses.begin());
}

// An "R" mark states a counter's name, the value that the program read, and the device.
TEST(Labels, CounterReadingsHaveEventAndDevice) {
  About about;
  about.ended = "end";
  const Marks marks = ParseMarks(
                          "[\"n\",0,\"torch.cuda.max_memory_allocated\"]\n"
                          "[\"n\",1,\"torch.cuda.memory_reserved\"]\n"
                          "[\"X\",0,0,0,0]\n[\"R\",0,2,2000,0,0,4194304,0]\n"
                          "[\"R\",0,4,4000,0,0,12713984,0]\n[\"R\",0,4,4001,0,1,777,1]\n"
                          "[\"R\",0,7,7000,0,0,4194304,0]\n[\"R\",0,7,7000,0,0,1,256]\n"
                          "[\"E\",0,8,9000,0]\n")
                          .value();
  const auto t = BuildTrace(Step(), marks, about, {}).value();
  const std::vector<trace::CounterReading> readings = trace::CounterReadingsOf(*t);
  ASSERT_EQ(readings.size(), 4u) << "entries without a device are omitted";
  EXPECT_EQ(readings[0].counter, "torch.cuda.max_memory_allocated");
  EXPECT_EQ(readings[0].bytes, 4194304u);
  const auto allocations_before = [&](trace::EventIndex event) {
    return std::ranges::count_if(t->allocations.alloc_event, [&](auto e) { return e < event; });
  };
  EXPECT_EQ(allocations_before(readings[0].event), 2);
  EXPECT_EQ(allocations_before(readings[1].event), 4);
  EXPECT_EQ(readings[2].device, 1);
  const std::vector<trace::CounterSummary> summary = trace::SummarizeCounters(*t);
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary[0].readings, 3u);
  EXPECT_EQ(summary[0].most, 12713984u);
  EXPECT_EQ(summary[0].last.bytes, 4194304u) << "the last one, after a reset";
  EXPECT_EQ(summary[1].counter, "torch.cuda.memory_reserved");
  EXPECT_EQ(summary[1].last.bytes, 777u);
}

TEST(Labels, MissingGradientsAreMarkersWithTheirBytes) {
  About about;
  about.ended = "end";
  const Marks marks = ParseMarks(
                          "[\"X\",0,0,0,0]\n[\"N\",0,4,4000,0,146,144,4194304]\n"
                          "[\"N\",0,7,7000,0,146,2,512]\n[\"E\",0,8,9000,0]\n")
                          .value();
  const auto t = BuildTrace(Step(), marks, about, {}).value();
  std::vector<std::pair<std::string, int64_t>> seen;
  uint64_t without = 0, of = 0;
  for (const trace::Marker& marker : t->markers)
    if (trace::ParseMissingGradients(t->String(marker.name), without, of))
      seen.emplace_back(t->String(marker.name), t->events.bytes[marker.event]);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].first, "144 of 146 trainable parameters have no gradient");
  EXPECT_EQ(seen[0].second, 4194304);
  EXPECT_EQ(without, 2u);
  EXPECT_EQ(of, 146u);
  for (const char* text : {"", " trainable parameters have no gradient", "step 3",
                           "x of 3 trainable parameters have no gradient",
                           "1 of 3y trainable parameters have no gradient",
                           "1 of 99999999999999999999 trainable parameters have no gradient"})
    EXPECT_FALSE(trace::ParseMissingGradients(text, without, of)) << text;
}

TEST(Labels, BlocksHaveTheOperatorThatAllocatedThem) {
  recording::Recording r = Step();
  r.strings.emplace_back("aten::mm");
  const trace::StringId mm{static_cast<uint32_t>(r.strings.size() - 1)};
  std::vector<trace::StringId> operators(r.entries.size());
  operators[2] = mm;  // the operator of kSaved
  About about;
  about.ended = "end";
  const auto t =
      BuildTrace(std::move(r), MarksOfStep(), about, {}, true, nullptr, operators).value();
  EXPECT_EQ(t->String(t->allocations.op[Row(*t, kSaved)]), "aten::mm");
  EXPECT_EQ(t->String(t->allocations.op[Row(*t, kParameter)]), "");
}

TEST(Labels, BlocksHaveTheirMarkedCategoryFromAllocation) {
  const auto t = Built(false);
  ASSERT_EQ(t->allocations.size(), 6u);
  EXPECT_TRUE(t->complete) << t->end_message;
  EXPECT_TRUE(t->warnings.empty());
  const auto birth = [&](uint64_t place) { return t->allocations.birth_category[Row(*t, place)]; };
  EXPECT_EQ(birth(kParameter), Category::kParameter);
  EXPECT_EQ(birth(kSaved), Category::kTemporary);
  EXPECT_EQ(birth(kGradient), Category::kGradient);
  EXPECT_EQ(birth(kState), Category::kOptimizerState);
  EXPECT_EQ(birth(kFreed), Category::kAutogradDetail);
  EXPECT_EQ(birth(5), Category::kWorkspace);
}

// The recording begins in the middle of a program, so the model is older than the recording.
TEST(Labels, MarksCategorizeBlocksOlderThanTheRecording) {
  recording::Recording r;
  r.has_segments = true;
  Add(r, Action::kAlloc, At(kSaved), 2 * kMiB, 1000);
  r.segments.push_back(recording::LargeSegment(
      kBase, 64 * kMiB,
      {recording::Live(At(0), 16 * kMiB, 2 * kMiB), recording::Live(At(1), 16 * kMiB, 2 * kMiB),
       recording::Live(At(2), 32 * kMiB, 2 * kMiB)}));
  const Marks marks = ParseMarks(fmt::format("[\"X\",0,0,0,0]\n[\"t\",0,0,500,0,1,{}]\n"
                                             "[\"E\",0,1,2000,0]\n",
                                             At(kParameter) + 512))
                          .value();
  About about;
  about.ended = "end";
  const auto t = BuildTrace(r, marks, about, ReadOptions()).value();
  ASSERT_EQ(t->allocations.size(), 3u);
  EXPECT_EQ(t->allocations.birth_category[Row(*t, kParameter)], Category::kParameter);
  EXPECT_EQ(t->allocations.birth_category[Row(*t, kGradient)], Category::kUnknown);
}

// In a recording, the size of a workspace depends on the GPU on which the program ran.
TEST(Labels, RecordingUsesTheGpuOfItsProcess) {
  const About about = ParseAbout(
                          R"({"pid": 1, "ended": "end", "card": {"name": "NVIDIA A100-SXM4-40GB",
              "memory_bytes": 42298834944, "sm_count": 108, "compute_capability": 80}})")
                          .value();
  ReadOptions options;
  options.planned = false;
  const auto t = BuildTrace(Step(), MarksOfStep(kKnown), about, options).value();
  EXPECT_EQ(t->info.device.key, "a100-40gb");
  EXPECT_EQ(t->info.device.memory_bytes, 42298834944u);
  EXPECT_EQ(t->allocations.birth_category[Row(*t, 5)], Category::kWorkspace);
  const std::vector<run::Assumption> assumed = trace::AssumptionsOf(*t);
  ASSERT_EQ(assumed.size(),
            1u);  // the assumed size of the CUDA context
  EXPECT_EQ(assumed[0].bytes, run::FindDevice("a100-40gb")->context_bytes);
  EXPECT_FALSE(ParseAbout(R"({"card": [1]})").value().gpu.memory_bytes);
}

// The processes of a program write assumptions in English. They are translated where they are
// shown.
TEST(Labels, AssumptionsAreTranslatedWithTheirArguments) {
  const auto t = Built(false);
  (void)trace::AssumptionsOf(*t);
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "vramscope's hooks are missing with this version of {}: {}")
      return "{0} LACKS {1}";
    if (english == "not recorded: {}") return "NO {}";
    if (english == "backward passes") return "BACKWARD";
    if (english == "{}, by rules that were derived from measurements on an H200 (cuDNN 9.19)")
      return "{} (H200)";
    return english == "cuDNN workspace of attention" ? "ATTENTION" : "";
  });
  const std::string hooks = i18n::Shown(
      "vramscope's hooks are missing with this version of torch: not recorded: backward passes");
  const std::string cudnn = i18n::Shown(
      "cuDNN workspace of attention, by rules that were derived from measurements on an H200 "
      "(cuDNN 9.19)");
  i18n::SetTranslator(nullptr);
  EXPECT_EQ(hooks, "torch LACKS NO BACKWARD");
  EXPECT_EQ(cudnn, "ATTENTION (H200)");
}

TEST(Labels, KeptBlockWithoutAnotherMarkIsBuffer) {
  const auto t = Built(false, "\"k\",0,1,1100,0,");
  const auto birth = [&](uint64_t place) { return t->allocations.birth_category[Row(*t, place)]; };
  EXPECT_EQ(birth(kParameter), Category::kBuffer);
  EXPECT_EQ(birth(kState), Category::kOptimizerState);
}

TEST(Labels, SavedTensorsAreActivationsWhileAutogradKeepsThem) {
  const auto t = Built(false);
  ASSERT_EQ(t->retags.size(), 2u);
  EXPECT_EQ(t->retags.allocation[0].value, Row(*t, kSaved));
  EXPECT_EQ(t->retags.to[0], Category::kActivation);
  EXPECT_EQ(t->retags.to[1], Category::kTemporary);
  // The first change of category must precede the next alloc. The second must directly precede the
  // free.
  EXPECT_LT(t->retags.event[0], t->allocations.alloc_event[Row(*t, 5)]);
  EXPECT_LT(t->retags.event[1], t->allocations.free_requested_event[Row(*t, kSaved)]);
  EXPECT_GT(t->retags.event[1], t->allocations.free_event[Row(*t, kFreed)]);
}

TEST(Labels, AllocationsHavePhaseStepAndModule) {
  const auto t = Built(false);
  const trace::AllocationTable& a = t->allocations;
  EXPECT_EQ(a.phase[Row(*t, kParameter)], Phase::kSetup);
  EXPECT_EQ(a.step[Row(*t, kParameter)], -1);
  EXPECT_EQ(a.phase[Row(*t, kSaved)], Phase::kForward);
  EXPECT_EQ(a.step[Row(*t, kSaved)], 0);
  EXPECT_EQ(a.phase[Row(*t, kGradient)], Phase::kBackward);
  EXPECT_EQ(a.phase[Row(*t, kState)], Phase::kOptimizer);
  EXPECT_EQ(t->String(a.module[Row(*t, kSaved)]), "layer");
  EXPECT_EQ(t->String(a.module[Row(*t, kGradient)]), "layer");
  EXPECT_EQ(t->String(a.module[Row(*t, kState)]), "");
  EXPECT_EQ(t->recording_begin, trace::kNoEvent);
}

TEST(Labels, VirtualClockTakesTimesFromMarks) {
  const auto t = Built(true);
  EXPECT_TRUE(t->info.has_times);
  const int64_t parameter = t->allocations.begin_ns[Row(*t, kParameter)];
  EXPECT_GT(parameter, 0);
  EXPECT_LT(parameter, 1000);
  EXPECT_GT(t->allocations.begin_ns[Row(*t, kState)], 8000);
  EXPECT_LE(t->allocations.begin_ns[Row(*t, kState)], 8100);
}

// If the program was killed, the trace has the data that arrived, and is not complete.
TEST(Labels, TraceWithoutEndMarkIsIncomplete) {
  Marks marks = MarksOfStep();
  marks.rows.resize(5);
  const auto t = BuildTrace(Step(), marks, {}, {}).value();
  EXPECT_FALSE(t->complete);
  EXPECT_EQ(t->allocations.size(), 6u);
  EXPECT_EQ(t->allocations.phase[Row(*t, kState)], Phase::kForward);
}

}  // namespace
}  // namespace vramscope::program
