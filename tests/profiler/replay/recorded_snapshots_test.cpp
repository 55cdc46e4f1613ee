// Replays CUDA snapshots that others recorded (../shared/snapshots, not part of the project). The
// replay must reproduce all addresses and segments, and its figures must equal those in index.json.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profiler/importers/open.h"
#include "profiler/replay/replay.h"

namespace vramscope::replay {
namespace {

TEST(RecordedSnapshots, ReplayReproducesAddressesAndSegments) {
  const std::filesystem::path folder =
      std::filesystem::path(VRAMSCOPE_SOURCE_DIR) / "../shared/snapshots";
  if (!std::filesystem::exists(folder / "index.json")) GTEST_SKIP() << "needs ../shared/snapshots";
  const nlohmann::json index = nlohmann::json::parse(std::ifstream(folder / "index.json"));
  for (const nlohmann::json& file : index["files"]) {
    SCOPED_TRACE(file["file"].get<std::string>());
    const auto trace =
        importers::OpenTraceFile((folder / file["file"].get<std::string>()).string(), {});
    ASSERT_TRUE(trace.ok()) << trace.status();
    const absl::StatusOr<Replayed> r = Replay(**trace, {});
    ASSERT_TRUE(r.ok()) << r.status();
    const nlohmann::json& oracle = file["replay_with_inferred_tails"];
    EXPECT_EQ(r->addresses_total, oracle["addresses_total"].get<uint64_t>());
    EXPECT_EQ(r->addresses_equal, r->addresses_total);
    EXPECT_EQ(r->segment_allocs_total, oracle["segment_allocs_total"].get<uint64_t>());
    EXPECT_EQ(r->segment_allocs_equal, r->segment_allocs_total);
    EXPECT_EQ(r->segment_frees_equal, r->segment_frees_total);
    EXPECT_EQ(r->segment_frees_total, file["events"].value("segment_free", uint64_t{0}));
    EXPECT_TRUE(r->end_state_equal);
    EXPECT_EQ(r->differences, 0);
    EXPECT_EQ(r->peak_allocated, file["peak"]["allocated"].get<uint64_t>());
    EXPECT_EQ(r->peak_reserved, file["peak"]["reserved"].get<uint64_t>());
    EXPECT_EQ(r->curve.front().allocated, file["start"]["allocated"].get<uint64_t>());
    EXPECT_NE(r->start_states_consistent, 0);
  }
}

}  // namespace
}  // namespace vramscope::replay
