// The shipped runs must be small, must be found by their configuration, and must include the
// default run with each of several toggles.
#include "profiler/setup/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "profiler/run/run_config.h"
#include "profiler/run/toggles.h"
#include "profiler/trace/outline.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = VRAMSCOPE_SOURCE_DIR "/resources/samples";

run::RunConfig Default() { return run::RunConfigBuilder().Build().value(); }

// Returns the techniques in the name of a sample, such as "qwen2-0.5b+amp-bf16+lora.trace".
std::vector<std::string> PartsOf(const std::string& file) {
  std::string name = fs::path(file).stem().string();
  std::vector<std::string> parts;
  for (size_t at; (at = name.find('+')) != name.npos; name.erase(0, at + 1))
    parts.push_back(name.substr(0, at));
  parts.push_back(name);
  return parts;
}

TEST(ShippedSamples, AreDistinctAndSmall) {
  uint64_t bytes = 0;
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".trace") continue;
    bytes += entry.file_size();
    ++files;
  }
  EXPECT_LE(bytes, 4'000'000u);
  // Each file has a different configuration.
  EXPECT_EQ(Samples::In(kFolder).size(), files);
  EXPECT_GE(files, 40u);
}

TEST(ShippedSamples, IncludeTheDefaultRun) {
  EXPECT_NE(Samples::In(kFolder).Find(Default()), nullptr);
}

// If the toggles in a file's name are switched on in that order, the configuration of the file must
// result.
TEST(ShippedSamples, MatchTheTogglesInTheirNames) {
  const Samples samples = Samples::In(kFolder);
  for (const std::string& file : samples.Files()) {
    const std::vector<std::string> parts = PartsOf(file);
    run::RunConfigBuilder builder;
    ASSERT_TRUE(builder.SetPreset(parts[0]).ok()) << file;
    run::RunConfig config = builder.Build().value();
    for (size_t i = 1; i < parts.size(); ++i) {
      const run::Toggle* toggle = run::FindToggle(parts[i]);
      ASSERT_NE(toggle, nullptr) << file;
      EXPECT_EQ(run::BlockedBecause(*toggle, config), "") << file;
      config = run::SwitchedOn(*toggle, config);
    }
    const std::string* found = samples.Find(config);
    ASSERT_NE(found, nullptr) << file << " is not the run of these toggles; run make.py again";
    EXPECT_EQ(*found, file);
  }
}

TEST(ShippedSamples, CoverTwelveTogglesOfTheDefaultRun) {
  const Samples samples = Samples::In(kFolder);
  size_t on = 0;
  for (const run::ToggleRow& row : run::Toggles()) {
    if (!run::BlockedBecause(*row.toggle, Default()).empty()) continue;
    const run::RunConfig config = run::SwitchedOn(*row.toggle, Default());
    if (samples.Find(config) == nullptr) continue;
    ++on;
    // The run with this toggle switched off must be shipped, too.
    EXPECT_NE(samples.Find(run::SwitchedOff(*row.toggle, config)), nullptr) << row.toggle->id;
  }
  EXPECT_GE(on, 12u);
}

TEST(ShippedSamples, AreEmptyForOtherFolders) {
  EXPECT_TRUE(Samples::In("").empty());
  EXPECT_TRUE(Samples::In("/no/such/folder").empty());
  EXPECT_TRUE(Samples::In(VRAMSCOPE_SOURCE_DIR "/resources/models").empty());
}

}  // namespace
}  // namespace vramscope::setup
