// Tests `setup`. Also tests what the programs do without LibTorch and without a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/process.h"
#include "tests/profiler/setup/torch_files.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CliSetup : public ::testing::Test {
 protected:
  // Runs the program with a download folder, and without an installed torch.
  Outcome Run(const std::vector<std::string>& arguments, std::vector<std::string> more = {}) {
    std::vector<std::string> environment = {"XDG_DATA_HOME=" + (folder_ / "data"),
                                            "XDG_CACHE_HOME=" + (folder_ / "cache"),
                                            "VRAMSCOPE_TORCH_ROOT=" + (folder_ / "none"),
                                            "VRAMSCOPE_INDEX_URL=http://127.0.0.1:1/simple/",
                                            "http_proxy",
                                            "HTTP_PROXY",
                                            "all_proxy",
                                            "ALL_PROXY",
                                            "VRAMSCOPE_WORKER",
                                            "DISPLAY",
                                            "WAYLAND_DISPLAY",
                                            "QT_QPA_PLATFORM"};
    environment.insert(environment.end(), more.begin(), more.end());
    return RunVramscope(arguments, {.environment = environment});
  }
  TemporaryFolder folder_;
};

TEST_F(CliSetup, StatusReportsMissingTorchAndDownloadSize) {
  const Outcome outcome = Run({"setup", "--status", "--json"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json state = json::parse(outcome.out);
  EXPECT_EQ(state["found"], false);
  EXPECT_EQ(state["version"], "2.11.0");
  EXPECT_GT(state["download_bytes"], 500'000'000);
  EXPECT_EQ(state["folder"], folder_ / "data/vramscope");
  EXPECT_EQ(state["others"].size(), 1u);
  EXPECT_THAT(Run({"setup", "--status"}).out, HasSubstr("not installed"));
}

TEST_F(CliSetup, StatusReportsRootOfInstalledTorch) {
  setup::testing::WriteTorch(folder_ / "torch");
  const Outcome outcome =
      Run({"setup", "--status", "--json"}, {"VRAMSCOPE_TORCH_ROOT=" + (folder_ / "torch")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["root"], folder_ / "torch");
  // An installed LibTorch is not downloaded again.
  EXPECT_EQ(Run({"setup"}, {"VRAMSCOPE_TORCH_ROOT=" + (folder_ / "torch")}).status, 0);
}

TEST_F(CliSetup, RequiresYesWithoutTerminal) {
  const Outcome outcome = Run({"setup"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("to download"), HasSubstr("--yes")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "data/vramscope/torch-2.11.0"));
}

TEST_F(CliSetup, RejectsInvalidIndexUrl) {
  const Outcome outcome = Run({"setup", "--yes"}, {"VRAMSCOPE_INDEX_URL=nonsense"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr("VRAMSCOPE_INDEX_URL"));
}

TEST_F(CliSetup, RemoveDeletesDownloadedTorch) {
  setup::testing::WriteTorch(folder_ / "data/vramscope/torch-2.11.0");
  const Outcome outcome = Run({"setup", "--remove", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(json::parse(outcome.out)["removed_bytes"], 500);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "data/vramscope/torch-2.11.0"));
  EXPECT_EQ(json::parse(Run({"setup", "--remove", "--json"}).out)["removed_bytes"], 0);
}

TEST_F(CliSetup, ListsAndRemovesEnvironments) {
  namespace fs = std::filesystem;
  const std::string name = "transformers==4.51.0-cpython-311-0123456789ab";
  const fs::path kept = folder_ / "cache/vramscope/environments";
  EXPECT_THAT(Run({"setup", "--environments"}).out, HasSubstr("no environments"));
  fs::create_directories(kept / name / "transformers");
  fs::create_directories(kept / "interrupted.part");  // incomplete, so not listed
  std::ofstream(kept / name / "transformers/__init__.py") << std::string(1000, '#');
  setup::testing::WriteTorch(folder_ / "data/vramscope/torch-2.11.0");

  const json listed = json::parse(Run({"setup", "--environments", "--json"}).out);
  EXPECT_EQ(listed["folder"], kept.string());
  ASSERT_EQ(listed["environments"].size(), 1u);
  EXPECT_EQ(listed["environments"][0]["name"], name);
  EXPECT_GE(listed["environments"][0]["bytes"], 1000);
  EXPECT_THAT(Run({"setup", "--environments"}).out, HasSubstr(name));
  EXPECT_THAT(Run({"setup", "--status"}).out, HasSubstr(name));
  EXPECT_EQ(Run({"setup", "--status", "--environments"}).status, 2);

  const Outcome removed = Run({"setup", "--environments", "--remove", "--json"});
  EXPECT_EQ(removed.status, 0) << removed.err;
  EXPECT_GE(json::parse(removed.out)["removed_environments_bytes"], 1000);
  EXPECT_FALSE(fs::exists(kept));
  EXPECT_TRUE(fs::exists(folder_ / "data/vramscope/torch-2.11.0")) << "was not requested";
}

// If the environments folder is a link, its target may belong to another program.
TEST_F(CliSetup, RefusesToRemoveLinkedEnvironments) {
  namespace fs = std::filesystem;
  fs::create_directories(folder_ / "cache/vramscope");
  fs::create_directories(folder_ / "elsewhere/other==1.0-x");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "cache/vramscope/environments");
  const Outcome outcome = Run({"setup", "--environments", "--remove"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("is a symbolic link"));
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere/other==1.0-x"));
}

TEST_F(CliSetup, PlanWithoutLibTorchSuggestsSetup) {
  const Outcome outcome = Run({"plan"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.err, HasSubstr("vramscope"));
  const std::filesystem::path folder = std::filesystem::path(VRAMSCOPE_PROGRAM).parent_path();
  if (!std::filesystem::exists(folder / "vramscope-worker")) return;
  EXPECT_THAT(outcome.err, HasSubstr("vramscope setup"));
}

TEST_F(CliSetup, PrintsShippedRunAndCommandsWithoutDisplay) {
  const Outcome outcome = Run({});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no display"), HasSubstr("vramscope setup"),
                                 HasSubstr("plan -- python train.py"), HasSubstr("sample")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("qwen2-0.5b"), HasSubstr("10.66 GiB")));
}

}  // namespace
}  // namespace vramscope::test
