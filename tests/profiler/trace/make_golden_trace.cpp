// make_golden_trace FOLDER: writes the sample of the current format version. It is run once per
// version. git keeps the files of all versions (tests/golden/trace), and golden_test reads them.
#include <cstdio>
#include <string>

#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

int main(int argc, char** argv) {
  using namespace vramscope::trace;
  if (argc != 2) {
    std::fputs("usage: make_golden_trace FOLDER\n", stderr);
    return 2;
  }
  const std::string stem = std::string(argv[1]) + "/v6";
  // A short training run, then every kind of event and activity.
  testing::Stream s = testing::TrainingStream({.layers = 1, .steps = 1});
  const testing::Stream random = testing::RandomStream(6, 500);
  uint64_t allocations = 0, segments = 0;
  for (const Event& e : s.events) {
    allocations += e.kind == EventKind::kAlloc;
    segments += e.kind == EventKind::kSegmentAlloc;
  }
  const auto strings = static_cast<uint32_t>(s.strings.size());
  const int64_t shift = s.events.back().time_ns - random.events.front().time_ns;
  const auto behind = [&](StringId& id) {
    if (id.value != 0) id.value += strings - 1;
  };
  for (Event e : random.events) {
    e.time_ns += shift;
    if (e.kind == EventKind::kAlloc || e.kind == EventKind::kFreeRequested ||
        e.kind == EventKind::kFreeCompleted || e.kind == EventKind::kRetag)
      e.id += allocations;
    if (e.kind == EventKind::kSegmentAlloc || e.kind == EventKind::kSegmentFree ||
        e.kind == EventKind::kSegmentMap || e.kind == EventKind::kSegmentUnmap)
      e.id += segments;
    behind(e.name);
    behind(e.module);
    behind(e.user_metadata);
    behind(e.compile_context);
    s.events.push_back(e);
  }
  for (Activity a : random.activities) {
    behind(a.name);
    behind(a.op);
    behind(a.module);
    s.activities.push_back(a);
  }
  s.stacks = random.stacks;
  for (StringId& id : s.stacks.function) behind(id);
  for (StringId& id : s.stacks.file) behind(id);
  s.strings.insert(s.strings.end(), random.strings.begin() + 1, random.strings.end());
  s.info.title = "sample of format version 6";
  s.info.producer = "vramscope 0.1.0";
  s.info.backend = Backend::kPlan;
  s.info.source = "a recording";
  s.info.alloc_conf = "max_split_size_mb:64";
  s.info.start_unix_ns = 1'700'000'000'000'000'000;
  s.info.content = Content::kState;
  s.info.has_times = false;
  s.info.statistics = {{"num_ooms", 2}, {"allocated_bytes.all.current", 4096}};
  s.info.has_config = true;
  s.info.config.batch = 3;
  s.info.config.seq = 128;
  s.info.device.key = "rtx-4090";
  s.info.device.name = "NVIDIA GeForce RTX 4090";
  s.info.device.sm_count = 128;
  s.info.device.bf16_flops = 165.2e12;
  s.info.model = {"sample", 1000, 900, 4000, 1};
  auto writer = TraceWriter::ToFile(stem + ".trace");
  if (!writer.ok()) return 4;
  testing::Play(s, **writer, 200);
  if (!(*writer)->Close().ok()) return 4;
  const auto trace = ReadTraceFile(stem + ".trace", {});
  if (!trace.ok() || !(*trace)->complete) return 4;
  testing::WriteFile(stem + ".facts.txt", testing::ListFacts(**trace));
  testing::WriteFile(stem + ".events.txt", testing::ListEvents(testing::ReadFile(stem + ".trace")));
  return 0;
}
