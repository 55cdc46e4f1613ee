// Tests which blocks are marked, where links lead, and which entries context menus have.
#include "ui/timeline/model/marking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/query/search.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::HasSubstr;

class MarkingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.SetAnimations(false);
    model_.Resize(1200, 900, 1);
    model_.SetData(data_, false, 0);
  }
  query::SearchResult Find(std::string_view text) {
    const auto filter = query::ParseSearch(text);
    EXPECT_TRUE(filter.ok()) << filter.status();
    return query::Search({.trace = trace_, .index = data_->activities()}, *filter);
  }
  uint32_t FirstKernel() const {
    const auto& a = trace_->activities;
    for (uint32_t row = 0; row < a.size(); ++row)
      if (a.kind[row] == trace::ActivityKind::kKernel) return row;
    return query::kNoRow;
  }

  std::shared_ptr<const trace::Trace> trace_ =
      testing::MakeSyntheticTrace({.layers = 3, .steps = 2, .activities = {.streams = 2}});
  std::shared_ptr<const TimelineData> data_ = TimelineData::Build(trace_);
  TimelineModel model_;
};

TEST_F(MarkingTest, MarkedBlocksDimOthersButMarkedKernelsDoNot) {
  const auto blocks = Find("kind = block and category = activation");
  const auto marking = std::make_shared<const Marking>(MarkThings(trace_, blocks.things));
  EXPECT_EQ(marking->block_count, blocks.things.size());
  model_.Mark(marking);
  uint32_t faint = 0;
  for (uint32_t i = 0; i < trace_->allocations.size(); ++i) faint += model_.state().faint(i);
  EXPECT_EQ(faint, trace_->allocations.size() - blocks.things.size());
  const auto kernels = Find("kind = kernel");
  model_.Mark(std::make_shared<const Marking>(MarkThings(trace_, kernels.things)));
  EXPECT_EQ(model_.state().marking->count, kernels.things.size());
  EXPECT_EQ(model_.state().marking->times.size(), kernels.things.size());
  EXPECT_TRUE(
      std::is_sorted(model_.state().marking->times.begin(), model_.state().marking->times.end()));
  EXPECT_FALSE(model_.state().faint(0));
  // The marks must stay when a kernel is selected. Esc must remove them.
  model_.SelectActivity(FirstKernel());
  EXPECT_NE(model_.state().marking, nullptr);
  model_.Clear();
  EXPECT_EQ(model_.state().marking, nullptr);
}

// If a category is hidden, the memory lane stacks only the others, and its blocks are dimmed.
TEST_F(MarkingTest, HiddenCategoryIsDimmedAndNotHit) {
  uint32_t block = 0;
  while (trace_->allocations.main_category[block] != trace::Category::kActivation) ++block;
  EXPECT_FALSE(model_.state().faint(block));
  std::bitset<trace::kCategoryCount> hidden;
  hidden.set(static_cast<size_t>(trace::Category::kActivation));
  model_.HideCategories(hidden);
  EXPECT_TRUE(model_.data_dirty());
  EXPECT_TRUE(model_.state().faint(block));
  const Rect& body = model_.state().layout["memory"].body;
  for (double x = 0.05; x < 1; x += 0.05)
    for (double y = 0.05; y < 1; y += 0.05) {
      const Hit hit = model_.HitTest(body.x + x * body.w, body.y + y * body.h);
      EXPECT_NE(hit.category, trace::Category::kActivation);
    }
  // Tables can still select the block. This must not remove marks.
  model_.Mark(std::make_shared<const Marking>(
      MarkBlocks(trace_, std::vector<trace::AllocationId>{{block}})));
  model_.Select({block});
  EXPECT_NE(model_.state().marking, nullptr);
  model_.HideCategories({});
  EXPECT_FALSE(model_.state().faint(block));
}

TEST_F(MarkingTest, IgnoresMarksOfAnotherTrace) {
  const auto other = testing::MakeSyntheticTrace({.layers = 2});
  model_.Mark(std::make_shared<const Marking>(
      MarkBlocks(other, std::vector<trace::AllocationId>{{0}, {1}})));
  EXPECT_EQ(model_.state().marking, nullptr);
  // Repeated ids must count once, and invalid ids not at all.
  const Marking marking = MarkBlocks(
      trace_, std::vector<trace::AllocationId>{{1}, {1}, {}, {trace_->allocations.size()}});
  EXPECT_EQ(marking.count, 1u);
}

// If a link leads into a collapsed or hidden lane, the lane must be shown.
TEST_F(MarkingTest, FollowLinkUnfoldsTheTargetLane) {
  const uint32_t kernel = FirstKernel();
  const uint32_t call = data_->activities()->CallOf(kernel);
  ASSERT_NE(call, query::kNoRow);
  const std::string of_kernel = ActivityLaneKey(*data_, kernel);
  const std::string of_call = ActivityLaneKey(*data_, call);
  ASSERT_NE(of_kernel, of_call);
  if (!model_.state().layout[of_call].folded) model_.ChangeLane(LaneAction::kFold, of_call);
  model_.ChangeLane(LaneAction::kHide, of_kernel);
  ASSERT_TRUE(model_.state().layout[of_call].folded);
  ASSERT_FALSE(model_.state().layout[of_kernel].visible);
  model_.FollowLink({Link::To::kActivity, kernel}, 0);
  EXPECT_TRUE(model_.state().layout[of_kernel].visible);
  EXPECT_FALSE(model_.state().layout[of_kernel].folded);
  EXPECT_FALSE(model_.state().layout[of_call].folded) << "the arrow comes from there";
  EXPECT_TRUE(model_.state().layout[of_kernel].in_sight());
  // Undo folds the lane again.
  model_.UndoView(0);
  EXPECT_TRUE(model_.state().layout[of_call].folded);
}

TEST_F(MarkingTest, FactsOfferFiltersForSimilarThings) {
  const auto blocks = Find("kind = block and category = activation");
  const query::Thing block = blocks.things.front();
  const ThingFacts facts = FactsOfThing(*data_, block);
  EXPECT_THAT(facts.title, HasSubstr("block: "));
  EXPECT_EQ(facts.size, std::to_string(trace_->allocations.bytes_rounded[block.row]));
  EXPECT_THAT(facts.address, HasSubstr("0x"));
  ASSERT_FALSE(facts.likes.empty());
  for (const ThingFacts::Like& like : facts.likes) {
    const auto found = Find(like.filter);
    EXPECT_THAT(found.things, ::testing::Contains(block)) << like.filter;
  }
  const query::Thing kernel{query::ThingKind::kKernel, FirstKernel()};
  const ThingFacts of_kernel = FactsOfThing(*data_, kernel);
  EXPECT_FALSE(of_kernel.links.empty());
  for (const LinkedFact& link : of_kernel.links) EXPECT_NE(link.link.to, Link::To::kNothing);
  for (const ThingFacts::Like& like : of_kernel.likes)
    EXPECT_THAT(Find(like.filter).things, ::testing::Contains(kernel)) << like.filter;
  const std::string json = JsonOfThing(*data_, kernel);
  EXPECT_THAT(json, HasSubstr("\"kind\": \"kernel\""));
  EXPECT_THAT(json, HasSubstr("\"takes_ns\": "));
  for (const query::Thing& thing : Find("kind != block").things) {
    const ThingFacts any = FactsOfThing(*data_, thing);
    EXPECT_FALSE(any.title.empty());
    for (const ThingFacts::Like& like : any.likes)
      EXPECT_TRUE(query::ParseFilter(like.filter).ok()) << like.filter;
  }
}

TEST_F(MarkingTest, ConvertsHitsAndSelectionToThings) {
  Hit hit;
  EXPECT_FALSE(ThingOf(*trace_, hit));
  hit.kind = HitKind::kActivity;
  hit.activity = FirstKernel();
  EXPECT_EQ(ThingOf(*trace_, hit), (query::Thing{query::ThingKind::kKernel, hit.activity}));
  hit.kind = HitKind::kMemory;
  EXPECT_FALSE(ThingOf(*trace_, hit));
  EXPECT_FALSE(SelectedThing(model_.state()));
  model_.Select({3});
  EXPECT_EQ(SelectedThing(model_.state()), (query::Thing{query::ThingKind::kBlock, 3}));
}

}  // namespace
}  // namespace vramscope::ui::timeline
