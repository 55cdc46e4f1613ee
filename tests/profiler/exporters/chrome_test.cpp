#include "profiler/exporters/chrome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/profiler/exporters/sample_trace.h"

namespace vramscope::exporters {
namespace {

using nlohmann::json;
using trace::Category;
using trace::EventKind;

std::string Export(const trace::Trace& trace) {
  std::ostringstream out;
  const absl::Status status = WriteChromeTrace(trace, out);
  EXPECT_TRUE(status.ok()) << status;
  return out.str();
}

// Converts microseconds with three decimals, as Kineto writes them, to nanoseconds.
int64_t Ns(const json& microseconds) {
  return static_cast<int64_t>(std::llround(microseconds.get<double>() * 1000));
}

std::vector<json> Events(const json& file, const std::string& ph, const std::string& name = "") {
  std::vector<json> found;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == ph && (name.empty() || event["name"] == name)) found.push_back(event);
  }
  return found;
}

// The complete events ("X") of a track must be nested, in the order of the file.
void ExpectNesting(const json& file) {
  std::map<std::pair<int, int>, std::vector<int64_t>> open_ends;
  std::set<std::tuple<int, int, int64_t>> begins;
  for (const json& event : Events(file, "X")) {
    std::vector<int64_t>& ends = open_ends[{event["pid"], event["tid"]}];
    const int64_t begin = Ns(event["ts"]), end = begin + Ns(event["dur"]);
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    if (!ends.empty()) {
      ASSERT_LE(end, ends.back()) << event.dump();
    }
    // If events have the same begin, Perfetto nests them by length. Only a launch may begin at the
    // same time as its operator.
    const bool launch = event["cat"] == "cuda_runtime";
    if (!launch) {
      EXPECT_TRUE(begins.emplace(event["pid"], event["tid"], begin).second) << event.dump();
      EXPECT_GT(end, begin) << event.dump();
    }
    ends.push_back(end);
  }
}

// Follows the counters. After each [memory] instant, the categories must add up to `allocated`.
void ExpectCountersAddUp(const json& file) {
  std::map<std::string, int64_t> now;
  int64_t allocated_by_instants = 0;
  bool waits = false;  // after an instant, until its `allocated` counter was read
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "i" && event["name"] == "[memory]") {
      allocated_by_instants += event["args"]["Bytes"].get<int64_t>();
      ASSERT_EQ(event["args"]["Total Allocated"], allocated_by_instants) << event.dump();
      waits = true;
    }
    if (event["ph"] != "C") continue;
    const int64_t bytes = event["args"]["bytes"].get<int64_t>();
    ASSERT_GE(bytes, 0) << event.dump();
    now[event["name"]] = bytes;
    if (event["name"] == "allocated" && waits) {
      int64_t sum = 0;
      for (const auto& [name, value] : now) {
        if (name != "allocated" && name != "reserved") sum += value;
      }
      ASSERT_EQ(sum, bytes) << event.dump();
      ASSERT_EQ(bytes, allocated_by_instants);
      waits = false;
    }
  }
}

TEST(ChromeTrace, MatchesTheGoldenFile) {
  const std::string path =
      std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/profiler/exporters/golden/small.json";
  const std::string text = Export(*SmallTrace());
  if (std::getenv("VRAMSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "VRAMSCOPE_UPDATE_GOLDEN=1 rewrites " << path;
}

TEST(ChromeTrace, HeaderHasFieldsThatReadersNeed) {
  const std::string text = Export(*SmallTrace());
  const json file = json::parse(text);
  EXPECT_EQ(file["schemaVersion"], 1);
  EXPECT_EQ(file["displayTimeUnit"], "ms");
  EXPECT_EQ(file["baseTimeNanoseconds"], 1000);  // the time of the first event
  EXPECT_EQ(file["deviceProperties"][0]["name"], "Toy \"9000\"");
  EXPECT_EQ(file["deviceProperties"][0]["computeMajor"], 8);
  EXPECT_EQ(file["vramscope"]["source"], "modelled");
  EXPECT_EQ(file["traceName"], "toy");
  // HolisticTraceAnalysis matches this regular expression with each line of the file.
  EXPECT_TRUE(std::regex_search(text, std::regex("\"rank\":\\s+(\\d+)")));
}

TEST(ChromeTrace, WritesEachEventAsABlockOfLines) {
  const std::string text = Export(*SmallTrace());
  std::istringstream lines(text);
  std::string line, block;
  bool in_events = false, open = false;
  size_t blocks = 0;
  while (std::getline(lines, line)) {
    if (line == "  \"traceEvents\": [") {
      in_events = true;
    } else if (in_events && line == "  ],") {
      break;
    } else if (in_events && line == "  {") {
      EXPECT_FALSE(open);
      open = true;
      block = "{";
    } else if (in_events && (line == "  }," || line == "  }")) {
      EXPECT_TRUE(open);
      open = false;
      EXPECT_TRUE(json::accept(block + "}")) << block;
      ++blocks;
    } else {
      block += line;
    }
  }
  EXPECT_EQ(blocks, json::parse(text)["traceEvents"].size());
}

TEST(ChromeTrace, WritesPhasesAndStepsAsAnnotations) {
  const json file = json::parse(Export(*SmallTrace()));
  for (const char* name : {"ProfilerStep#0", "ProfilerStep#1"}) {
    ASSERT_EQ(Events(file, "X", name).size(), 1u) << name;
    EXPECT_EQ(Events(file, "X", name)[0]["cat"], "user_annotation");
  }
  for (const char* name :
       {"## forward ##", "## loss ##", "## backward ##", "## optimizer ##", "## end ##"}) {
    ASSERT_EQ(Events(file, "X", name).size(), 2u) << name;
    EXPECT_EQ(Events(file, "X", name)[0]["cat"], "user_annotation") << name;
  }
  // Times start with the trace, at 1000 ns. Events with equal times are moved so that each is one
  // nanosecond after the one before.
  const json forward = Events(file, "X", "## forward ##")[0];
  EXPECT_EQ(Ns(forward["ts"]), 1000 + 2);
  EXPECT_EQ(Ns(forward["ts"]) + Ns(forward["dur"]), 13001 + 1);  // the phase contains the loss
  const json end = Events(file, "X", "## end ##")[1];
  EXPECT_EQ(Ns(end["ts"]), 151000 + 1);
  EXPECT_EQ(Ns(end["ts"]) + Ns(end["dur"]), 153000);
}

TEST(ChromeTrace, ModelledKernelsHaveLaunches) {
  const json file = json::parse(Export(*SmallTrace()));
  std::map<int, json> launches;
  std::vector<json> kernels;
  for (const json& event : Events(file, "X")) {
    if (event["cat"] == "cuda_runtime") launches[event["args"]["correlation"]] = event;
    if (event["cat"] == "kernel") kernels.push_back(event);
  }
  // Only innermost operators have kernels: mm, sum, MmBackward0, add_; not linear around mm.
  EXPECT_EQ(kernels.size(), 8u);
  for (const json& kernel : kernels) {
    EXPECT_NE(kernel["name"], "aten::linear");
    EXPECT_EQ(kernel["args"]["modelled"], true);
    EXPECT_TRUE(kernel["args"].contains("stream"));
    ASSERT_TRUE(launches.contains(kernel["args"]["correlation"]));
    EXPECT_EQ(launches[kernel["args"]["correlation"]]["ts"], kernel["ts"]);
  }
}

// Streams must be threads of the GPU's process, calls must be nested in their operators, and an
// arrow must lead from each call to the work that it launched.
TEST(ChromeTrace, RecordedKernelsHaveStreamsAndFlowArrows) {
  trace::Trace t = *SmallTrace();
  using trace::ActivityKind;
  const auto first = static_cast<uint32_t>(t.strings.size());
  t.strings.insert(t.strings.end(), {"cudaLaunchKernel", "sgemm", "aten::mm"});
  uint32_t op = 0;
  while (t.slices.kind[op] != trace::SliceKind::kOp) ++op;
  const int64_t at = t.slices.begin_ns[op];
  const auto add = [&](ActivityKind kind, uint32_t name, int64_t begin, int64_t end,
                       uint32_t stream, uint64_t correlation) {
    t.activities.Append({.kind = kind,
                         .device = static_cast<uint8_t>(trace::IsOfDevice(kind)),
                         .stream = stream,
                         .thread = trace::IsOfDevice(kind) ? 0 : t.slices.thread[op],
                         .name = {first + name},
                         .correlation = correlation,
                         .begin_ns = begin,
                         .end_ns = end});
  };
  add(ActivityKind::kRuntimeCall, 0, at, at + 3, 0, 7);
  add(ActivityKind::kRuntimeCall, 0, at + 4, at + 5, 0, 8);  // its kernel was lost
  add(ActivityKind::kKernel, 1, at + 100, at + 200, 7, 7);
  add(ActivityKind::kKernel, 1, at + 150, at + 180, 13, 0);  // its call was lost
  const json file = json::parse(Export(t));
  ExpectNesting(file);
  std::map<std::string, std::vector<json>> of;
  for (const json& event : Events(file, "X")) of[event["cat"]].push_back(event);
  ASSERT_EQ(of["kernel"].size(), 2u);  // no modelled kernels are added
  const json kernel = of["kernel"][0], call = of["cuda_runtime"][0];
  EXPECT_EQ(kernel["pid"], 1);
  EXPECT_EQ(kernel["args"]["stream"], 7);
  EXPECT_EQ(kernel["args"]["correlation"], 7);
  EXPECT_NE(kernel["tid"], of["kernel"][1]["tid"]);
  std::set<std::string> names;
  for (const json& event : Events(file, "M", "thread_name"))
    if (event["pid"] == 1) names.insert(event["args"]["name"]);
  EXPECT_THAT(names, testing::ElementsAre("stream 13", "stream 7"));
  // The call is on the same thread as its op.
  bool in_op = false;
  for (const json& event : of["cpu_op"])
    in_op |= event["tid"] == call["tid"] && event["pid"] == call["pid"] &&
             Ns(event["ts"]) <= Ns(call["ts"]) &&
             Ns(event["ts"]) + Ns(event["dur"]) >= Ns(call["ts"]) + Ns(call["dur"]);
  EXPECT_TRUE(in_op);
  const std::vector<json> begins = Events(file, "s"), ends = Events(file, "f");
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  for (const char* field : {"pid", "tid", "ts"}) {
    EXPECT_EQ(begins[0][field], call[field]);
    EXPECT_EQ(ends[0][field], kernel[field]);
  }
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_EQ(ends[0]["bp"], "e");
}

TEST(ChromeTrace, MeasuredRunsGetNoModelledKernels) {
  trace::TraceInfo info = TraceMaker::PlanInfo();
  info.backend = trace::Backend::kCpu;
  info.measured = true;
  TraceMaker maker(info);
  maker.At(5).Begin(EventKind::kOpBegin, 0, "aten::mm");
  maker.Alloc(10, 512, 0x1000, Category::kActivation);
  maker.At(500).End(EventKind::kOpEnd);
  const json file = json::parse(Export(*maker.Finish()));
  for (const json& event : Events(file, "X")) EXPECT_EQ(event["cat"], "cpu_op");
  ASSERT_EQ(Events(file, "i", "[memory]").size(), 1u);
  const json args = Events(file, "i", "[memory]")[0]["args"];
  EXPECT_EQ(args["Device Type"], 0);
  EXPECT_EQ(args["Device Id"], -1);
  EXPECT_EQ(file["vramscope"]["source"], "measured");
  EXPECT_TRUE(file["deviceProperties"].empty());
}

TEST(ChromeTrace, MemoryInstantsHaveKinetosFields) {
  const json file = json::parse(Export(*SmallTrace()));
  const std::vector<json> instants = Events(file, "i", "[memory]");
  ASSERT_EQ(instants.size(), 10u);  // five allocations, five frees
  const json first = instants[0];
  EXPECT_EQ(first["cat"], "cpu_instant_event");
  EXPECT_EQ(first["s"], "t");
  EXPECT_EQ(first["args"]["Bytes"], 1024);
  EXPECT_EQ(first["args"]["Addr"], 0x10000000);
  EXPECT_EQ(first["args"]["Total Allocated"], 1024);
  EXPECT_EQ(first["args"]["Total Reserved"], 2 << 20);
  EXPECT_EQ(first["args"]["Device Type"], 1);
  EXPECT_EQ(first["args"]["Device Id"], 0);
  EXPECT_EQ(instants.back()["args"]["Bytes"], -1024);
  EXPECT_EQ(instants.back()["args"]["Total Allocated"], 0);

  const std::vector<json> oom = Events(file, "i", "[OutOfMemory]");
  ASSERT_EQ(oom.size(), 1u);
  EXPECT_EQ(oom[0]["args"]["Bytes"], uint64_t{1} << 40);
  EXPECT_FALSE(oom[0]["args"].contains("Addr"));
}

TEST(ChromeTrace, CountersFollowCategoryChanges) {
  const json file = json::parse(Export(*SmallTrace()));
  int64_t highest_temporary = 0, highest_activation = 0;
  for (const json& event : Events(file, "C", "Temporary")) {
    highest_temporary = std::max(highest_temporary, event["args"]["bytes"].get<int64_t>());
  }
  for (const json& event : Events(file, "C", "Activation")) {
    highest_activation = std::max(highest_activation, event["args"]["bytes"].get<int64_t>());
  }
  EXPECT_EQ(highest_temporary, 5120);
  EXPECT_EQ(highest_activation, 5120);
  EXPECT_EQ(Events(file, "C", "Temporary").back()["args"]["bytes"], 0);
  EXPECT_EQ(Events(file, "C", "reserved").back()["args"]["bytes"], 0);
}

TEST(ChromeTrace, SlicesNestAndCountersAddUpInRandomTraces) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const auto trace = RandomTrace(seed, 400);
    const json file = json::parse(Export(*trace));
    ExpectNesting(file);
    ExpectCountersAddUp(file);
    size_t slices = 0;
    for (const json& event : Events(file, "X")) {
      slices += event["cat"] == "cpu_op" || event["cat"] == "user_annotation";
    }
    EXPECT_EQ(slices, trace->slices.size());  // nothing is lost
  }
  const json small = json::parse(Export(*SmallTrace()));
  ExpectNesting(small);
  ExpectCountersAddUp(small);
}

TEST(ChromeTrace, WritesAnEmptyTrace) {
  const json file = json::parse(Export(*TraceMaker().Finish()));
  EXPECT_TRUE(Events(file, "X").empty());
  EXPECT_EQ(Events(file, "i").size(), 1u);  // Record Window End
}

TEST(ChromeTrace, ReportsFullDisk) {
  std::ofstream full("/dev/full", std::ios::binary);
  if (!full) GTEST_SKIP() << "no /dev/full on this system";
  const absl::Status status = WriteChromeTrace(*SmallTrace(), full);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
}

}  // namespace
}  // namespace vramscope::exporters
