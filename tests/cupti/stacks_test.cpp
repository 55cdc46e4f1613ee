// Stacks as PyTorch captures them: behind a table of functions the frames.
#include "cupti/stacks.h"

#include <gtest/gtest.h>

namespace vramscope::cupti {
namespace {

struct Frame {
  const void* code;
  int at;
};
struct Captured {
  explicit Captured(std::vector<Frame> of) : frames(std::move(of)) {}
  virtual ~Captured() = default;
  std::vector<Frame> frames;
};

Stacks::Context Capture(std::vector<Frame> frames) {
  return std::make_shared<Captured>(std::move(frames));
}

TEST(Stacks, AreNumberedOnceEach) {
  const char code[4] = {};
  Stacks stacks;
  EXPECT_EQ(stacks.Number(nullptr), 0u);
  EXPECT_EQ(stacks.Number(Capture({})), 0u);
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}, {&code[1], 4}})), 1u);
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}, {&code[1], 6}})), 2u);  // another instruction
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}})), 3u);                 // another depth
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}, {&code[1], 4}})), 1u);
  // Many, so that the table grows.
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ(stacks.Number(Capture({{&code[2], i}})), static_cast<uint32_t>(i) + 4);
  EXPECT_EQ(stacks.Number(Capture({{&code[2], 77}})), 81u);
}

// Until a stack is written nobody may take its code away.
TEST(Stacks, WhatIsNotWrittenIsKept) {
  const char code = 0;
  Stacks stacks;
  const Stacks::Context first = Capture({{&code, 1}}), again = Capture({{&code, 1}});
  EXPECT_EQ(stacks.Number(first), 1u);
  EXPECT_EQ(stacks.Number(again), 1u);
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(again.use_count(), 1);
}

TEST(Stacks, OfAnotherShapeAreSeen) {
  const char code[2] = {};
  const auto* as_object = reinterpret_cast<const PyObject*>(&code[0]);
  const auto* other = reinterpret_cast<const PyObject*>(&code[1]);
  const Captured fits({{&code[0], 2}, {&code[1], 4}}), empty({});
  EXPECT_TRUE(Stacks::Fits(&fits, as_object));
  EXPECT_FALSE(Stacks::Fits(&fits, other));
  EXPECT_FALSE(Stacks::Fits(&empty, as_object));
  const uintptr_t odd[3] = {1, 2, 9};  // whatever stands there is not followed
  EXPECT_FALSE(Stacks::Fits(&odd, as_object));
  const uintptr_t far[3] = {1, 16, uintptr_t{1} << 60};
  EXPECT_FALSE(Stacks::Fits(&far, as_object));
}

}  // namespace
}  // namespace vramscope::cupti
