// Reads files that are not complete memory snapshots. Checks which figures are reported, and for
// which reasons files are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRecordings = VRAMSCOPE_SOURCE_DIR "/tests/golden/recordings/";
constexpr double kGiB = 1024.0 * kMiB;

double Gib(const json& bytes) { return bytes.get<double>() / kGiB; }

json PartOf(const json& device, const std::string& name) {
  for (const json& part : device["parts"])
    if (part["name"] == name) return part;
  return {};
}

TEST_F(CliRecording, KinetoTraceHasReservedTotalsButNoSegments) {
  const std::string file = kRecordings + "kineto_switch_moe_a100.json.zst";
  const json info = Json({"info", file, "--json"});
  EXPECT_NEAR(Gib(info["peak"]["reserved"]), 21.99, 0.005);
  EXPECT_EQ(info["entries"], 1030);
  EXPECT_EQ(info["segments"], 0);
  EXPECT_EQ(info["sizes_are_of_blocks"], true);
  const json& device = info["device_memory"][0];
  EXPECT_NEAR(Gib(device["used"]), 21.99, 0.005) << "the parts add up to what was reserved";
  EXPECT_NEAR(Gib(PartOf(device, "reserved, not in use")["bytes"]), 0.47, 0.005);
  EXPECT_EQ(PartOf(device, "cached, wholly free"), json());
  EXPECT_EQ(PartOf(device, "blocks, as requested"), json());
  EXPECT_NEAR(Gib(device["total"]), 79.15, 0.01) << "of deviceProperties";
  EXPECT_THAT(info["devices"][0].get<std::string>(), HasSubstr("A100"));

  const json page = Json({"explain", file, "--page", "fragmentation", "--json"})["fragmentation"];
  EXPECT_EQ(page["holes"], 0);
  EXPECT_EQ(page["cached"], 0);
  EXPECT_EQ(page["allocated"].get<uint64_t>() + page["unplaced"].get<uint64_t>(),
            page["reserved"].get<uint64_t>());
  EXPECT_THAT(page["headline"].get<std::string>(),
              HasSubstr("how much memory is reserved but not where"));
  const std::vector<std::vector<std::string>> all_refused = {
      {"replay", file},
      {"replay", file, "--alloc-conf", "expandable_segments:True"},
      {"explain", file, "--page", "segments"},
      {"explain", file, "--page", "reclaim"},
      {"explain", file, "--alloc-conf", "expandable_segments:True"},
      {"export", file, "--to", "snapshot", "-o", folder_ / "written.pickle"}};
  for (const std::vector<std::string>& refused : all_refused) {
    const Outcome out = RunVramscope(refused);
    EXPECT_EQ(out.status, 3) << refused[0];
    EXPECT_THAT(out.err, HasSubstr("how much memory is reserved, not where")) << refused[0];
  }
  EXPECT_FALSE(std::filesystem::exists(std::string(folder_ / "written.pickle")));
  const json held = Json({"explain", file, "--no-replay", "--json"})["held_graph"];
  EXPECT_NEAR(Gib(held["bytes"]), 19.38, 0.01) << "the program did not use torch.no_grad()";
  EXPECT_THAT(held["headline"].get<std::string>(), HasSubstr("torch.no_grad()"));
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "23GiB"}).status, 0);
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "22GiB"}).status, 1);
  const Outcome peak = RunVramscope({"peak", file});
  EXPECT_THAT(peak.out,
              AllOf(HasSubstr("requested sizes are not recorded"), Not(HasSubstr("Parameter"))));
}

TEST_F(CliRecording, CpuTraceHasNoInferredSteps) {
  const std::string file = kRecordings + "kineto_cpu_resnet18.json.zst";
  const json info = Json({"info", file, "--json"});
  EXPECT_EQ(info["steps"], 0);
  EXPECT_EQ(info["devices"], json::array({"cpu"}));
  EXPECT_EQ(info["peaks"][0]["name"], "cpu");
  const Outcome text = RunVramscope({"explain", file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(Not(HasSubstr("expandable_segments")), Not(HasSubstr("empty_cache")),
                              Not(HasSubstr("Parameter"))));
}

TEST_F(CliRecording, CheckRejectsTraceThatReservesLessThanItAllocates) {
  const std::string file = folder_ / "contradictory.json";
  WriteFile(file, R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 6.0,
     "args": {"Total Reserved": 2097152, "Total Allocated": 104857600, "Bytes": 104857600,
              "Device Id": 0, "Device Type": 1, "Addr": 140216842854400}}]})");
  const Outcome unknown = RunVramscope({"check", file, "--context", "0", "--budget", "24GiB"});
  EXPECT_EQ(unknown.status, 3);
  EXPECT_THAT(unknown.err, HasSubstr("may have reserved more memory"));
  const Outcome over = RunVramscope({"check", file, "--context", "0", "--budget", "99MiB"});
  EXPECT_EQ(over.status, 1);
  EXPECT_THAT(over.out, HasSubstr("100.00 MiB allocated + 0 B CUDA context; reserved memory is not "
                                  "known"));
}

TEST_F(CliRecording, CheckRejectsTraceWithoutGpuMemory) {
  const std::string file = folder_ / "no_gpu_memory.json";
  WriteFile(file, R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct",
    "totalGlobalMem": 206141652992}], "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 1, "ts": 5.0, "dur": 1.0,
     "args": {"device": 0, "stream": 0, "correlation": 1}},
    {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 6.0,
     "args": {"Total Reserved": 0, "Total Allocated": 8, "Bytes": 8, "Device Id": -1,
              "Device Type": 0, "Addr": 140216842854592}}]})");
  const Outcome out = RunVramscope({"check", file, "--budget", "24GiB"});
  EXPECT_EQ(out.status, 3);
  EXPECT_THAT(out.err, HasSubstr("GPU memory was not recorded"));
  EXPECT_THAT(RunVramscope({"info", file}).out, HasSubstr("GPU memory was not recorded"));
}

// PyTorch before 1.11 recorded only the bytes of each event. This gives the curve of allocated
// memory, but no figures that need addresses or totals.
TEST_F(CliRecording, ReadsMemoryEventsWithoutAddresses) {
  const std::string file = folder_ / "2021.json";
  std::string events;
  int64_t ts = 5;
  for (const int64_t bytes : {1024, 512, 512, -512, 4096, -512, -1024, -2048})
    events += fmt::format(R"({}{{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": {},
     "args": {{"Device Type": 1, "Device Id": 0, "Bytes": {}}}}})",
                          events.empty() ? "" : ",", ++ts, bytes);
  WriteFile(file, R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  const Outcome out = RunVramscope({"info", file});
  EXPECT_EQ(out.status, 0);
  EXPECT_THAT(out.err, AllOf(HasSubstr("8 [memory] events"), HasSubstr("no addresses")));
  const json info = Json({"info", file, "--json"});
  // 2,048 bytes were allocated before the recording, and are freed at its end.
  EXPECT_EQ(info["peak"]["allocated"], 2048 + 1024 + 512 + 4096);
  EXPECT_EQ(info["allocations"], 5);
  EXPECT_EQ(info["older_allocations"], 1);
  EXPECT_EQ(info["reserved_known"], false);
  EXPECT_EQ(info["sizes_are_of_blocks"], true);
  EXPECT_EQ(RunVramscope({"replay", file}).status, 3) << "the addresses of the blocks are unknown";
}

TEST_F(CliRecording, TreatsOneEntryHistoryAsState) {
  const std::string file = kRecordings + "one_entry_history.pickle.zst";
  const json info = Json({"info", file, "--json"});
  EXPECT_EQ(info["content"], "state");
  EXPECT_EQ(info["entries"], 0);
  EXPECT_THAT(info["warnings"][0].get<std::string>(),
              HasSubstr("_record_memory_history(max_entries=100000)"));
  EXPECT_EQ(RunVramscope({"replay", file, "--alloc-conf", ""}).status, 3);
  EXPECT_THAT(info["device_memory"][0]["parts"][0]["about"].get<std::string>(),
              HasSubstr("one state and no history"));
}

TEST_F(CliRecording, FindsAdamStateByRepeatedSizes) {
  const json peak =
      Json({"peak", kRecordings + "state_2.7b_adam.pickle.zst", "--json"})["by_category"];
  const auto parameters = peak["Parameter"].get<uint64_t>();
  EXPECT_GT(parameters, uint64_t{12} << 30);
  // These figures are requested bytes, so a gradient counts as much as its parameter. Blocks may be
  // larger than requested.
  EXPECT_NEAR(Gib(peak["Gradient"]), Gib(parameters), 0.1);
  EXPECT_NEAR(Gib(peak["Optimizer state"]), 2 * Gib(parameters), 0.1);
  EXPECT_LT(peak.value("Unknown", uint64_t{0}), uint64_t{1} << 30);
}

TEST_F(CliRecording, CountsEqualForwardPassesAsSteps) {
  const json info = Json({"info", kRecordings + "cs336_five_forwards.pickle.zst", "--json"});
  EXPECT_EQ(info["steps"], 5);
}

TEST_F(CliRecording, SiteCountOfStateMatchesListedSites) {
  const json sites = Json({"explain", kRecordings + "state_2.7b_adam.pickle.zst", "--page", "sites",
                           "--json"})["sites"];
  EXPECT_GT(sites["count"], 0);
  EXPECT_EQ(sites["count"], sites["sites"].size());
}

TEST_F(CliRecording, ReadsRawMemoryTimeline) {
  const std::string file = folder_ / "timeline.raw.json";
  // Two parameters exist at the start. An activation is allocated, becomes a gradient, and is
  // freed.
  WriteFile(file,
            "[[-1, 1, 1024, 0], [-1, 1, 512, 0], [1000, 2, 4096, 4], [2000, 3, -4096, 4], "
            "[2000, 3, 4096, 5], [3000, 2, 512, 3], [4000, 4, -4096, 5], [5000, 4, -512, 3]]");
  const json peak = Json({"peak", file, "--json"});
  EXPECT_EQ(peak["allocated"], 1024 + 512 + 4096 + 512);
  EXPECT_EQ(peak["by_category"],
            (json{{"Parameter", 1536}, {"Gradient", 4096}, {"Temporary", 512}}));
  const json info = Json({"info", file, "--json"});
  EXPECT_EQ(info["reserved_known"], false);
  EXPECT_EQ(info["time_span_ns"], 4000);
  EXPECT_THAT(RunVramscope({"info", file}).out, HasSubstr("reserved memory is not recorded"));
  WriteFile(file, "[[1000, 2000, 3000, 4000, 5000], [[0, 1], [0, 2]]]");
  const Outcome sums = RunVramscope({"info", file});
  EXPECT_EQ(sums.status, 3);
  EXPECT_THAT(sums.err, HasSubstr("sums by category"));
}

// Exports a memory timeline (the bytes of each category over time) and reads it again.
TEST_F(CliRecording, MemoryTimelineRoundTripKeepsThePeak) {
  const std::string file = Write("s.json", {});
  const std::string exported = folder_ / "t.raw.json.gz";
  ASSERT_EQ(RunVramscope({"export", file, "--to", "memory-timeline", "-o", exported}).status, 0);
  EXPECT_EQ(Json({"peak", exported, "--json"})["allocated"],
            Json({"peak", file, "--json"})["allocated"]);
}

std::string Base64(const std::string& bytes) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string padded = bytes + std::string(3 - bytes.size() % 3, '\0'), out;  // as PyTorch does
  for (size_t i = 0; i < padded.size(); i += 3) {
    const auto at = [&](size_t k) { return uint32_t{static_cast<unsigned char>(padded[i + k])}; };
    const uint32_t bits = at(0) << 16 | at(1) << 8 | at(2);
    for (int shift = 18; shift >= 0; shift -= 6) out += digits[bits >> shift & 63];
  }
  return out;
}

TEST_F(CliRecording, ReadsSnapshotEmbeddedInMemoryVizPage) {
  const std::string trace = Write("s.json", {}), pickle = folder_ / "s.pickle",
                    page = folder_ / "page.html";
  ASSERT_EQ(RunVramscope({"export", trace, "--to", "snapshot", "-o", pickle}).status, 0);
  const std::string begin =
      "\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\n"
      "import {add_local_files} from \"https://example.org/MemoryViz.js\"\nconst local_files = "
      "[{\"name\": \"snapshot.pickle\", \"base64\": \"";
  WriteFile(page, begin + Base64(ReadFile(pickle)) +
                      "\"}]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n"
                      "</body>\n");
  EXPECT_EQ(Json({"peak", page, "--json"})["allocated"],
            Json({"peak", pickle, "--json"})["allocated"]);
  WriteFile(page, begin + "not base64");
  EXPECT_EQ(RunVramscope({"info", page}).status, 3);
}

TEST_F(CliRecording, RejectsForeignFilesNamingTheirTool) {
  using namespace std::string_literals;
  const std::string file = folder_ / "x";
  const auto error = [&](const std::string& bytes) {
    WriteFile(file, bytes);
    const Outcome out = RunVramscope({"info", file});
    EXPECT_EQ(out.status, 3);
    return out.err;
  };
  EXPECT_THAT(error("<html>\n<head><title>GPU Memory Timeline HTML</title></head><body><img "
                    "src='data:image/png;base64,iVBO'></body></html>"),
              AllOf(HasSubstr("an image but no numbers"), HasSubstr("raw.json.gz")));
  EXPECT_THAT(
      error("<!DOCTYPE html>\n<script type=\"module\">\nlet alloc_data = {\"actions\": [0]}"),
      AllOf(HasSubstr("_memory_viz"), HasSubstr("2023")));
  EXPECT_THAT(error("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x2b\x0a\x1d\x01\x02"s),
              AllOf(HasSubstr("pprof"), HasSubstr("jax")));
  EXPECT_THAT(error("SQLite format 3\0 CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"s),
              AllOf(HasSubstr("Nsight Systems"), HasSubstr("nsys stats")));
}

// Bytes that were read from a pipe to recognise the format must not be missing from the input.
TEST_F(CliRecording, DiffOfRequestsReadsPipes) {
  const std::string file = Write("s.json", {}), csv = folder_ / "requests.csv";
  WriteFile(csv, RunVramscope({"requests", file}).out);
  for (const std::string& same : {csv, file}) {
    const std::string pipe = folder_ / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { WriteFile(pipe, ReadFile(same)); });
    const Outcome out = RunVramscope({"diff", "--requests", pipe, same});
    writer.join();
    std::remove(pipe.c_str());
    EXPECT_EQ(out.status, 0) << out.err << out.out;
  }
}

TEST_F(CliRecording, HostBudgetIsUnknownWithoutDriverAllocations) {
  const std::string file = Write("s.json", {});
  const json judged =
      Json({"check", file, "--budget", "100GiB", "--host-budget", "1GiB", "--json"}, 3);
  EXPECT_EQ(judged["within_budget"], true);
  EXPECT_TRUE(judged["host"]["within_budget"].is_null());
  EXPECT_TRUE(judged["host"]["needed"].is_null());
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "60MiB", "--host-budget", "1GiB"}).status, 1)
      << "the GPU's memory decides";
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "100GiB", "--host-budget", "x"}).status, 2);
  const Outcome part = RunVramscope(
      {"check", file, "--budget", "100GiB", "--host-budget", "1GiB", "--time", "0s:1s"});
  EXPECT_EQ(part.status, 2) << "memory allocated before the part is unknown";
  EXPECT_THAT(part.err, HasSubstr("the whole FILE"));
}

TEST_F(CliRecording, CheckReportsRecordedOutOfMemory) {
  const std::string file = Write("s.json", {.oom = true});
  const json small = Json({"check", file, "--context", "0", "--budget", "60MiB", "--json"}, 1);
  EXPECT_EQ(small["verdict"], "over");
  const json large = Json({"check", file, "--context", "0", "--budget", "100GiB", "--json"}, 3);
  EXPECT_EQ(large["verdict"], "unknown");
  EXPECT_GT(large["ran_out_at"]["needed"], large["ran_out_at"]["reserved"]);
  EXPECT_EQ(large["over"], 0);
  const Outcome text = RunVramscope({"check", file, "--context", "0", "--budget", "100GiB"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("is enough for the failed allocation"),
                              HasSubstr("it is unknown how much memory the run needs afterwards"),
                              Not(HasSubstr("over the budget"))));
  EXPECT_EQ(text.status, 3) << "the result is unknown";
}

TEST_F(CliRecording, ReplayOfPlanMatchesThePlan) {
  for (const char* name :
       {"expandable_plan_replay_differs.trace", "what_if_own_settings_differ.trace"}) {
    SCOPED_TRACE(name);
    const std::string file = kRecordings + name;
    const json info = Json({"info", file, "--json"});
    const Outcome out = RunVramscope({"replay", file, "--json"});
    ASSERT_EQ(out.status, 0) << out.err << out.out;
    const json replay = json::parse(out.out);
    EXPECT_EQ(replay["differences"], 0);
    EXPECT_EQ(replay["recorded"]["reserved_peak"], info["peak"]["reserved"]);
    const json what_if = json::parse(
        RunVramscope({"replay", file, "--alloc-conf", info["alloc_conf"], "--json"}).out);
    EXPECT_EQ(what_if["what_if"]["reserved_peak"], info["peak"]["reserved"]);
    EXPECT_EQ(what_if["own_settings"]["reserved_peak"], info["peak"]["reserved"]);
  }
}

}  // namespace
}  // namespace vramscope::test
