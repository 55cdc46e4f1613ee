// Extends a tape of four units to many units. Compares the result with a tape that was recorded
// with all units.
#include "trainer/capture/extended_tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profiler/trace/event_sink.h"
#include "trainer/capture/device_work.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer {
namespace {

using trace::EventKind;
using trace::Phase;

class Names final : public trace::EventSink {
 public:
  void Begin(const trace::TraceInfo&) override {}
  void Strings(uint32_t first, std::span<const std::string> values) override {
    all.resize(first);
    all.insert(all.end(), values.begin(), values.end());
  }
  void Events(std::span<const trace::Event>) override {}
  void End(bool, std::string_view) override {}
  std::vector<std::string> all;
};

std::string Path(int layer) { return "model.layers." + std::to_string(layer); }

struct Recorded {
  Tape tape;
  std::vector<std::string> strings;
};

// What one layer does differently from the other layers.
struct Oddity {
  int layer = -1;
  uint64_t bytes = 0;
};

// Records one micro-batch of these layers. Each layer saves its input and a product, and backward
// frees both. A mask that all layers use is allocated before the layers. All casts are freed
// together.
Recorded Record(const std::vector<int>& layers, const Oddity& oddity = {}) {
  Recorded out;
  Names names;
  int64_t now = 0;
  {
    Recorder recorder(names, [&] { return now; });
    uint64_t next_key = 0;
    const auto make = [&](const char* op, uint64_t bytes, int64_t sequence = -1,
                          bool backward = false) {
      recorder.BeginOp(op, sequence, backward);
      now += 10;
      recorder.OnMove(0, static_cast<int64_t>(bytes));
      recorder.OnDeviceWork({.what = {.kind = trace::ActivityKind::kKernel, .bytes = bytes},
                             .name = "kernel",
                             .call_name = "cudaLaunchKernel",
                             .moved = true});
      ++next_key;
      recorder.OnAlloc(next_key, bytes, bytes, next_key, 0, trace::Pool::kSmall);
      recorder.EndOp();
      return next_key;
    };
    recorder.BeginTape(&out.tape);
    recorder.BeginPhase(Phase::kForward);
    recorder.BeginModule("model");
    const uint64_t mask = make("aten::full", 64);
    uint64_t hidden = make("aten::embedding", 512);
    std::vector<std::pair<uint64_t, uint64_t>> saved;  // input and product, by layer
    std::vector<uint64_t> casts;
    for (int layer : layers) {
      recorder.BeginModule("layers." + std::to_string(layer));
      recorder.OnSaved(hidden);
      recorder.OnSaved(mask);
      casts.push_back(make("aten::to", 32));
      const uint64_t product =
          make("aten::mm", 1024 + (layer == oddity.layer ? oddity.bytes : 0), layer);
      recorder.OnSaved(product);
      saved.push_back({hidden, product});
      hidden = make("aten::add", 512);
      recorder.EndModule();
    }
    recorder.EndModule();
    recorder.TapeSorted(casts.size());
    for (uint64_t cast : casts) recorder.OnFree(cast);
    recorder.EndPhase();
    recorder.BeginPhase(Phase::kBackward);
    uint64_t gradient = make("aten::ones_like", 4);
    for (size_t i = layers.size(); i-- > 0;) {
      recorder.BeginOp("MmBackward0", layers[i], true);
      const uint64_t incoming = make("aten::mm", 512);
      make("aten::mm", 2048);  // the cast of a weight, which is not freed
      recorder.OnSavedReleased(saved[i].second);
      recorder.OnFree(saved[i].second);
      recorder.OnSavedReleased(saved[i].first);
      recorder.OnSavedReleased(mask);
      recorder.EndOp();
      recorder.OnFree(saved[i].first);
      recorder.OnFree(gradient);
      gradient = incoming;
    }
    recorder.OnFree(gradient);
    recorder.OnFree(hidden);
    recorder.OnFree(mask);
    recorder.EndPhase();
    recorder.EndTape();
  }
  out.strings = names.all;
  return out;
}

// Returns the tape as text. Sorts frees that have the same time, because their order is not
// defined.
std::vector<std::string> Lines(const Tape& tape, const std::vector<std::string>& strings) {
  std::vector<std::string> lines;
  auto work = tape.works.begin();
  auto sorted = tape.sorted.begin();
  size_t together = 0;
  for (size_t i = 0; i < tape.events.size(); ++i) {
    for (; work != tape.works.end() && work->first <= i; ++work) {
      EXPECT_TRUE(work->reported);
      lines.push_back("work " + std::to_string(work->duration_ns) + " " +
                      strings[work->what.name.value] + " of " + strings[work->what.op.value] +
                      " in " + strings[work->what.module.value] + ", " +
                      strings[work->call.name.value]);
    }
    if (sorted != tape.sorted.end() && sorted->first == i) {
      lines.push_back("together " + std::to_string(sorted->frees));
      together = lines.size();
    }
    const trace::Event& e = tape.events[i];
    lines.push_back(std::string(trace::Name(e.kind)) + " " + strings[e.name.value] + " " +
                    strings[e.module.value] + " " + std::to_string(e.bytes) + " #" +
                    std::to_string(e.id) + " " + std::string(trace::Name(e.category)));
    if (sorted != tape.sorted.end() && i + 1 == sorted->first + 2 * sorted->frees) {
      std::sort(lines.begin() + static_cast<ptrdiff_t>(together), lines.end());
      ++sorted;
    }
  }
  return lines;
}

std::vector<std::vector<std::string>> Units(int count) {
  std::vector<std::vector<std::string>> units;
  for (int i = 0; i < count; ++i) units.push_back({Path(i)});
  return units;
}

TEST(ExtendedTape, MatchesTapeOfAllLayers) {
  for (const int count : {6, 7, 12}) {
    const Recorded some = Record({0, 1, count - 2, count - 1});
    std::vector<int> layers(count);
    for (int i = 0; i < count; ++i) layers[i] = i;
    const Recorded all = Record(layers);
    const auto whole = Extend(some.tape, some.strings, Units(count));
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(whole->tape.end_allocation, all.tape.end_allocation);
    EXPECT_THAT(Lines(whole->tape, whole->strings),
                ::testing::ElementsAreArray(Lines(all.tape, all.strings)));
  }
}

// The omitted units must get the events of a middle unit, with their own module names.
TEST(ExtendedTape, MapsRowsToOmittedUnits) {
  const Recorded some = Record({0, 1, 6, 7});
  const auto whole = Extend(some.tape, some.strings, Units(8));
  ASSERT_TRUE(whole.has_value());
  std::map<uint64_t, std::string> module_of;  // module of each 2048-byte allocation
  for (const trace::Event& e : whole->tape.events) {
    if (e.kind == EventKind::kAlloc && e.bytes == 2048)
      module_of[e.id] = whole->strings[e.module.value];
  }
  EXPECT_EQ(module_of.size(), 8u);
  for (const trace::Event& e : some.tape.events) {
    if (e.kind != EventKind::kAlloc || e.bytes != 2048) continue;
    if (some.strings[e.module.value] != Path(6)) continue;
    for (size_t to = 1; to <= 6; ++to) {
      EXPECT_EQ(module_of[whole->RowOf(e.id - some.tape.first_allocation, 6, to)], Path(to));
    }
  }
}

TEST(ExtendedTape, RejectsDifferingMiddleUnits) {
  EXPECT_TRUE(Extend(Record({0, 1, 6, 7}).tape, Record({0, 1, 6, 7}).strings, Units(8)));
  const Recorded odd = Record({0, 1, 6, 7}, {.layer = 6, .bytes = 512});
  EXPECT_FALSE(Extend(odd.tape, odd.strings, Units(8)));
  const Recorded first = Record({0, 1, 6, 7}, {.layer = 0, .bytes = 512});
  EXPECT_TRUE(Extend(first.tape, first.strings, Units(8))) << "the ends may differ";
}

TEST(ExtendedTape, RejectsTapesOfWrongShape) {
  const Recorded some = Record({0, 1, 6, 7});
  EXPECT_FALSE(Extend({}, {}, Units(8)));
  EXPECT_FALSE(Extend(some.tape, some.strings, {}));
  EXPECT_FALSE(Extend(some.tape, some.strings, Units(4)));
  EXPECT_FALSE(Extend(Record({0, 1, 7}).tape, Record({0, 1, 7}).strings, Units(8)));
  Recorded forward = some;
  forward.tape.events.resize(forward.tape.events.size() / 2);
  EXPECT_FALSE(Extend(forward.tape, forward.strings, Units(8)));
  Recorded wrong = some;
  for (trace::Event& e : wrong.tape.events) e.id += 1'000'000;
  EXPECT_FALSE(Extend(wrong.tape, wrong.strings, Units(8)));
}

}  // namespace
}  // namespace vramscope::trainer
