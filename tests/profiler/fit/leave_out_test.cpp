#include "profiler/fit/leave_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace vramscope::fit {
namespace {

// Replaces planning: `needs` states the bytes of each set. Other sets cannot be planned.
struct Plans {
  std::map<Members, uint64_t> needs;
  std::vector<Members> asked = {};

  absl::StatusOr<LeftOver> LeaveOut(std::vector<size_t> order, size_t at_once) {
    Members all = order;
    std::ranges::sort(all);
    return fit::LeaveOut({.order = std::move(order),
                          .planned = {.reserved = needs.at(all)},
                          .at_once = at_once,
                          .plan =
                              [&](const std::vector<Members>& sets) {
                                std::vector<Planned> planned;
                                for (const Members& set : sets) {
                                  asked.push_back(set);
                                  const auto at = needs.find(set);
                                  planned.push_back(at == needs.end()
                                                        ? Planned{.error = "it fails"}
                                                        : Planned{.reserved = at->second});
                                }
                                return planned;
                              },
                          .enough = [](size_t, const Planned&,
                                       const Planned& without) { return without.needed() <= 10; }});
  }
};

TEST(LeaveOut, TriesMembersInOrderAndPlansEachRemovalOnce) {
  for (const size_t at_once : {1u, 2u, 4u}) {
    Plans plans{.needs = {{{0, 1, 2}, 7},
                          {{1, 2}, 9},
                          {{0, 2}, 9},
                          {{0, 1}, 9},
                          {{1}, 12},
                          {{2}, 10},
                          {{0}, 10},
                          {{}, 20}}};
    const auto left = plans.LeaveOut({0, 1, 2}, at_once);
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(left->members, Members({2})) << "0 and 1 come first";
    EXPECT_EQ(left->planned.needed(), 10u);
    EXPECT_TRUE(left->done);
    EXPECT_LE(plans.asked.size(), 3 * at_once);
  }
}

TEST(LeaveOut, KeepsWhatIsNeeded) {
  Plans plans{.needs = {{{0, 1}, 10}, {{0}, 11}, {{1}, 12}}};
  const auto left = plans.LeaveOut({1, 0}, 2);
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->members, Members({0, 1}));
  EXPECT_EQ(plans.asked.size(), 2u);
}

// A setting of the allocator can increase reserved memory, and another setting may be needed only
// to make up for this.
TEST(LeaveOut, TriesAgainWithoutAMemberThatDidHarm) {
  Plans plans{
      .needs = {
          {{0, 1, 2}, 9}, {{0, 2}, 12}, {{1, 2}, 8}, {{0, 1}, 12}, {{1}, 12}, {{2}, 9}, {{}, 20}}};
  const auto left = plans.LeaveOut({1, 0, 2}, 1);
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->members, Members({2}));
}

// If technique 1 requires technique 0, then 0 can be left out only after 1 was left out.
TEST(LeaveOut, TriesAgainWhatCouldNotBePlanned) {
  Plans plans{.needs = {{{0, 1, 2}, 7}, {{0, 2}, 8}, {{2}, 9}, {{0, 1}, 20}, {{0}, 20}, {{}, 20}}};
  const auto left = plans.LeaveOut({0, 1, 2}, 1);  // 1 requires 0
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->members, Members({2}));
}

TEST(LeaveOut, StopsWhenTheTimeIsUp) {
  const auto left = LeaveOut({.order = {1, 0}, .in_time = [] { return false; }});
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->members, Members({0, 1}));
  EXPECT_FALSE(left->done);
}

}  // namespace
}  // namespace vramscope::fit
