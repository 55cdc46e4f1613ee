// Tests `replay`, which runs the allocator model with the recorded settings and with others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(CliRecording, ReplayMatchesEveryDecision) {
  const std::string file = Write("s.json", {});
  const json replay = Json({"replay", file, "--json"});
  EXPECT_EQ(replay["addresses"], (json{{"matched", 4}, {"total", 4}}));
  EXPECT_EQ(replay["segments"], (json{{"matched", 0}, {"total", 0}}));
  EXPECT_EQ(replay["segment_frees"], (json{{"matched", 0}, {"total", 0}}));
  EXPECT_EQ(replay["first_difference"], nullptr);
  EXPECT_EQ(replay["differences"], 0);
  EXPECT_EQ(replay["end_state_equal"], true);
  EXPECT_EQ(replay["start_states"], 1);
  EXPECT_EQ(replay["warnings"], json::array());
  EXPECT_EQ(replay["recorded"]["reserved_peak"], 64 * kMiB);
  EXPECT_EQ(replay["recorded"]["alloc_conf"], "max_split_size_mb:200");
  EXPECT_FALSE(replay.contains("what_if"));
  const Outcome text = RunVramscope({"replay", file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("the replay matches every recorded decision"),
                    HasSubstr("4 of 4 allocations match"),
                    HasSubstr("all blocks match the recording"), HasSubstr("max_split_size_mb:200"),
                    HasSubstr("64.00 MiB reserved"), Not(HasSubstr("first difference"))));
  const Outcome piped = RunVramscope({"replay", "-"}, {.input = ReadFile(file)});
  EXPECT_EQ(piped.out, text.out);
}

// The recording is made up. The real allocator would not have left a hole between its blocks.
TEST_F(CliRecording, ReplayNamesTheFirstDifferenceAndItsCause) {
  const std::string file = Write("s.json", {.leak = true, .hole = true});
  const json replay = Json({"replay", file, "--json"}, 1);
  EXPECT_EQ(replay["addresses"], (json{{"matched", 7}, {"total", 8}}));
  EXPECT_EQ(replay["differences"], 1);
  EXPECT_THAT(replay["first_difference"]["what"].get<std::string>(), HasSubstr("3,145,728"));
  EXPECT_THAT(replay["first_difference"]["cause"].get<std::string>(),
              HasSubstr("2,097,152 B after the start"));
  const Outcome text = RunVramscope({"replay", file});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, AllOf(HasSubstr("1 difference between the recording and the replay"),
                              HasSubstr("first difference: event ")));
}

TEST_F(CliRecording, ReplayComparesOtherAllocatorSettings) {
  const std::string file = Write("s.json", {});
  const json replay = Json({"replay", file, "--alloc-conf", "expandable_segments:True", "--json"});
  for (const char* key :
       {"alloc_conf", "reserved_peak", "allocated_peak", "driver_calls", "segment_allocs",
        "segment_frees", "segment_maps", "segment_unmaps", "retries", "out_of_memory",
        "first_out_of_memory", "device_memory", "largest_hole", "stranded"}) {
    EXPECT_TRUE(replay["what_if"].contains(key)) << key;
    EXPECT_TRUE(replay["own_settings"].contains(key)) << key;
  }
  EXPECT_EQ(replay["what_if"]["alloc_conf"], "expandable_segments:True");
  EXPECT_EQ(replay["reserved_peak"], replay["what_if"]["reserved_peak"]);
  // Expandable segments map pages of 20 or 2 MiB instead of a whole segment of 64 MiB.
  EXPECT_LT(replay["what_if"]["reserved_peak"], 64 * kMiB);
  EXPECT_EQ(replay["what_if"]["out_of_memory"], 0);
  EXPECT_EQ(replay["addresses"]["matched"], 4) << "the recording itself is compared as well";
  const Outcome text = RunVramscope({"replay", file, "--alloc-conf", "expandable_segments:True"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("replayed with expandable_segments:True"),
                              HasSubstr("reserved at peak"), HasSubstr("calls to the driver")));
}

TEST_F(CliRecording, ReplayReportsOutOfMemoryOnSmallerDevice) {
  const std::string file = Write("s.json", {});
  const json replay = Json({"replay", file, "--device-memory", "4MiB", "--json"}, 1);
  EXPECT_GT(replay["what_if"]["out_of_memory"], 0);
  EXPECT_EQ(replay["what_if"]["device_memory"], 4 * kMiB);
  EXPECT_EQ(replay["own_settings"]["out_of_memory"], 0) << "as it was recorded, it fits";
  const Outcome text = RunVramscope({"replay", file, "--device-memory", "4MiB"});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("4.00 MiB of memory for segments"), HasSubstr("yes, first at event"),
                    HasSubstr("as if it had succeeded, and continues")));
}

TEST_F(CliRecording, ReplayRejectsInvalidSettings) {
  const std::string file = Write("s.json", {});
  for (const auto& [option, value, what] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"--alloc-conf", "no_such_key:1", "no_such_key"},
           {"--alloc-conf", "max_split_size_mb:lots", "lots"},
           {"--alloc-conf", "max_split_size_mb", "max_split_size_mb"},
           {"--device-memory", "0", "--device-memory"},
           {"--device-memory", "much", "much"},
           {"--memory-fraction", "2", "--memory-fraction"},
           {"--device", "-1", "--device"}}) {
    const Outcome outcome = RunVramscope({"replay", file, option, value});
    EXPECT_EQ(outcome.status, 2) << option << " " << value;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(option), HasSubstr(what)));
    EXPECT_EQ(outcome.out, "");
  }
}

// Kineto's traces contain blocks, but only the total size of the segments.
TEST_F(CliRecording, ReplayRejectsTraceWithoutSegments) {
  json events = json::array();
  uint64_t total = 0;
  for (int i = 0; i < 4; ++i) {
    total += kMiB;
    events.push_back({{"ph", "i"},
                      {"name", "[memory]"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", 1000 + i},
                      {"args",
                       {{"Device Type", 1},
                        {"Device Id", 0},
                        {"Addr", kBase + static_cast<uint64_t>(i) * kMiB},
                        {"Bytes", kMiB},
                        {"Total Allocated", total},
                        {"Total Reserved", 20 * kMiB}}}});
  }
  const std::string file = folder_ / "kineto.json";
  WriteFile(file, json({{"schemaVersion", 1}, {"traceEvents", events}}).dump());
  ASSERT_EQ(Json({"info", file, "--json"})["kind"], "kineto");
  // The file has rounded sizes and no segments, so a replay would request other sizes than the
  // program did.
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--alloc-conf", "max_split_size_mb:64"}}) {
    std::vector<std::string> arguments = {"replay", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("kineto.json"), HasSubstr("reserved, not where")));
  }
}

}  // namespace
}  // namespace vramscope::test
