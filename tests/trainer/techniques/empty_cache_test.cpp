// Tests empty_cache=step: each step must end by returning segments to the driver, and the peak must
// not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>

#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

struct Seen {
  int released_in_steps = 0;
  uint64_t peak = 0;  // bytes allocated
};

Seen Plan(const char* value) {
  run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
  config.steps = 3;
  config.batch = 8;  // activations that fill their own segments
  config.seq = 512;
  config.Set("empty_cache", value);
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  Seen seen;
  if (!result.status.ok()) return seen;
  const trace::EventTable& events = result.trace->events;
  bool in_step = false;
  uint64_t now = 0;
  std::unordered_map<uint32_t, uint64_t> bytes;  // keyed by allocation
  for (uint32_t i = 0; i < events.size(); ++i) {
    switch (events.kind[i]) {
      case trace::EventKind::kStepBegin:
        in_step = true;
        break;
      case trace::EventKind::kStepEnd:
        in_step = false;
        break;
      case trace::EventKind::kSegmentFree:
        seen.released_in_steps += in_step ? 1 : 0;
        break;
      case trace::EventKind::kAlloc:
        bytes[events.id[i]] = events.bytes[i];
        seen.peak = std::max(seen.peak, now += events.bytes[i]);
        break;
      case trace::EventKind::kFreeCompleted:
        now -= bytes[events.id[i]];
        break;
      default:
        break;
    }
  }
  return seen;
}

TEST(EmptyCache, ReleasesSegmentsWithoutChangingThePeak) {
  const Seen never = Plan("never");
  const Seen step = Plan("step");
  EXPECT_EQ(never.released_in_steps, 0);
  EXPECT_GE(step.released_in_steps, 3);
  EXPECT_GT(step.peak, 0u);
  EXPECT_EQ(step.peak, never.peak);
}

}  // namespace
}  // namespace vramscope::trainer
