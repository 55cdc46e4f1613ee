// Tests what the canvas shows only for recorded files: annotations, inferred steps and phases, call
// stacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/shell/recorded_trace.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const TimelineData> Data() {
  return TimelineData::Build(vramscope::testing::MakeRecordedTrace());
}

TEST(RecordedLanesTest, AnnotationLaneScrollsOutOfAShortCanvas) {
  TimelineModel model;
  model.SetData(Data(), false, 0);
  model.Resize(800, 900, 1);
  const Layout tall = model.state().layout;
  EXPECT_TRUE(tall["annotations"].in_sight());
  EXPECT_EQ(tall["annotations"].rows, 2);
  EXPECT_GT(tall["annotations"].title.y, tall["blocks"].body.y);
  EXPECT_EQ(tall.scroll_most, 0);
  model.Resize(800, 260, 1);
  const Layout low = model.state().layout;
  EXPECT_TRUE(low["annotations"].visible);
  EXPECT_TRUE(low["annotations"].view().empty());
  EXPECT_GT(low.scroll_most, 0) << "the lane can be scrolled to";
}

TEST(RecordedLanesTest, OnlyInferredSlicesHaveARule) {
  const auto data = Data();
  const trace::SliceTable& s = data->trace().slices;
  for (uint32_t i = 0; i < s.size(); ++i) {
    const bool inferred =
        s.kind[i] == trace::SliceKind::kStep || s.kind[i] == trace::SliceKind::kPhase;
    EXPECT_EQ(!SliceRule(data->trace(), i).empty(), inferred) << data->SliceName(i);
  }
}

TEST(RecordedLanesTest, TooltipShowsRuleAndStack) {
  TimelineModel model;
  model.Resize(1000, 800, 1);
  const auto data = Data();
  model.SetData(data, false, 0);
  const trace::Trace& t = data->trace();
  uint32_t id = 0;
  while (StackOf(t, {id}).value != 1) ++id;
  Hit hit;
  hit.kind = HitKind::kAllocation;
  hit.allocation = {id};
  hit.time = data->FromTrace(t.allocations.begin_ns[id]);
  const Tooltip tip = MakeTooltip(model.state(), hit);
  EXPECT_EQ(tip.title, "model.py:42 forward");
  std::string all;
  for (const TooltipRow& row : tip.rows) all += row.label + "|" + row.value + "\n";
  EXPECT_THAT(all, HasSubstr("inferred by|" + RuleText(2)));
  EXPECT_THAT(all, HasSubstr("stack|forward  run/model.py:42\n|step  run/train.py:10\n"));
}

TEST(OriginTest, CallSiteIsTheProgramsInnermostFrame) {
  const auto trace = vramscope::testing::MakeRecordedTrace();
  // The innermost frame is in PyTorch's optimizer. The next is the program's own.
  EXPECT_EQ(CallSite(*trace, {2}), "train.py:12 step");
  EXPECT_EQ(CallSite(*trace, {0}), "");
  EXPECT_EQ(CallSite(*trace, {99}), "");
  EXPECT_TRUE(StackLines(*trace, {99}, 0).empty());
}

// Regression test: a block without a stack was called "allocation 958".
TEST(OriginTest, BlockWithoutAStackIsNamedAfterItsCategoryAndPhase) {
  trace::TraceBuilder builder;
  using Kind = trace::EventKind;
  ASSERT_TRUE(builder.AddStrings(0, std::vector<std::string>{""}).ok());
  const auto block = [](uint64_t id, trace::Category category, int64_t time) {
    return trace::Event{.kind = Kind::kAlloc,
                        .category = category,
                        .id = id,
                        .address = 512 * (id + 1),
                        .bytes = 512,
                        .bytes_rounded = 512,
                        .time_ns = time};
  };
  const trace::Event events[] = {block(0, trace::Category::kTemporary, 1),
                                 {.kind = Kind::kPhaseBegin,
                                  .detail = static_cast<uint8_t>(trace::Phase::kBackward),
                                  .time_ns = 2},
                                 block(1, trace::Category::kTemporary, 3),
                                 block(2, trace::Category::kUnknown, 4)};
  ASSERT_TRUE(builder.AddEvents(events).ok());
  const auto trace = builder.Finish(true, "");
  EXPECT_EQ(NameOf(*trace, {0}), "Temporary 0");
  EXPECT_EQ(NameOf(*trace, {1}), "Temporary 1 · backward");
  EXPECT_EQ(NameOf(*trace, {2}), "allocation 2 · backward");
}

TEST(OriginTest, RetagHasItsOwnRule) {
  trace::TraceBuilder builder;
  using Kind = trace::EventKind;
  ASSERT_TRUE(builder.AddStrings(0, std::vector<std::string>{""}).ok());
  const trace::Event events[] = {{.kind = Kind::kAlloc,
                                  .category = trace::Category::kActivation,
                                  .detail = 22,
                                  .id = 0,
                                  .bytes = 512,
                                  .bytes_rounded = 512,
                                  .time_ns = 1},
                                 {.kind = Kind::kRetag,
                                  .category = trace::Category::kGradient,
                                  .detail = 26,
                                  .id = 0,
                                  .time_ns = 2}};
  ASSERT_TRUE(builder.AddEvents(events).ok());
  const auto trace = builder.Finish(true, "");
  EXPECT_EQ(CategoryRuleNumber(*trace, {0}, trace::Category::kActivation), 22);
  EXPECT_EQ(CategoryRuleNumber(*trace, {0}, trace::Category::kGradient), 26);
  EXPECT_EQ(CategoryRuleNumber(*trace, {0}, trace::Category::kInput), 0);
}

TEST(ShortBytesTest, ChoosesUnitBySize) {
  EXPECT_EQ(FormatBytesShort(0), "0 B");
  EXPECT_EQ(FormatBytesShort(700), "700 B");
  EXPECT_EQ(FormatBytesShort(20 << 20), "20.00 MiB");
  EXPECT_EQ(FormatBytesShort(uint64_t{512} << 20), "0.50 GiB");
  EXPECT_EQ(FormatBytesShort(uint64_t{3} << 40), "3.00 TiB");
  EXPECT_EQ(FormatBytes(uint64_t{3} << 40), "3.000 TiB");
}

}  // namespace
}  // namespace vramscope::ui::timeline
