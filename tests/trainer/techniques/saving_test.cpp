// Tests save=step: after each step, the state must be copied to the host in a phase of its own,
// without allocating GPU memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

struct Seen {
  std::vector<uint64_t> requests;  // bytes of each allocation
  int saves = 0;
  int inside = 0;  // allocations during a save
};

Seen Plan(const char* save, bool in_backward) {
  run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
  config.Set("save", save);
  config.Set("optimizer.in_backward", in_backward ? "true" : "false");
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  Seen seen;
  if (!result.status.ok()) return seen;
  bool inside = false;
  const trace::EventTable& events = result.trace->events;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events.detail[i] == static_cast<uint8_t>(trace::Phase::kSave)) {
      inside |= events.kind[i] == trace::EventKind::kPhaseBegin;
      seen.saves += events.kind[i] == trace::EventKind::kPhaseBegin;
      inside &= events.kind[i] != trace::EventKind::kPhaseEnd;
    }
    if (events.kind[i] != trace::EventKind::kAlloc) continue;
    seen.requests.push_back(events.bytes[i]);
    seen.inside += inside ? 1 : 0;
  }
  return seen;
}

TEST(Saving, AllocatesNoGpuMemory) {
  for (const bool in_backward : {false, true}) {
    const Seen without = Plan("none", in_backward);
    const Seen with = Plan("step", in_backward);
    EXPECT_EQ(without.saves, 0);
    EXPECT_EQ(with.saves, 3);
    EXPECT_FALSE(without.requests.empty());
    EXPECT_EQ(with.requests, without.requests);
    EXPECT_EQ(with.inside, 0);
  }
}

}  // namespace
}  // namespace vramscope::trainer
