// The command line over recordings: a CUDA memory snapshot in its JSON form, made here, and the
// recorded ones where they are at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBase = 0x7f0000000000;

struct SnapshotOptions {
  int steps = 4;
  bool leak = false;  // 3 MiB of every step stay
  bool oom = false;   // the last request does not fit
  int lines = 0;      // added to the program's line numbers
  uint64_t activation = 2 * kMiB;
};

json Frame(const std::string& name, const std::string& file, int line) {
  return {{"name", name}, {"filename", file}, {"line", line}};
}

// A parameter of 4 MiB older than the recording, in a segment of 64 MiB; every step an activation
// that comes and goes.
json Snapshot(const SnapshotOptions& o) {
  json entries = json::array();
  int64_t time_us = 1'700'000'000'000'000;
  const auto frames = [&](const std::string& op, const std::string& function, int line) {
    return json::array({Frame("c10::cuda::CUDACachingAllocator::malloc(void**)", "??", 0),
                        Frame("at::_ops::" + op + "::call(at::Tensor const&)", "??", 0),
                        Frame(function, "/home/user/project/model.py", line + o.lines),
                        Frame("train", "/home/user/project/main.py", 7 + o.lines)});
  };
  const auto add = [&](const std::string& action, uint64_t address, uint64_t bytes,
                       const json& stack) {
    entries.push_back({{"action", action},
                       {"addr", address},
                       {"size", bytes},
                       {"stream", 0},
                       {"time_us", time_us += 100},
                       {"frames", stack}});
  };
  json blocks = json::array();
  const auto block = [&](uint64_t offset, uint64_t bytes, bool live) {
    blocks.push_back({{"address", kBase + offset},
                      {"size", bytes},
                      {"requested_size", live ? bytes : 0},
                      {"state", live ? "active_allocated" : "inactive"},
                      {"frames", json::array()}});
  };
  const json forward = frames("mm", "forward", 20), keep = frames("clone", "log", 33);
  for (int k = 0; k < o.steps; ++k) {
    const uint64_t address = kBase + 4 * kMiB;
    add("alloc", address, o.activation, forward);
    if (o.leak) add("alloc", kBase + (8 + 3 * static_cast<uint64_t>(k)) * kMiB, 3 * kMiB, keep);
    add("free_requested", address, o.activation, forward);
    add("free_completed", address, o.activation, forward);
  }
  if (o.oom) {
    entries.push_back({{"action", "oom"},
                       {"device_free", kMiB},
                       {"addr", kMiB},
                       {"size", 100 * kMiB},
                       {"stream", 0},
                       {"time_us", time_us += 100},
                       {"frames", forward}});
  }
  block(0, 4 * kMiB, true);
  uint64_t at = 4 * kMiB;
  if (o.leak) {
    block(at, 4 * kMiB, false);
    at += 4 * kMiB;
    for (int k = 0; k < o.steps; ++k, at += 3 * kMiB) block(at, 3 * kMiB, true);
  }
  block(at, 64 * kMiB - at, false);
  uint64_t live = 0;
  for (const json& b : blocks) live += b["requested_size"].get<uint64_t>();
  const json segment = {{"device", 0},
                        {"address", kBase},
                        {"total_size", 64 * kMiB},
                        {"allocated_size", live},
                        {"active_size", live},
                        {"requested_size", live},
                        {"stream", 0},
                        {"segment_type", "large"},
                        {"segment_pool_id", {0, 0}},
                        {"is_expandable", false},
                        {"frames", json::array()},
                        {"blocks", blocks}};
  json annotations = json::array();
  return {{"segments", {segment}},
          {"device_traces", {entries}},
          {"allocator_settings",
           {{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:200"}, {"expandable_segments", false}}},
          {"external_annotations", annotations}};
}

class CliRecording : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const SnapshotOptions& options) {
    const std::string path = folder_ / name;
    WriteFile(path, Snapshot(options).dump());
    return path;
  }
  json Json(const std::vector<std::string>& arguments, int status = 0) {
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, status) << ::testing::PrintToString(arguments) << outcome.err;
    json parsed = json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << "stdout is not one JSON object: " << outcome.out;
    return parsed;
  }
  TemporaryFolder folder_;
};

TEST_F(CliRecording, InfoSaysWhatItIs) {
  const std::string file = Write("s.json", {});
  const json info = Json({"info", file, "--json"});
  EXPECT_EQ(info["kind"], "snapshot");
  EXPECT_EQ(info["backend"], "imported");
  EXPECT_EQ(info["entries"], 12);
  EXPECT_EQ(info["older_allocations"], 1);
  EXPECT_EQ(info["devices"], json::array({"cuda:0"}));
  EXPECT_EQ(info["streams"], 1);
  EXPECT_EQ(info["segments"], 1);
  EXPECT_EQ(info["peak"], (json{{"allocated", 6 * kMiB}, {"reserved", 64 * kMiB}}));
  EXPECT_THAT(info["alloc_conf"].get<std::string>(), HasSubstr("max_split_size_mb:200"));
  EXPECT_THAT(info["source"].get<std::string>(), HasSubstr("snapshot"));
  const Outcome text = RunVramscope({"info", file});
  EXPECT_THAT(text.out, AllOf(HasSubstr("12 entries"), HasSubstr("1 blocks are older"),
                              HasSubstr("max_split_size_mb:200")));
}

TEST_F(CliRecording, EveryCommandTakesIt) {
  const std::string file = Write("s.json", {});
  const json peak = Json({"peak", file, "--by", "stack", "--json"});
  EXPECT_EQ(peak["allocated"], 6 * kMiB);
  EXPECT_EQ(peak["groups"].size(), 2u);
  EXPECT_EQ(RunVramscope({"phases", file}).status, 0);
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "64MiB"}).status, 0);
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "60MiB"}).status, 1);
  const Outcome requests = RunVramscope({"requests", file});
  EXPECT_EQ(requests.status, 0);
  const std::string csv = folder_ / "requests.csv";
  WriteFile(csv, requests.out);
  EXPECT_EQ(RunVramscope({"diff", file, file}).status, 0);
  const Outcome piped = RunVramscope({"info", "-", "--json"}, {.input = ReadFile(file)});
  EXPECT_EQ(piped.status, 0) << piped.err;
}

TEST_F(CliRecording, APartCanBeChosen) {
  const std::string file = Write("s.json", {});
  EXPECT_EQ(Json({"info", file, "--entries", "3:", "--json"})["entries"], 9);
  EXPECT_EQ(Json({"info", file, "--time", ":250us", "--json"})["entries"], 3);
  EXPECT_EQ(Json({"info", file, "--device", "0", "--json"})["entries"], 12);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--entries", "x"},
                                             {"--entries", "5:2"},
                                             {"--entries", "-3:"},
                                             {"--time", "1s"},
                                             {"--time", "noon:"},
                                             {"--device", "-1"}}) {
    EXPECT_EQ(RunVramscope({"info", file, wrong[0], wrong[1]}).status, 2) << wrong[1];
  }
}

TEST_F(CliRecording, RequestsOfTwoRecordingsAreCompared) {
  const std::string a = Write("a.json", {}), b = Write("b.json", {.activation = 3 * kMiB});
  const json same = Json({"diff", "--requests", a, a, "--json"});
  EXPECT_EQ(same["requests"]["equal"], same["requests"]["total"]);
  EXPECT_GT(same["requests"]["total"], 0);
  const json other = Json({"diff", "--requests", a, b, "--json"}, 1);
  EXPECT_LT(other["requests"]["equal"], other["requests"]["total"]);
}

TEST_F(CliRecording, CallSitesOfTwoRecordingsAreMatchedByStack) {
  const std::string a = Write("a.json", {});
  const std::string b = Write("b.json", {.lines = 100, .activation = 3 * kMiB});
  const json diff = Json({"diff", a, b, "--by", "stack", "--json"}, 1);
  EXPECT_FALSE(diff["equal"]);
  EXPECT_EQ(diff["peak"]["allocated"]["delta"], kMiB);
  EXPECT_EQ(diff["sites"][0]["change"], "grown");
  EXPECT_EQ(diff["sites"][0]["delta"], kMiB);
  const Outcome text = RunVramscope({"diff", a, b, "--by", "stack"});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("+1.00 MiB"));
  EXPECT_EQ(RunVramscope({"diff", a, a, "--by", "stack"}).status, 0);
  EXPECT_EQ(RunVramscope({"diff", a, a, "--by", "stack", "--step", "99"}).status, 3);
}

TEST_F(CliRecording, ExplainHasAPageForEachQuestion) {
  const std::string file = Write("s.json", {.oom = true});
  const json oom = Json({"explain", file, "--page", "oom", "--no-replay", "--json"})["oom"];
  ASSERT_EQ(oom["count"], 1);
  EXPECT_EQ(oom["events"][0]["asked"], 100 * kMiB);
  EXPECT_EQ(oom["events"][0]["device_free"], kMiB);
  EXPECT_EQ(oom["events"][0]["reserved"], 64 * kMiB);
  EXPECT_EQ(oom["events"][0]["missing"], 99 * kMiB);

  const json at_oom = Json({"explain", file, "--page", "fragmentation", "--json"});
  EXPECT_EQ(at_oom["fragmentation"]["allocated"], 4 * kMiB);
  EXPECT_EQ(at_oom["fragmentation"]["holes"], 60 * kMiB);
  EXPECT_EQ(at_oom["fragmentation"]["pinned"][0]["pin_count"], 1);
  // Within the first step.
  const json early = Json({"explain", file, "--page", "segments", "--at", "0", "--json"});
  EXPECT_EQ(early["segments"].size(), 1u);
  EXPECT_EQ(early["fragmentation"]["reserved"], 64 * kMiB);

  const json sites =
      Json({"explain", file, "--page", "sites", "--sort", "count", "--json"})["sites"];
  ASSERT_GE(sites["sites"].size(), 1u);
  EXPECT_EQ(sites["sites"][0]["count"], 4);
  EXPECT_THAT(sites["sites"][0]["site"]["name"].get<std::string>(),
              HasSubstr("model.py:20 forward"));

  const Outcome text = RunVramscope({"explain", file, "--no-replay"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("Out of memory"), HasSubstr("Fragmentation"), HasSubstr("Leaks"),
                    HasSubstr("Call sites"), HasSubstr("100.00 MiB"), HasSubstr("model.py:20")));
  const json all = Json({"explain", file, "--no-replay", "--json"});
  for (const char* page : {"oom", "fragmentation", "leaks", "sites"}) {
    EXPECT_TRUE(all.contains(page)) << page;
    EXPECT_TRUE(page == std::string("sites") || all[page]["headline"].is_string());
  }
}

TEST_F(CliRecording, ExplainRefusesWhatItCannotDo) {
  const std::string file = Write("s.json", {});
  EXPECT_EQ(RunVramscope({"explain", file, "--page", "weather"}).status, 2);
  EXPECT_EQ(RunVramscope({"explain", file, "--at", "noon"}).status, 2);
  EXPECT_EQ(RunVramscope({"explain", file, "--at", "1s", "--event", "3"}).status, 2);
  EXPECT_EQ(RunVramscope({"explain", file, "--alloc-conf", "no_such_key:1"}).status, 2);
  const Outcome far = RunVramscope({"explain", file, "--event", "99999"});
  EXPECT_EQ(far.status, 3);
  EXPECT_THAT(far.err, AllOf(HasSubstr("s.json"), HasSubstr("99999")));
}

TEST_F(CliRecording, DamagedRecordingsAreThreeAndSayWhere) {
  const std::string whole = ReadFile(Write("s.json", {}));
  const std::string cut = folder_ / "cut.json";
  WriteFile(cut, whole.substr(0, whole.size() / 2));
  Outcome outcome = RunVramscope({"info", cut});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("cut.json"), HasSubstr("byte")));
  // A pickle that would call os.system.
  const std::string evil = folder_ / "evil.pickle";
  WriteFile(evil, "\x80\x02}U\x08segmentscos\nsystem\nU\x04true\x85Rs.");
  outcome = RunVramscope({"explain", evil});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("evil.pickle"), HasSubstr("byte")));
}

// Figures of ../shared/snapshots/index.json.
TEST_F(CliRecording, TheRecordedSnapshotsHaveTheirPeaks) {
  const std::string folder = VRAMSCOPE_SOURCE_DIR "/../shared/snapshots/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs ../shared/snapshots";
  struct Row {
    std::string file;
    uint64_t entries, allocated, reserved;
  };
  for (const Row& row : {Row{"medium_128_training", 19'136, 7'026'606'592, 7'235'174'400},
                         Row{"medium_128_inference", 3'840, 1'738'928'128, 1'763'704'832},
                         Row{"kk_ctx128_fullstep", 19'770, 55'079'000'576, 61'111'009'280}}) {
    const std::string path = folder + row.file + ".pickle.zst";
    const json info = Json({"info", path, "--json"});
    EXPECT_EQ(info["kind"], "snapshot");
    EXPECT_EQ(info["entries"], row.entries) << row.file;
    EXPECT_EQ(info["peak"]["allocated"], row.allocated) << row.file;
    EXPECT_EQ(info["peak"]["reserved"], row.reserved) << row.file;
    const json explained = Json({"explain", path, "--no-replay", "--json"});
    EXPECT_EQ(explained["fragmentation"]["allocated"], row.allocated) << row.file;
    EXPECT_EQ(explained["oom"]["count"], 0);
    EXPECT_TRUE(explained["leaks"]["leaks"].empty()) << explained["leaks"];
  }
}

}  // namespace
}  // namespace vramscope::test
