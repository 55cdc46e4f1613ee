// Tests that an end event closes the innermost open slice of its kind: in its thread, for kinds
// that are per thread; otherwise in its process, if there are several processes.
#include "profiler/trace/live_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "profiler/trace/processes.h"

namespace vramscope::trace {
namespace {

struct Pair {
  EventKind begin, end;
  bool of_thread;
};
constexpr Pair kPairs[] = {{EventKind::kPhaseBegin, EventKind::kPhaseEnd, false},
                           {EventKind::kStepBegin, EventKind::kStepEnd, false},
                           {EventKind::kModuleBegin, EventKind::kModuleEnd, true},
                           {EventKind::kOpBegin, EventKind::kOpEnd, true}};

Event Of(EventKind kind, uint32_t thread) {
  Event event;
  event.kind = kind;
  event.thread = thread;
  return event;
}

// A simple reference: a list of the open begin events, which is searched from its end.
class Searched {
 public:
  void Begin(const Event& event) { open_.push_back(event); }
  bool End(const Pair& pair, uint32_t thread, bool several) {
    const auto at = std::find_if(open_.rbegin(), open_.rend(), [&](const Event& open) {
      if (open.kind != pair.begin) return false;
      if (pair.of_thread) return open.thread == thread;
      return !several || ProcessOfThread(open.thread) == ProcessOfThread(thread);
    });
    if (at == open_.rend()) return false;
    open_.erase(std::next(at).base());
    return true;
  }
  const std::vector<Event>& open() const { return open_; }

 private:
  std::vector<Event> open_;
};

void ExpectSameAsSearched(bool several, uint64_t seed) {
  std::mt19937_64 random(seed);
  LiveState live;
  if (several) {
    // This string names a process: it is what a process marker contains.
    const std::string name = "process\nrank 1\n\n0";
    ASSERT_TRUE(IsProcessMarker(name));
    live.Strings(1, {&name, 1});
    Event marker = Of(EventKind::kMarker, 0);
    marker.name = StringId{1};
    ASSERT_TRUE(live.Advance(marker).ok());
  }
  Searched searched;
  for (int i = 0; i < 3000; ++i) {
    const Pair& pair = kPairs[random() % std::size(kPairs)];
    const auto thread = static_cast<uint32_t>((random() % 3) << kProcessShift | random() % 3);
    if (random() % 100 < 52) {
      const Event begin = Of(pair.begin, thread);
      searched.Begin(begin);
      ASSERT_TRUE(live.Advance(begin).ok());
    } else {
      ASSERT_EQ(live.Advance(Of(pair.end, thread)).ok(), searched.End(pair, thread, several));
    }
  }
  const std::vector<Event> open = live.open();
  ASSERT_EQ(open.size(), searched.open().size());
  for (size_t i = 0; i < open.size(); ++i) {
    EXPECT_EQ(open[i].kind, searched.open()[i].kind) << i;
    EXPECT_EQ(open[i].thread, searched.open()[i].thread) << i;
  }
}

TEST(LiveState, EndClosesTheInnermostSliceOfItsKind) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ExpectSameAsSearched(false, seed);
    ExpectSameAsSearched(true, seed);
  }
}

// A hostile file of some megabytes can have this many open slices. Closes them, beginning with the
// outermost. Searching all open slices each time would take 10^11 steps.
TEST(LiveState, ClosingIsFastWithManyOpenSlices) {
  constexpr uint32_t kThreads = 500'000;
  LiveState live;
  for (uint32_t i = 0; i < kThreads; ++i)
    ASSERT_TRUE(live.Advance(Of(EventKind::kOpBegin, i)).ok());
  for (uint32_t i = 0; i < kThreads; ++i) ASSERT_TRUE(live.Advance(Of(EventKind::kOpEnd, i)).ok());
  EXPECT_TRUE(live.open().empty());
}

}  // namespace
}  // namespace vramscope::trace
