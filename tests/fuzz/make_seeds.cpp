// Writes the seed corpus: make_seeds tests/fuzz/corpus. Run once; the files are kept in git.
#include <cstdio>
#include <filesystem>
#include <string>

#include "profiler/trace/activity_codec.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/keyframe.h"
#include "profiler/trace/live_state.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

int main(int argc, char** argv) {
  using namespace vramscope::trace;
  if (argc != 2) {
    std::fputs("usage: make_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path out = argv[1];
  std::filesystem::create_directories(out / "trace");
  std::filesystem::create_directories(out / "batch");
  std::filesystem::create_directories(out / "activities");
  for (uint64_t seed = 0; seed < 6; ++seed) {
    testing::Stream s = seed < 5 ? testing::RandomStream(seed, 10 + seed * 30)
                                 : testing::TrainingStream({.layers = 1, .max_events = 150});
    std::string bytes;
    auto writer = TraceWriter::ToSink([&](std::string_view b) {
      bytes += b;
      return absl::OkStatus();
    });
    testing::Play(s, *writer, 40);
    if (!writer->Close().ok()) return 4;
    const std::string name = "seed" + std::to_string(seed);
    testing::WriteFile((out / "trace" / name).string(), bytes);
    testing::WriteFile((out / "batch" / name).string(), EncodeBatch(s.events, {}));
    LiveState live;
    live.Strings(0, s.strings);
    for (const Event& e : s.events)
      if (!live.Advance(Normalized(e)).ok()) return 5;
    testing::WriteFile((out / "batch" / ("keyframe" + std::to_string(seed))).string(),
                       EncodeKeyframe(live, s.events.size(), 1));
    if (!s.activities.empty()) {
      SortByBegin(s.activities);
      testing::WriteFile((out / "activities" / name).string(), EncodeActivities(s.activities));
    }
    if (seed == 1) {
      // Not compressed: a fuzzer gets further inside.
      FrameDecoder d;
      d.Append(bytes);
      std::string plain;
      for (auto f = d.Next(); f.ok() && f->has_value(); f = d.Next())
        plain += EncodeFrame((*f)->type, (*f)->payload, Compression::kNone);
      testing::WriteFile((out / "trace" / "plain").string(), plain);
    }
  }
  return 0;
}
