#include "profiler/analysis/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profiler/analysis/analysis.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::analysis {
namespace {

using ::testing::HasSubstr;

// "+5" allocates 5 bytes. "-5:0" frees allocation 0, which has 5 bytes. "-5" frees 5 bytes that
// were allocated earlier.
RequestStream Stream(std::initializer_list<std::string> words) {
  RequestStream s;
  int64_t allocations = 0;
  for (const std::string& w : words) {
    Request r;
    r.is_alloc = w[0] == '+';
    const size_t colon = w.find(':');
    r.bytes = std::stoull(w.substr(1, colon - 1));
    if (r.is_alloc) r.allocation = allocations++;
    if (!r.is_alloc && colon != std::string::npos) r.allocation = std::stoll(w.substr(colon + 1));
    s.requests.push_back(r);
  }
  return s;
}

TEST(Requests, EqualStreamsAreIdentical) {
  const RequestStream s = Stream({"+5", "+600", "-5:0", "-600:1", "-7"});
  const RequestDiff d = DiffRequests(s, s);
  EXPECT_TRUE(d.identical());
  EXPECT_EQ(d.total, 5u);
  EXPECT_TRUE(d.first_differences.empty());
  EXPECT_EQ(d.peak_a, 512u + 1024u);
}

TEST(Requests, ComparesEmptyStreams) {
  EXPECT_TRUE(DiffRequests({}, {}).identical());
  const RequestDiff d = DiffRequests(Stream({"+5"}), {});
  EXPECT_EQ(d.equal, 0u);
  EXPECT_EQ(d.total, 1u);
  ASSERT_EQ(d.first_differences.size(), 1u);
  EXPECT_EQ(d.first_differences[0].a, "alloc #0 of 5 B");
  EXPECT_EQ(d.first_differences[0].b, "");
}

TEST(Requests, FreeMatchesOnlyFreeOfItsCounterpart) {
  // Kinds and sizes are in the same order, but two tensors of equal size swap their frees.
  const RequestDiff d =
      DiffRequests(Stream({"+8", "+8", "-8:0", "-8:1"}), Stream({"+8", "+8", "-8:1", "-8:0"}));
  EXPECT_FALSE(d.identical());
  EXPECT_EQ(d.equal, 3u);
  EXPECT_EQ(d.equal_frees_unordered, 4u);
  ASSERT_FALSE(d.first_differences.empty());
  EXPECT_EQ(d.first_differences[0].index_a, 2u);
}

TEST(Requests, FreeOfOlderAllocationDoesNotMatch) {
  const RequestDiff d = DiffRequests(Stream({"+8", "-8:0"}), Stream({"+8", "-8"}));
  EXPECT_EQ(d.equal_frees_unordered, d.equal);
  EXPECT_EQ(d.equal, 1u);
}

TEST(Requests, FreeMovedAcrossAllocationDoesNotMatch) {
  const RequestDiff d = DiffRequests(Stream({"+8", "+16", "-8:0"}), Stream({"+8", "-8:0", "+16"}));
  EXPECT_EQ(d.equal, 2u);
  EXPECT_EQ(d.equal_frees_unordered, 2u);
}

TEST(Requests, InsertedAllocationAddsOnlyItsOwnDifferences) {
  const RequestDiff d = DiffRequests(Stream({"+8", "+16", "-8:0", "-16:1"}),
                                     Stream({"+8", "+32", "+16", "-8:0", "-32:1", "-16:2"}));
  EXPECT_EQ(d.equal, 4u);
  EXPECT_EQ(d.total, 6u);
  ASSERT_EQ(d.first_differences.size(), 2u);
  EXPECT_EQ(d.first_differences[0].a, "");
  EXPECT_EQ(d.first_differences[0].b, "alloc #1 of 32 B");
  EXPECT_EQ(d.first_differences[0].index_b, 1u);
  EXPECT_EQ(d.first_differences[1].index_b, 4u);
}

TEST(Requests, ListsAtMostTwentyDifferences) {
  RequestStream a, b;
  for (int i = 0; i < 100; ++i) {
    Request r;
    r.allocation = i;
    r.bytes = 1000 + static_cast<uint64_t>(i);
    a.requests.push_back(r);
    r.bytes += 1000;
    b.requests.push_back(r);
  }
  const RequestDiff d = DiffRequests(a, b);
  EXPECT_EQ(d.equal, 0u);
  EXPECT_EQ(d.first_differences.size(), 20u);
}

TEST(Requests, ExtractsRequestsOfAStep) {
  const auto t = MakeRandomTrace({.seed = 4, .steps = 4});
  const auto last = RequestsOfStep(*t, -1), third = RequestsOfStep(*t, 3);
  ASSERT_TRUE(last.ok() && third.ok());
  EXPECT_TRUE(DiffRequests(*last, *third).identical());
  EXPECT_FALSE(DiffRequests(*RequestsOfStep(*t, 1), *third).identical());
  const absl::Status missing = RequestsOfStep(*t, 9).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("0, 1, 2, 3"));
  EXPECT_EQ(RequestsOfStep(*MakeRandomTrace({.steps = 0}), -1).status().code(),
            absl::StatusCode::kNotFound);

  // start_bytes must be what is allocated when the step begins.
  const trace::SliceTable& s = t->slices;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] == trace::SliceKind::kStep && s.number[i] == 3) {
      EXPECT_EQ(third->start_bytes, LiveAt(*t, s.begin_event[i]).allocated);
    }
  }
}

TEST(Requests, WholeTraceHasEveryAllocationAndFree) {
  const auto t = MakeRandomTrace({.seed = 5});
  const absl::StatusOr<RequestStream> all = RequestsOfStep(*t, std::nullopt);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->requests.size(), 2u * t->allocations.size());
  EXPECT_EQ(all->start_bytes, 0u);
  for (const Request& r : all->requests) ASSERT_GE(r.allocation, 0);
}

// Removes random allocations and their frees. The comparison must match all that is left.
TEST(Requests, FindsTheCommonPartOfEditedStreams) {
  const RequestStream all =
      *RequestsOfStep(*MakeRandomTrace({.seed = 6, .steps = 6}), std::nullopt);
  std::mt19937 random(1);
  RequestStream cut;
  std::vector<int64_t> number(all.requests.size(), -1);
  int64_t next = 0;
  for (const Request& r : all.requests) {
    const auto id = static_cast<size_t>(r.allocation);
    if (r.is_alloc && random() % 50 == 0) continue;
    if (r.is_alloc) number[id] = next++;
    if (number[id] < 0) continue;
    cut.requests.push_back(r);
    cut.requests.back().allocation = number[id];
  }
  ASSERT_LT(cut.requests.size(), all.requests.size());
  const RequestDiff d = DiffRequests(all, cut);
  EXPECT_GE(d.equal, cut.requests.size() * 99 / 100);
  EXPECT_LE(d.equal, cut.requests.size());
}

}  // namespace
}  // namespace vramscope::analysis
