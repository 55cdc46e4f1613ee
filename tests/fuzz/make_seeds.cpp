// Writes the seed corpus. `make_seeds tests/fuzz/corpus` was run once, and the files are in git.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/program/activity_tail.h"
#include "profiler/program/history_tail.h"
#include "profiler/trace/activity_codec.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/keyframe.h"
#include "profiler/trace/live_state.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace {

using vramscope::trace::Activity;
namespace program = vramscope::program;

template <typename Value>
void Append(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Returns a history with a segment, blocks in it, and frees. The last free is only requested.
std::string HistoryTail(uint64_t blocks, bool full) {
  constexpr uint64_t kSegment = uint64_t{1} << 33, kBlock = 4096;
  enum : uint8_t { kAlloc, kFreeRequested, kFreeCompleted, kSegmentAlloc };
  std::vector<program::HistoryTailRow> rows;
  const auto add = [&](uint8_t action, uint64_t place, uint64_t bytes) {
    rows.push_back({.address = kSegment + place * kBlock,
                    .bytes = bytes,
                    .time_ns = static_cast<int64_t>(rows.size()) * 1000,
                    .action = action});
  };
  add(kSegmentAlloc, 0, uint64_t{2} << 20);
  for (uint64_t i = 0; i < blocks; ++i) add(kAlloc, i, kBlock - i);
  for (uint64_t i = 0; i < blocks; i += 2) {
    add(kFreeRequested, i, kBlock - i);
    if (i + 2 < blocks) add(kFreeCompleted, i, kBlock - i);
  }
  std::string bytes;
  Append(bytes, program::HistoryTailHeader::kMagic);
  for (const uint64_t number :
       {uint64_t{sizeof rows[0]}, uint64_t{rows.size()}, uint64_t{full ? 1u : 0u}})
    Append(bytes, number);
  for (const program::HistoryTailRow& row : rows) Append(bytes, row);
  return bytes;
}

// Returns an input in the format that tests/fuzz/tail_entries.h describes.
std::string ActivityTail(const std::vector<Activity>& activities,
                         const std::vector<std::string>& names) {
  std::string bytes(1, static_cast<char>(activities.size()));
  Append(bytes, program::ActivityTailHeader::kMagic);
  for (const uint64_t number : {uint64_t{sizeof(Activity)}, uint64_t{0},
                                uint64_t{activities.size()}, uint64_t{1}, uint64_t{names.size()}})
    Append(bytes, number);
  for (const Activity& activity : activities) Append(bytes, activity);
  for (const std::string& name : names) {
    Append(bytes, static_cast<uint32_t>(name.size()));
    bytes += name;
  }
  return bytes;
}

}  // namespace

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
  std::filesystem::create_directories(out / "history_tail");
  std::filesystem::create_directories(out / "activity_tail");
  testing::WriteFile((out / "history_tail" / "step").string(), HistoryTail(12, false));
  testing::WriteFile((out / "history_tail" / "full").string(), HistoryTail(3, true));
  testing::WriteFile(
      (out / "activity_tail" / "step").string(),
      ActivityTail({{.kind = ActivityKind::kRuntimeCall,
                     .thread = 7,
                     .name = {1},
                     .correlation = 1,
                     .begin_ns = 5,
                     .end_ns = 6},
                    {.name = {2}, .op = {3}, .correlation = 1, .begin_ns = 8, .end_ns = 9},
                    {.kind = ActivityKind::kMemcpy,
                     .from = MemorySpace::kPinned,
                     .to = MemorySpace::kDevice,
                     .bytes = 4096,
                     .begin_ns = 9,
                     .end_ns = 12}},
                   {"cudaLaunchKernel", "kernel", "aten::mm"}));
  testing::WriteFile((out / "activity_tail" / "operands").string(),
                     ActivityTail({{.name = {1}, .correlation = 1, .begin_ns = 8, .end_ns = 9},
                                   {.kind = ActivityKind::kOperand,
                                    .from = MemorySpace::kDevice,
                                    .correlation = 1,
                                    .address = uint64_t{1} << 33,
                                    .bytes = 1,
                                    .begin_ns = 8,
                                    .end_ns = 8}},
                                  {"kernel"}));
  testing::WriteFile((out / "activity_tail" / "names").string(), ActivityTail({}, {"one", ""}));
  for (uint64_t seed = 0; seed < 7; ++seed) {
    testing::Stream s = seed < 5 ? testing::RandomStream(seed, 10 + seed * 30)
                                 : testing::TrainingStream({.layers = 1, .max_events = 150});
    // Adds one kernel for each block, which writes the block right after its allocation.
    for (const Event& e : seed < 6 ? std::vector<Event>() : s.events) {
      if (e.kind != EventKind::kAlloc) continue;
      Activity kernel{.device = e.device, .correlation = e.id + 1, .begin_ns = e.time_ns + 5};
      kernel.end_ns = kernel.begin_ns + 3;
      Activity operand = kernel;
      operand.kind = ActivityKind::kOperand;
      operand.to = MemorySpace::kDevice;
      operand.address = e.address + e.bytes / 2;
      operand.bytes = static_cast<uint64_t>(e.time_ns);
      operand.end_ns = operand.begin_ns;
      s.activities.push_back(kernel);
      s.activities.push_back(operand);
    }
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
      // Uncompresses the frames, because a fuzzer can hardly change compressed contents.
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
