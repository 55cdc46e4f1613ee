// Tests `info`, `peak`, `diff` and `explain` with a generated recording, and with real recordings
// if they exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(CliRecording, InfoReportsSnapshotFigures) {
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
  EXPECT_THAT(text.out, AllOf(HasSubstr("12 entries"), HasSubstr("1 block is older"),
                              HasSubstr("max_split_size_mb:200")));
}

TEST_F(CliRecording, PeakGroupsByAnExpression) {
  const std::string file = Write("s.json", {});
  const json peak = Json({"peak", file, "--by", "stack, category", "--json"});
  EXPECT_EQ(peak["by"], "stack, category");
  uint64_t bytes = 0;
  for (const json& group : peak["groups"]) {
    ASSERT_EQ(group["parts"].size(), 2u);
    EXPECT_EQ(group["name"],
              group["parts"][0].get<std::string>() + ", " + group["parts"][1].get<std::string>());
    bytes += group["bytes"].get<uint64_t>();
  }
  EXPECT_EQ(bytes, peak["allocated"]);
  for (const char* field :
       {"category", "module", "op", "stack", "phase", "file", "size", "age", "annotation"})
    EXPECT_EQ(RunVramscope({"peak", file, "--by", field}).status, 0) << field;
  const Outcome bad = RunVramscope({"peak", file, "--by", "module:x"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("--by: \"x\" after \"module:\" is neither * nor a number"));
}

TEST_F(CliRecording, EveryCommandReadsSnapshots) {
  const std::string file = Write("s.json", {});
  const json peak = Json({"peak", file, "--by", "stack", "--json"});
  EXPECT_EQ(peak["allocated"], 6 * kMiB);
  EXPECT_EQ(peak["groups"].size(), 2u);
  EXPECT_EQ(RunVramscope({"phases", file}).status, 0);
  EXPECT_EQ(RunVramscope({"check", file, "--context", "0", "--budget", "64MiB"}).status, 0);
  EXPECT_EQ(RunVramscope({"check", file, "--context", "0", "--budget", "60MiB"}).status, 1);
  const Outcome requests = RunVramscope({"requests", file});
  EXPECT_EQ(requests.status, 0);
  const std::string csv = folder_ / "requests.csv";
  WriteFile(csv, requests.out);
  EXPECT_EQ(RunVramscope({"diff", file, file}).status, 0);
  const Outcome piped = RunVramscope({"info", "-", "--json"}, {.input = ReadFile(file)});
  EXPECT_EQ(piped.status, 0) << piped.err;
}

TEST_F(CliRecording, ReportsUseOfDeviceMemory) {
  const std::string file = Write("s.json", {});
  const json info = Json({"info", file, "--json"});
  ASSERT_EQ(info["device_memory"].size(), 1u);
  const json& device = info["device_memory"][0];
  EXPECT_EQ(device["used"], 64 * kMiB);  // reserved memory; NVML was not queried
  EXPECT_TRUE(device["asked_ns"].is_null());
  EXPECT_TRUE(device["remainder"].is_null());
  EXPECT_EQ(device["parts"][0]["name"], "blocks, as requested");
  EXPECT_EQ(device["parts"][0]["bytes"], 6 * kMiB);
  EXPECT_EQ(device["parts"][0]["source"], "measured");
  uint64_t sum = 0;
  for (const json& part : device["parts"]) sum += part["bytes"].get<uint64_t>();
  EXPECT_EQ(sum, 64 * kMiB);
  EXPECT_EQ(Json({"peak", file, "--json"})["device_memory"], device);
  EXPECT_THAT(RunVramscope({"peak", file}).out, HasSubstr("blocks, as requested"));
}

TEST_F(CliRecording, DiffComparesPredictionWithRecording) {
  const std::string a = Write("a.json", {.marks = true});
  const std::string b = Write("b.json", {.marks = true, .activation = 3 * kMiB});
  EXPECT_EQ(Json({"diff", "--prediction", a, a, "--json"})["equal"], true);
  const json diff = Json({"diff", "--prediction", a, b, "--json"}, 1);
  EXPECT_EQ(diff["peak"]["allocated"]["planned"], 6 * kMiB);
  EXPECT_EQ(diff["peak"]["allocated"]["measured"], 7 * kMiB);
  EXPECT_EQ(diff["peak"]["allocated"]["error"], -static_cast<int64_t>(kMiB));
  EXPECT_NEAR(diff["peak"]["allocated"]["relative"].get<double>(), -1.0 / 7, 1e-9);
  EXPECT_EQ(diff["peak"]["reserved"]["error"], 0);
  EXPECT_FALSE(diff["first_difference"]["planned"]["stack"].empty());
  EXPECT_EQ(diff["kernels"]["names"], 0);
  const Outcome text = RunVramscope({"diff", "--prediction", a, b});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, AllOf(HasSubstr("-14.29 %"), HasSubstr("The first difference"),
                              HasSubstr("none in either file")));
  EXPECT_EQ(RunVramscope({"diff", "--prediction", "--requests", a, b}).status, 2);
  EXPECT_EQ(RunVramscope({"diff", "--prediction", a, b, "--step", "99"}).status, 3);
}

json WithSecondDevice(const SnapshotOptions& first, const SnapshotOptions& of_second) {
  json both = Snapshot(first), second = Snapshot(of_second);
  second["segments"][0]["device"] = 1;
  both["segments"].push_back(second["segments"][0]);
  both["device_traces"].push_back(second["device_traces"][0]);
  return both;
}

TEST_F(CliRecording, CheckJudgesTheDeviceThatNeedsMost) {
  // GPU 0 reserves more memory, and GPU 1 allocates more.
  json both = WithSecondDevice({}, {.activation = 16 * kMiB});
  json cached = both["segments"][0];
  cached["address"] = kBase + 128 * kMiB;
  cached["total_size"] = 32 * kMiB;
  cached["blocks"] = json::array({{{"address", kBase + 128 * kMiB},
                                   {"size", 32 * kMiB},
                                   {"requested_size", 0},
                                   {"state", "inactive"},
                                   {"frames", json::array()}}});
  both["segments"].push_back(cached);
  const std::string file = folder_ / "cached.json";
  WriteFile(file, both.dump());
  const std::vector<std::string> check = {"check", file, "--context", "0", "--json", "--budget"};
  const auto judged = [&](const std::string& budget, int status) {
    std::vector<std::string> arguments = check;
    arguments.push_back(budget);
    return Json(arguments, status);
  };
  EXPECT_EQ(judged("70MiB", 1)["needed"], 96 * kMiB);
  EXPECT_EQ(judged("96MiB", 0)["needed"], 96 * kMiB);
  judged(std::to_string(96 * kMiB - 1), 1);
  EXPECT_THAT(RunVramscope({"check", file, "--context", "0", "--budget", "70MiB"}).err,
              HasSubstr("the verdict is that of cuda:0"));
  EXPECT_EQ(Json({"check", file, "--context", "0", "--budget", "70MiB", "--device", "1", "--json"},
                 0)["needed"],
            64 * kMiB);
  EXPECT_EQ(Json({"peak", file, "--json"})["device"], 0);
}

TEST_F(CliRecording, StepsOfADeviceAreThoseOfAllDevices) {
  // Only GPU 0 has marks.
  const std::string file = folder_ / "marks.json";
  WriteFile(file, WithSecondDevice({.marks = true}, {.activation = 16 * kMiB}).dump());
  const json shown = Json({"phases", file, "--json"});
  EXPECT_THAT(RunVramscope({"phases", file}).err, HasSubstr("only cuda:1 is shown"));
  EXPECT_EQ(shown["steps"].size(), 4u);
  EXPECT_EQ(Json({"phases", file, "--device", "1", "--json"})["steps"], shown["steps"]);
}

TEST_F(CliRecording, AFileThatForgetsItsSegmentsHasThoseOfItsHistory) {
  json snapshot = Snapshot({});
  json& entries = snapshot["device_traces"][0];
  json first = entries[0];
  first["action"] = "segment_alloc";
  first["addr"] = kBase;
  first["size"] = 64 * kMiB;
  first["time_us"] = first["time_us"].get<int64_t>() - 1;
  entries.insert(entries.begin(), first);
  snapshot["segments"] = json::array();
  const std::string file = folder_ / "forgotten.json";
  WriteFile(file, snapshot.dump());
  EXPECT_EQ(Json({"info", file, "--json"})["peak"]["reserved"], 64 * kMiB);
  EXPECT_THAT(RunVramscope({"info", file}).err, HasSubstr("the file lists no segments"));
  EXPECT_EQ(RunVramscope({"check", file, "--context", "0", "--budget", "63MiB"}).status, 1);
}

TEST_F(CliRecording, FiguresAreReportedPerDevice) {
  const auto write = [&](const std::string& name, const SnapshotOptions& first) {
    const std::string path = folder_ / name;
    WriteFile(path, WithSecondDevice(first, {.activation = 16 * kMiB}).dump());
    return path;
  };
  const std::string file = write("two.json", {});
  const json info = Json({"info", file, "--json"});
  EXPECT_EQ(info["devices"], json::array({"cuda:0", "cuda:1"}));
  EXPECT_EQ(info["peak"], (json{{"allocated", 20 * kMiB}, {"reserved", 64 * kMiB}}));
  EXPECT_EQ(info["peaks"], (json::array({{{"device", 0},
                                          {"name", "cuda:0"},
                                          {"allocated", 6 * kMiB},
                                          {"reserved", 64 * kMiB},
                                          {"reserved_then", 64 * kMiB},
                                          {"max_memory_allocated", 6 * kMiB},
                                          {"allocations", 5}},
                                         {{"device", 1},
                                          {"name", "cuda:1"},
                                          {"allocated", 20 * kMiB},
                                          {"reserved", 64 * kMiB},
                                          {"reserved_then", 64 * kMiB},
                                          {"max_memory_allocated", 20 * kMiB},
                                          {"allocations", 5}}})));
  EXPECT_EQ(info["allocations"], 10);  // of both devices
  EXPECT_THAT(RunVramscope({"info", file}).out,
              AllOf(HasSubstr("peak cuda:0"), HasSubstr("peak cuda:1")));
  // By default, the device that needs the most memory is shown, or one that ran out of memory. Here
  // both need the same, and the device with the higher peak of allocated memory is shown.
  EXPECT_EQ(Json({"peak", file, "--json"})["allocated"], 20 * kMiB);
  EXPECT_EQ(Json({"peak", file, "--json"})["device"], 1);
  EXPECT_EQ(Json({"peak", file, "--device", "0", "--json"})["allocated"], 6 * kMiB);
  EXPECT_THAT(RunVramscope({"peak", file}).err, HasSubstr("2 devices; only cuda:1"));
  // Every GPU is replayed.
  EXPECT_THAT(RunVramscope({"replay", file}).out,
              AllOf(HasSubstr("cuda:0: "), HasSubstr("cuda:1: ")));
  const json replay = Json({"replay", file, "--json"});
  EXPECT_EQ(replay["device"], 1);
  ASSERT_EQ(replay["devices"].size(), 2u);
  EXPECT_EQ(replay["devices"][1]["addresses"], replay["addresses"]);
  EXPECT_EQ(replay["devices"][0]["recorded"]["allocated_peak"], 6 * kMiB);
  EXPECT_EQ(replay["devices"][1]["recorded"]["allocated_peak"], 20 * kMiB);
  EXPECT_EQ(Json({"replay", file, "--device", "0", "--json"})["device"], 0);
  EXPECT_EQ(RunVramscope({"replay", file, "--device", "0"}).err, "");
  EXPECT_EQ(RunVramscope({"check", file, "--context", "0", "--budget", "64MiB"}).status, 0);
  EXPECT_EQ(Json({"explain", file, "--no-replay", "--json"})["fragmentation"]["reserved"],
            64 * kMiB);
  EXPECT_EQ(Json({"peak", write("oom.json", {.oom = true}), "--json"})["device"], 0);
  // `diff` compares devices with the same number. If each file has only one device, it compares
  // these two.
  const std::string more = write("more.json", {.activation = 8 * kMiB});
  const json diff = Json({"diff", file, more, "--by", "stack", "--json"}, 1);
  EXPECT_EQ(diff["device"], 1);
  ASSERT_EQ(diff["devices"].size(), 2u);
  EXPECT_EQ(diff["devices"][0]["equal"], false);
  EXPECT_EQ(diff["devices"][1]["equal"], true);
  EXPECT_EQ(Json({"diff", file, more, "--device", "1", "--by", "stack", "--json"})["equal"], true);
  const json alone = Json({"diff", file, file, "--device", "1", "--by", "stack", "--json"});
  EXPECT_EQ(alone["device"], 1);
  EXPECT_FALSE(alone.contains("devices"));
}

TEST_F(CliRecording, InfoCountsKernelsCopiesAndStreams) {
  const std::string path = folder_ / "k.json";
  WriteFile(path, R"json({"schemaVersion": 1, "traceEvents": [
  {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 10, "args":
   {"Bytes": 512, "Addr": 4096, "Device Type": 1, "Device Id": 0}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 11,
   "dur": 1, "args": {"correlation": 5}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12, "dur": 5,
   "args": {"device": 0, "stream": 7, "correlation": 5}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 9, "ts": 12,
   "dur": 5, "args": {"device": 0, "stream": 9}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7,
   "ts": 18, "dur": 1, "args": {"device": 0, "stream": 7, "bytes": 100}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 0, "tid": 7,
   "ts": 20, "dur": 1, "args": {"device": 0, "stream": 7, "bytes": 30}}]})json");
  const json info = Json({"info", path, "--json"});
  EXPECT_EQ(info["kernels"], 1);
  EXPECT_EQ(info["copies"], 2);
  EXPECT_EQ(info["collectives"], 1);
  EXPECT_EQ(info["streams"], 3);  // the allocator's stream, 7 and 9
  EXPECT_EQ(info["ranks"], 1);
  EXPECT_EQ(
      info["copied"],
      (json{
          {"host_to_device", 100}, {"device_to_host", 0}, {"device_to_device", 0}, {"peer", 30}}));
  EXPECT_THAT(RunVramscope({"info", path}).out, HasSubstr("kernels 1, copies 2, collectives 1"));
  // --outline needs an index, which only a .trace has.
  const Outcome outline = RunVramscope({"info", path, "--outline"});
  EXPECT_EQ(outline.status, 3);
  EXPECT_THAT(outline.err, HasSubstr("not a .trace"));
}

TEST_F(CliRecording, SelectsPartByEntriesTimeAndDevice) {
  const std::string file = Write("s.json", {});
  EXPECT_EQ(Json({"info", file, "--entries", "3:", "--json"})["entries"], 9);
  EXPECT_EQ(Json({"info", file, "--time", ":250us", "--json"})["entries"], 3);
  EXPECT_EQ(Json({"info", file, "--device", "0", "--json"})["entries"], 12);
  // The part begins within the first step, so blocks that the step had allocated by then count as
  // older. It ends before the second activation is freed, so this activation has no free.
  const json middle = Json({"info", file, "--entries", "1:3", "--json"});
  EXPECT_EQ(middle["entries"], 3);
  EXPECT_EQ(middle["older_allocations"], 2);
  EXPECT_EQ(middle["peak"]["allocated"], 6 * kMiB);
  EXPECT_THAT(middle["warnings"].dump(), HasSubstr("entries 1 to 3 of 12 are loaded"));
  EXPECT_EQ(Json({"info", file, "--time", "100us:500us", "--json"})["entries"], 5);
  EXPECT_EQ(Json({"info", file, "--entries", "10:99", "--json"})["entries"], 2);
  // The error for an empty part states which times and entries the file has.
  for (const std::vector<std::string>& empty :
       std::vector<std::vector<std::string>>{{"--time", "1s:"}, {"--entries", "12:"}}) {
    const Outcome outcome = RunVramscope({"info", file, empty[0], empty[1]});
    EXPECT_EQ(outcome.status, 3) << empty[0];
    EXPECT_THAT(outcome.err, HasSubstr("entries 0 to 11")) << empty[0];
  }
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--entries", "x"},
                                             {"--entries", "5:2"},
                                             {"--entries", "-3:"},
                                             {"--time", "1s"},
                                             {"--time", "noon:"},
                                             {"--device", "-1"}}) {
    const Outcome outcome = RunVramscope({"info", file, wrong[0], wrong[1]});
    EXPECT_EQ(outcome.status, 2) << wrong[1];
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(wrong[0]), HasSubstr("info --help")));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(CliRecording, DiffComparesRequestsOfRecordings) {
  const std::string a = Write("a.json", {}), b = Write("b.json", {.activation = 3 * kMiB});
  const json same = Json({"diff", "--requests", a, a, "--json"});
  EXPECT_EQ(same["requests"]["equal"], same["requests"]["total"]);
  EXPECT_GT(same["requests"]["total"], 0);
  const json other = Json({"diff", "--requests", a, b, "--json"}, 1);
  EXPECT_LT(other["requests"]["equal"], other["requests"]["total"]);
}

TEST_F(CliRecording, DiffMatchesCallSitesByStack) {
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

TEST_F(CliRecording, ExplainReportsOomFragmentationLeaksAndSites) {
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
  // Time 0 is within the first step.
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
  EXPECT_TRUE(text.out.starts_with("Out of memory"))
      << "this page is first if an allocation failed";
  const json all = Json({"explain", file, "--no-replay", "--json"});
  for (const char* page : {"oom", "fragmentation", "leaks", "sites"}) {
    EXPECT_TRUE(all.contains(page)) << page;
    EXPECT_TRUE(page == std::string("sites") || all[page]["headline"].is_string());
  }
}

TEST_F(CliRecording, ExplainNamesCallSiteOfLeak) {
  const std::string file = Write("s.json", {.steps = 6, .leak = true, .marks = true});
  const json leaks = Json({"explain", file, "--page", "leaks", "--json"})["leaks"];
  EXPECT_EQ(leaks["known"], true);
  EXPECT_EQ(leaks["bytes_per_step"], 3 * kMiB);
  ASSERT_EQ(leaks["leaks"].size(), 1u);
  EXPECT_EQ(leaks["leaks"][0]["bytes"], 6 * 3 * kMiB);
  EXPECT_EQ(leaks["leaks"][0]["site"]["name"], "model.py:33 log > aten::clone");
  EXPECT_EQ(leaks["leaks"][0]["site"]["stack"].size(), 3u);
  EXPECT_THAT(RunVramscope({"explain", file, "--page", "leaks"}).out,
              AllOf(HasSubstr("3.00 MiB"), HasSubstr("model.py:33 log")));
}

TEST_F(CliRecording, ExplainComputesReclaimableMemoryByReplay) {
  const std::string file = Write("s.json", {});
  const json page =
      Json({"explain", file, "--page", "reclaim", "--alloc-conf", "expandable_segments:True",
            "--alloc-conf", "max_split_size_mb:32", "--json"})["reclaim"];
  EXPECT_EQ(page["reserved"], 64 * kMiB);
  EXPECT_EQ(page["allocated"].get<uint64_t>() + page["holes"].get<uint64_t>() +
                page["cached"].get<uint64_t>(),
            64 * kMiB);
  for (const char* key : {"name", "reserved", "given_back", "peak_reserved", "peak_given_back",
                          "driver_calls", "segment_frees", "retries", "out_of_memory"})
    EXPECT_TRUE(page["as_recorded"].contains(key)) << key;
  std::vector<std::string> names;
  for (const json& remedy : page["remedies"]) names.push_back(remedy["name"]);
  EXPECT_THAT(names, ::testing::IsSupersetOf({HasSubstr("expandable_segments:True"),
                                              HasSubstr("max_split_size_mb:32")}));
  const Outcome text = RunVramscope({"explain", file, "--page", "reclaim"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("Reserved but unused"), HasSubstr("empty_cache()"),
                              HasSubstr("as recorded")));
}

TEST_F(CliRecording, SelectsPageAndLimitsRows) {
  const std::string file = Write("s.json", {.leak = true});
  for (const auto& [page, title] :
       std::vector<std::pair<std::string, std::string>>{{"fragmentation", "Fragmentation"},
                                                        {"segments", "Segments"},
                                                        {"reclaim", "Reserved but unused"},
                                                        {"leaks", "Leaks over steps"},
                                                        {"sites", "Call sites"},
                                                        {"oom", "Out of memory"}}) {
    const Outcome text = RunVramscope({"explain", file, "--page", page});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_TRUE(text.out.starts_with(title + "\n")) << text.out;
    const json all = Json({"explain", file, "--page", page, "--json"});
    EXPECT_TRUE(all.contains(page));
    EXPECT_EQ(all.size(), page == "segments" ? 2u : 1u) << all;
  }
  EXPECT_EQ(
      Json({"explain", file, "--page", "sites", "--top", "1", "--json"})["sites"]["sites"].size(),
      1u);
  EXPECT_THAT(RunVramscope({"explain", file, "--page", "sites", "--top", "1"}).out,
              HasSubstr("(1 more call sites)"));
  EXPECT_EQ(Json({"peak", file, "--top", "2", "--json"})["largest"].size(), 2u);
  EXPECT_THAT(RunVramscope({"peak", file, "--by", "stack", "--top", "1"}).out,
              AllOf(HasSubstr("(2 more)"), HasSubstr("(5 more blocks)")));
  EXPECT_EQ(RunVramscope({"peak", file, "--top", "0"}).status, 2);
}

TEST_F(CliRecording, ExplainRejectsInvalidOptions) {
  const std::string file = Write("s.json", {});
  EXPECT_EQ(RunVramscope({"explain", file, "--page", "weather"}).status, 2);
  EXPECT_EQ(RunVramscope({"explain", file, "--at", "noon"}).status, 2);
  EXPECT_EQ(RunVramscope({"explain", file, "--at", "1s", "--event", "3"}).status, 2);
  EXPECT_EQ(RunVramscope({"explain", file, "--alloc-conf", "no_such_key:1"}).status, 2);
  const Outcome far = RunVramscope({"explain", file, "--event", "99999"});
  EXPECT_EQ(far.status, 3);
  EXPECT_THAT(far.err, AllOf(HasSubstr("s.json"), HasSubstr("99999")));
}

TEST_F(CliRecording, ReadsTruncatedAndRejectsDamagedFiles) {
  const std::string whole = ReadFile(Write("s.json", {}));
  const std::string cut = folder_ / "cut.json";
  WriteFile(cut, whole.substr(0, whole.size() / 2));
  Outcome outcome = RunVramscope({"info", cut});
  EXPECT_EQ(outcome.status, 0);  // the undamaged part was read
  EXPECT_THAT(outcome.err, HasSubstr("cut.json"));
  EXPECT_TRUE(Json({"info", cut, "--json"})["truncated"].get<bool>());
  WriteFile(cut, whole.substr(0, 30));
  outcome = RunVramscope({"info", cut});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr("cut.json"));
  // Unpickling this file with Python would call os.system.
  const std::string evil = folder_ / "evil.pickle";
  WriteFile(evil, "\x80\x02}U\x08segmentscos\nsystem\nU\x04true\x85Rs.");
  outcome = RunVramscope({"explain", evil});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("evil.pickle"), HasSubstr("byte")));
}

void ExpectDocumented(const json& value, const std::string& text, const std::string& where) {
  if (value.is_array() && !value.empty()) ExpectDocumented(value[0], text, where);
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    // Category names are also keys; they begin with a capital letter and are not documented.
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(key[0])) ||
                text.find("`" + key + "`") != std::string::npos)
        << where << ": " << key;
    ExpectDocumented(inner, text, where);
  }
}

TEST_F(CliRecording, EveryJsonKeyIsDocumented) {
  const std::string text = ReadFile(VRAMSCOPE_SOURCE_DIR "/app/cli/JSON.md");
  ASSERT_FALSE(text.empty());
  const std::string file = Write("s.json", {.steps = 6, .leak = true, .oom = true, .marks = true});
  for (const auto& [arguments, status] : std::vector<std::pair<std::vector<std::string>, int>>{
           {{"info", file}, 0},
           {{"peak", file}, 0},
           {{"phases", file}, 0},
           {{"replay", file, "--alloc-conf", ""}, 1},
           {{"explain", file}, 0},
           {{"explain", file, "--page", "segments"}, 0},
           {{"diff", file, file}, 0},
           {{"diff", file, file, "--by", "stack"}, 0},
           {{"diff", file, file, "--requests"}, 0},
           {{"check", file, "--budget", "1GiB"}, 3}}) {
    std::vector<std::string> json_arguments = arguments;
    json_arguments.push_back("--json");
    const Outcome outcome = RunVramscope(json_arguments);
    EXPECT_EQ(outcome.status, status) << arguments[0] << outcome.err;
    ExpectDocumented(json::parse(outcome.out, nullptr, false), text,
                     ::testing::PrintToString(arguments));
  }
}

// If the time is after the end of the recording, the state at the end is shown.
TEST_F(CliRecording, WarnsAboutTimeAfterTheEnd) {
  const std::string file = Write("s.json", {});
  const Outcome outcome = RunVramscope({"peak", file, "--at", "1000s"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("1.10 ms"), HasSubstr("--at"), HasSubstr("end")));
  EXPECT_EQ(RunVramscope({"peak", file, "--at", "1ms"}).err, "");
}

// The expected figures are in ../shared/snapshots/index.json.
TEST_F(CliRecording, RecordedSnapshotsHaveKnownPeaks) {
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
