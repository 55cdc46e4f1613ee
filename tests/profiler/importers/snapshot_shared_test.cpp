// Compares snapshots of others (in ../shared/snapshots) with the counts and sizes in index.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/importers/snapshot.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {
namespace {

using recording::Action;
using recording::BlockUse;

const std::filesystem::path& Folder() {
  static const auto* folder =
      new std::filesystem::path(std::string(VRAMSCOPE_SOURCE_DIR) + "/../shared/snapshots");
  return *folder;
}

std::string NameOf(Action action) {
  switch (action) {
    case Action::kAlloc:
      return "alloc";
    case Action::kFreeRequested:
      return "free_requested";
    case Action::kFreeCompleted:
      return "free_completed";
    case Action::kSegmentAlloc:
      return "segment_alloc";
    case Action::kSegmentFree:
      return "segment_free";
    case Action::kSnapshot:
      return "snapshot";
    default:
      return "other";
  }
}

TEST(SharedSnapshots, MatchCountsAndSizesOfTheIndex) {
  if (!std::filesystem::exists(Folder() / "index.json"))
    GTEST_SKIP() << "no ../shared/snapshots beside the sources";
  std::ifstream file(Folder() / "index.json");
  const nlohmann::json index = nlohmann::json::parse(file);
  int files = 0;
  for (const nlohmann::json& f : index["files"]) {
    SCOPED_TRACE(f["file"].get<std::string>());
    auto input = trace::InputStream::Open((Folder() / f["file"].get<std::string>()).string());
    ASSERT_TRUE(input.ok()) << input.status();
    const auto r = ReadSnapshot(**input, {});
    ASSERT_TRUE(r.ok()) << r.status();
    ++files;
    EXPECT_EQ(r->source, "CUDA memory snapshot (pickle, protocol 4)");
    EXPECT_THAT(r->warnings, testing::IsEmpty());
    EXPECT_TRUE(r->has_segments);
    EXPECT_FALSE(r->overflowed);
    EXPECT_TRUE(r->entries.device.empty());
    EXPECT_TRUE(r->entries.recorded_category.empty());
    EXPECT_EQ(r->segments.size(), f["segments_at_end"].get<size_t>());
    EXPECT_EQ(r->alloc_conf, f["alloc_conf"].get<std::string>());

    std::map<std::string, int> actions;
    const recording::EntryTable& e = r->entries;
    int with_stack = 0;
    for (uint32_t i = 0; i < e.size(); ++i) {
      ++actions[NameOf(e.action[i])];
      with_stack += e.stack[i].value != 0;
      if (i > 0) {
        ASSERT_GE(e.time_ns[i], e.time_ns[i - 1]);
      }
    }
    actions["total"] = static_cast<int>(e.size());
    EXPECT_EQ(actions, (f["events"].get<std::map<std::string, int>>()));
    EXPECT_EQ(with_stack, f["frames"]["events_with"].get<int>());
    EXPECT_EQ(r->start_unix_ns, f["time_us"]["first"].get<int64_t>() * 1000);
    EXPECT_EQ(e.time_ns.back(), f["time_us"]["span"].get<int64_t>() * 1000);

    uint64_t allocated = 0, requested = 0, reserved = 0, blocks = 0;
    for (const recording::SegmentState& s : r->segments) {
      reserved += s.bytes;
      uint64_t next = s.address;
      for (const recording::BlockState& b : s.blocks) {
        EXPECT_EQ(b.address, next);
        next += b.bytes;
        if (b.use != BlockUse::kAllocated) continue;
        ++blocks;
        allocated += b.bytes;
        requested += b.requested;
      }
      EXPECT_EQ(next, s.address + s.bytes);
    }
    EXPECT_EQ(allocated, f["end"]["allocated"].get<uint64_t>());
    EXPECT_EQ(requested, f["end"]["requested"].get<uint64_t>());
    EXPECT_EQ(reserved, f["end"]["reserved"].get<uint64_t>());
    EXPECT_EQ(blocks, f["end"]["blocks"].get<uint64_t>());

    // For each START or END in the index, an annotation of the trace must begin or end.
    size_t ends = 0;
    for (const nlohmann::json& a : f["external_annotations"]) {
      const int64_t time = a[2].get<int64_t>() * 1000 - r->start_unix_ns;
      const bool found = std::ranges::any_of(r->annotations, [&](const auto& ours) {
        return r->strings[ours.name.value] == a[1].get<std::string>() &&
               (a[0] == "START" ? ours.begin_ns : ours.end_ns) == time;
      });
      EXPECT_TRUE(found) << a;
      ends += a[0] == "END";
    }
    EXPECT_EQ(r->annotations.size(), ends);
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace vramscope::importers
