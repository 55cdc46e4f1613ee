#include "emulated/core/addresses.h"

#include <gtest/gtest.h>

namespace vramscope::emulated {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBase = uint64_t{1} << 40, kSpan = uint64_t{1} << 30;

TEST(Addresses, AscendingUsesLowestSufficientHole) {
  AddressSpace space(kBase, kSpan, Placement::kAscending);
  const uint64_t first = space.Take(2 * kMiB), second = space.Take(20 * kMiB);
  EXPECT_EQ(first, kBase);
  EXPECT_EQ(second, kBase + 2 * kMiB);
  space.Give(first, 2 * kMiB);
  EXPECT_EQ(space.Take(4 * kMiB), kBase + 22 * kMiB);  // the first hole is too small
  EXPECT_EQ(space.Take(1), kBase);
}

TEST(Addresses, DescendingAllocatesChunksFromTheTop) {
  AddressSpace space(kBase, kSpan, Placement::kDescending);
  const uint64_t end = kBase + kSpan;
  // A small allocation reserves a 32 MiB chunk at the top, which also serves the next ones.
  EXPECT_EQ(space.Take(2 * kMiB), end - 32 * kMiB);
  EXPECT_EQ(space.Take(20 * kMiB), end - 30 * kMiB);
  // An allocation that does not fit into that chunk reserves the next chunk below.
  EXPECT_EQ(space.Take(20 * kMiB), end - 64 * kMiB);
  EXPECT_EQ(space.Take(10 * kMiB), end - 44 * kMiB);
  // Uses the lowest of all free ranges that are large enough.
  EXPECT_EQ(space.Take(2 * kMiB), end - 34 * kMiB);
}

TEST(Addresses, MergesNeighbouringHoles) {
  for (const Placement placement : {Placement::kAscending, Placement::kDescending}) {
    AddressSpace space(kBase, kSpan, placement);
    const uint64_t a = space.Take(16 * kMiB), b = space.Take(16 * kMiB);
    const uint64_t c = space.Take(32 * kMiB);
    ASSERT_NE(c, 0u);
    space.Give(b, 16 * kMiB);
    space.Give(a, 16 * kMiB);
    EXPECT_EQ(space.Take(32 * kMiB), std::min(a, b));
  }
}

TEST(Addresses, ReturnsZeroIfFullOrTooLarge) {
  for (const Placement placement : {Placement::kAscending, Placement::kDescending}) {
    AddressSpace space(kBase, 64 * kMiB, placement);
    EXPECT_EQ(space.Take(0), 0u);
    EXPECT_EQ(space.Take(65 * kMiB), 0u);
    EXPECT_EQ(space.Take(~uint64_t{0}), 0u);
    EXPECT_NE(space.Take(64 * kMiB), 0u);
    EXPECT_EQ(space.Take(1), 0u);
  }
}

}  // namespace
}  // namespace vramscope::emulated
