// Tests the command `devices`, and the option of all commands that selects the GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

json Devices(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "devices");
  arguments.push_back("--json");
  const Outcome outcome = RunVramscope(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json parsed = json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(parsed.contains("devices")) << outcome.out;
  return parsed.value("devices", json::array());
}

std::string Refused(const std::vector<std::string>& arguments, int status) {
  const Outcome outcome = RunVramscope(arguments);
  EXPECT_EQ(outcome.status, status) << outcome.out;
  return outcome.err;
}

TEST(CliDevices, FiltersByNameFamilyMemoryAndCapability) {
  EXPECT_GE(Devices({}).size(), 75u);
  const json laptops = Devices({"3070", "laptop"});
  ASSERT_EQ(laptops.size(), 2u);
  EXPECT_EQ(laptops[0]["key"], "rtx-3070-laptop");
  EXPECT_EQ(laptops[1]["key"], "rtx-3070-ti-laptop");
  for (const json& d : Devices({"--family", "turing"})) EXPECT_EQ(d["compute_capability"], "7.5");
  for (const json& d : Devices({"--family", "geforce"}))
    EXPECT_TRUE(d["family"].get<std::string>().starts_with("geforce")) << d["key"];
  for (const json& d : Devices({"--memory", ">=80GiB"}))
    EXPECT_GE(d["memory"].get<uint64_t>(), uint64_t{80} << 30);
  for (const json& d : Devices({"--memory", "<5GiB"}))
    EXPECT_LT(d["memory"].get<uint64_t>(), uint64_t{5} << 30);
  EXPECT_EQ(Devices({"--memory", "16GiB"}), Devices({"--memory", ">=16GiB"}));
  for (const json& d : Devices({"--compute-capability", "8.6", "workstation"}))
    EXPECT_EQ(d["compute_capability"], "8.6");
  EXPECT_GT(Devices({"--compute-capability", ">=9.0"}).size(),
            Devices({"--compute-capability", ">=12.0"}).size());
  EXPECT_THAT(Refused({"devices", "--memory", "lots"}, 2), HasSubstr(">=16GiB"));
  EXPECT_THAT(Refused({"devices", "--memory", "=>16GiB"}, 2), HasSubstr(">=16GiB"));
  EXPECT_THAT(Refused({"devices", "--compute-capability", "8.5"}, 2), HasSubstr("8.6"));
  EXPECT_THAT(Refused({"devices", "voodoo"}, 2), HasSubstr("no GPU"));
}

TEST(CliDevices, ListsSourcesAndAssumptions) {
  const Outcome one = RunVramscope({"devices", "gtx-1650"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, AllOf(HasSubstr("Turing, compute capability 7.5"), HasSubstr("14 x 1024"),
                             HasSubstr("Assumed"), HasSubstr("context"), HasSubstr("Source "),
                             HasSubstr("https://www.techpowerup.com/gpu-specs/geforce-gtx-1650.")));
  const json slice = Devices({"a100-sxm-80gb:1g.10gb"});
  ASSERT_EQ(slice.size(), 1u);
  EXPECT_EQ(slice[0]["sm_count"], 14);
  for (const json& d : Devices({})) {
    EXPECT_FALSE(d["source"].get<std::string>().empty());
    // Each figure has a source or an assumption.
    std::set<std::string> known, assumed;
    size_t figures = 0;
    for (const json& source : d["sources"]) {
      for (const json& figure : source["figures"]) known.insert(figure.get<std::string>());
      figures += source["figures"].size();
    }
    for (const json& assumption : d["assumptions"]) {
      for (const json& figure : assumption["figures"]) assumed.insert(figure.get<std::string>());
      figures += assumption["figures"].size();
    }
    EXPECT_GE(figures, 12u) << d["key"];
    // Each figure has either one source or one assumption. The JSON field `assumed` lists the
    // figures that have an assumption, except the MIG profiles.
    EXPECT_EQ(known.size() + assumed.size(), figures) << d["key"];
    for (const std::string& figure : assumed) EXPECT_FALSE(known.contains(figure)) << figure;
    assumed.erase("mig");
    EXPECT_EQ(d["assumed"].get<std::set<std::string>>(), assumed) << d["key"];
    EXPECT_EQ(d["assumed"].size(), assumed.size()) << d["key"];
  }
  EXPECT_THAT(RunVramscope({"devices", "p100"}).out, HasSubstr("has no kernels for this GPU"));
}

TEST(CliDevices, WrittenFileReadsBack) {
  const TemporaryFolder folder;
  const Outcome written = RunVramscope({"devices", "rtx-3060-12gb", "--file"});
  ASSERT_EQ(written.status, 0) << written.err;
  const std::string path = folder / "card.json";
  WriteFile(path, written.out);
  const json read = Devices({path}), table = Devices({"rtx-3060-12gb"});
  ASSERT_EQ(read.size(), 1u);
  for (const char* figure : {"memory", "sm_count", "compute_capability", "bandwidth", "fp32_flops",
                             "bf16_flops", "l2", "context", "blas_workspace"})
    EXPECT_EQ(read[0][figure], table[0][figure]) << figure;
  EXPECT_EQ(read[0]["assumed"], json::array());
}

// The error names the invalid figure, and is reported before a run starts.
TEST(CliDevices, EveryCommandRejectsInvalidDeviceFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "bad.json";
  WriteFile(path, R"({"memory": "24GiB", "compute_capability": 8.6, "multiprocessors": 0})");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plan", "--preset", "gpt2", "--device", path},
        {"plan", "--device", path, "--", "true"},
        {"estimate", "--preset", "gpt2", "--device", path},
        {"fit", "--preset", "gpt2", "--budget", "8GiB", "--device", path},
        {"check", "--preset", "gpt2", "--budget", "8GiB", "--device", path},
        {"estimate", "--preset", "gpt2", "--set", "device=" + path},
        {"doctor", "--gpu", "--emulated", path}}) {
    const Outcome outcome = RunVramscope(command);
    EXPECT_EQ(outcome.status, 3) << command.front();
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("bad.json"), HasSubstr("multiprocessors"), HasSubstr("1 to 1024")))
        << command.front();
  }
  EXPECT_THAT(RunVramscope({"estimate", "--preset", "gpt2", "--gpu-memory", "lots"}).err,
              HasSubstr("memory"));
  EXPECT_THAT(RunVramscope({"estimate", "--preset", "gpt2", "--device", "p100"}).err,
              HasSubstr("has no kernels"));
}

}  // namespace
}  // namespace vramscope::test
