// Runs `reproduce` with the built program. Tests that need a worker are skipped without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

bool HasWorker() {
  return std::getenv("VRAMSCOPE_WORKER") != nullptr ||
         std::filesystem::exists(std::filesystem::path(VRAMSCOPE_PROGRAM).parent_path() /
                                 "vramscope-worker");
}

TEST(CliReproduce, FormulasNeedNoWorker) {
  const Outcome outcome = RunVramscope({"reproduce", "B1", "B6-peft-formula", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json all = json::parse(outcome.out);
  ASSERT_EQ(all["experiments"].size(), 2u);
  for (const json& experiment : all["experiments"]) {
    for (const char* key : {"id", "config", "published", "predicted", "error", "tolerance",
                            "within_tolerance", "note", "figures"}) {
      EXPECT_TRUE(experiment.contains(key)) << key;
    }
    EXPECT_EQ(experiment["within_tolerance"], true);
    EXPECT_EQ(experiment["state"], "run");
  }
  EXPECT_EQ(all["experiments"][0]["predicted"], 440000000);
  EXPECT_EQ(all["experiments"][1]["predicted"], 4LL * (3LL * 582000000 - 4LL * 884736));
}

TEST(CliReproduce, RejectsUnknownNamesAndOptions) {
  const Outcome outcome = RunVramscope({"reproduce", "A1-vanila"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("A1-vanilla"));
  EXPECT_EQ(RunVramscope({"reproduce", "--json", "-o", "-", "B1"}).status, 2);
  EXPECT_EQ(RunVramscope({"reproduce", "B1", "-o", "/nowhere/report.html"}).status, 3);
  const Outcome device = RunVramscope({"reproduce", "B1", "--device", "rtx-4900"});
  EXPECT_EQ(device.status, 3) << "as for plan: a refused setting";
  EXPECT_THAT(device.err, HasSubstr("rtx-4090"));
  EXPECT_EQ(RunVramscope({"reproduce", "B1", "--gpu-memory", "8GiB"}).status, 2);
}

TEST(CliReproduce, PredictsForAnotherGpu) {
  if (!HasWorker()) GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
  const Outcome outcome =
      RunVramscope({"reproduce", "C1", "--device", "rtx-4090", "--gpu-memory", "12GiB", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("not for the GPUs of the publications"));
  const json all = json::parse(outcome.out);
  EXPECT_EQ(all["device"], "rtx-4090,memory=12GiB");
  ASSERT_FALSE(all["experiments"].empty());
  for (const json& experiment : all["experiments"]) {
    EXPECT_EQ(experiment["config"]["device"], all["device"]);
    EXPECT_TRUE(experiment["within_tolerance"].is_null());
    EXPECT_TRUE(experiment["predicted"].is_number());
  }
}

TEST(CliReproduce, SolvesLengthAndReproducesPublishedRow) {
  if (!HasWorker()) GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
  TemporaryFolder folder;
  const std::string report = folder / "report.html";
  const Outcome outcome = RunVramscope({"reproduce", "A2", "A1", "--json", "-o", report});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json all = json::parse(outcome.out);
  ASSERT_EQ(all["solved"].size(), 1u);
  const int length = all["solved"][0]["value"];
  ASSERT_EQ(all["experiments"].size(), 2u);
  // The unknown sequence length was solved from this row, so its error is 0.
  EXPECT_NEAR(all["experiments"][0]["error"].get<double>(), 0, 0.001);
  EXPECT_EQ(all["experiments"][1]["config"]["seq"], std::to_string(length));
  for (const json& experiment : all["experiments"]) {
    for (const json& figure : experiment["figures"]) {
      if (figure["name"].get<std::string>().starts_with("before_")) {
        EXPECT_EQ(figure["within_tolerance"], true) << figure;
      }
    }
  }
  const std::string html = ReadFile(report);
  EXPECT_THAT(html, HasSubstr("A1-vanilla"));
  EXPECT_THAT(html, HasSubstr("<svg"));
}

}  // namespace
}  // namespace vramscope::test
