// Makes stacks with the layout of those that PyTorch captures.
#include "cupti/stacks.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "tests/cupti/counted_calls.h"

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

TEST(Stacks, EqualStacksHaveOneNumber) {
  const char code[4] = {};
  Stacks stacks;
  EXPECT_EQ(stacks.Number(nullptr), 0u);
  EXPECT_EQ(stacks.Number(Capture({})), 0u);
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}, {&code[1], 4}})), 1u);
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}, {&code[1], 6}})), 2u);  // another instruction
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}})), 3u);                 // another depth
  EXPECT_EQ(stacks.Number(Capture({{&code[0], 2}, {&code[1], 4}})), 1u);
  // Adds so many stacks that the table grows.
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ(stacks.Number(Capture({{&code[2], i}})), static_cast<uint32_t>(i) + 4);
  EXPECT_EQ(stacks.Number(Capture({{&code[2], 77}})), 81u);
}

// A captured stack must stay referenced until it is written. Otherwise, its code could be unloaded.
TEST(Stacks, KeepsUnwrittenStacksAlive) {
  const char code = 0;
  Stacks stacks;
  const Stacks::Context first = Capture({{&code, 1}}), again = Capture({{&code, 1}});
  EXPECT_EQ(stacks.Number(first), 1u);
  EXPECT_EQ(stacks.Number(again), 1u);
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(again.use_count(), 1);
}

TEST(Stacks, NumbersWithoutLocksOrAllocations) {
  const char code = 0;
  Stacks stacks;
  std::vector<Stacks::Context> captured;
  for (int i = 0; i < 20'000; ++i)
    captured.push_back(Capture({{&code, i % 9000}, {&code, 1}, {&code, 2}}));
  std::vector<uint32_t> numbers(captured.size());
  vramscope::testing::locks = vramscope::testing::allocations = 0;
  vramscope::testing::counting = true;
  for (size_t i = 0; i < captured.size(); ++i) numbers[i] = stacks.Number(captured[i]);
  vramscope::testing::counting = false;
  EXPECT_EQ(vramscope::testing::locks, 0);
  EXPECT_EQ(vramscope::testing::allocations, 0);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i % 9000 + 1);
}

// Each device has its own lock, so several threads may number stacks at the same time.
TEST(Stacks, NumbersAreConsistentAcrossThreads) {
  constexpr int kThreads = 4, kStacks = 3000;
  const char code = 0;
  Stacks stacks;
  std::vector<std::vector<uint32_t>> numbers(kThreads, std::vector<uint32_t>(kStacks));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kStacks; ++i)
        numbers[static_cast<size_t>(t)][static_cast<size_t>(i)] =
            stacks.Number(Capture({{&code, i}, {&code, 7}}));
    });
  for (std::thread& thread : threads) thread.join();
  std::map<uint32_t, int> stack_of;
  for (const auto& of_thread : numbers)
    for (int i = 0; i < kStacks; ++i) {
      const uint32_t number = of_thread[static_cast<size_t>(i)];
      ASSERT_NE(number, 0u);
      ASSERT_EQ(stack_of.try_emplace(number, i).first->second, i);
      ASSERT_EQ(number, numbers[0][static_cast<size_t>(i)]);  // it is found again
    }
}

TEST(Stacks, DetectsOtherObjectLayouts) {
  const char code[2] = {};
  const auto* as_object = reinterpret_cast<const PyObject*>(&code[0]);
  const auto* other = reinterpret_cast<const PyObject*>(&code[1]);
  const Captured fits({{&code[0], 2}, {&code[1], 4}}), empty({});
  EXPECT_TRUE(Stacks::Fits(&fits, as_object));
  EXPECT_FALSE(Stacks::Fits(&fits, other));
  EXPECT_FALSE(Stacks::Fits(&empty, as_object));
  const uintptr_t odd[3] = {1, 2, 9};  // its contents are never dereferenced
  EXPECT_FALSE(Stacks::Fits(&odd, as_object));
  const uintptr_t far[3] = {1, 16, uintptr_t{1} << 60};
  EXPECT_FALSE(Stacks::Fits(&far, as_object));
}

}  // namespace
}  // namespace vramscope::cupti
