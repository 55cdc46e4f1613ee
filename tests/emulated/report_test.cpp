// Tests that a process's report is valid JSON, whatever names and paths it contains.
#include "emulated/core/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

Settings OneGpu() {
  Settings settings;
  Gpu gpu;
  gpu.name = "A \"card\"";
  gpu.memory_bytes = uint64_t{8} << 30;
  gpu.context_bytes = uint64_t{1} << 20;
  settings.gpus = {gpu};
  return settings;
}

TEST(Report, IsValidJsonForAnyText) {
  Platform platform(OneGpu());
  platform.assumptions.Add("quote \" backslash \\ newline \n bell \x07",
                           "/home/ü/\xff\xc0\xe2\x82.py", 12);
  platform.assumptions.Add("again", "here", 5);
  platform.assumptions.Add("again", "here", 7);
  platform.unknown_functions.Add("cudaFoo", "libcudart.so.13", 0);
  platform.succeeding_functions.Add("cudaBar", "libcudart.so.13", 0);
  void* at = nullptr;
  ASSERT_EQ(platform.memory.Allocate(0, 100, &at), Result::kSuccess);
  const auto report = nlohmann::json::parse(ReportOf(platform));
  EXPECT_EQ(report["devices"][0]["name"], "A \"card\"");
  EXPECT_EQ(report["devices"][0]["most_used_bytes"], 2 << 20);
  EXPECT_EQ(report["assumptions"][0]["where"], "/home/ü/????.py");
  EXPECT_EQ(report["assumptions"][1]["count"], 2);
  EXPECT_EQ(report["assumptions"][1]["bytes"], 5);
  EXPECT_EQ(report["unknown_functions"][0]["function"], "cudaFoo");
  EXPECT_EQ(report["succeeding_functions"][0]["function"], "cudaBar");
}

TEST(Report, CountsExcessAssumptionsInLastEntry) {
  AssumptionList list;
  for (size_t i = 0; i < AssumptionList::kMost + 50; ++i) {
    list.Add("what " + std::to_string(i), "where", 1);
  }
  const auto all = list.All();
  EXPECT_EQ(all.size(), AssumptionList::kMost + 1);
  EXPECT_EQ(all.back().count, 50u);
}

TEST(Report, ReplacesFileAndReportsWriteFailure) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("vramscope-report-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  Settings settings = OneGpu();
  settings.output = folder.string();
  const Platform platform(settings);
  WriteReport(platform);
  WriteReport(platform);
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    ++files;
    std::ifstream in(file.path());
    EXPECT_TRUE(nlohmann::json::parse(in).contains("pid"));
  }
  EXPECT_EQ(files, 1u);
  std::filesystem::remove_all(folder);
  testing::internal::CaptureStderr();
  WriteReport(platform);  // the folder does not exist any more
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cannot write"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::emulated
