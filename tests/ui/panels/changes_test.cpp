// Tests the names of changes in the history.
#include <gtest/gtest.h>

#include "profiler/base/i18n.h"
#include "profiler/run/run_config.h"
#include "ui/panels/techniques.h"

namespace vramscope::ui {
namespace {

TEST(ChangesTest, NamesAreTranslated) {
  run::RunConfigBuilder builder;
  const absl::StatusOr<run::RunConfig> before = builder.Build();
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(builder.Set("tf32", "true").ok());
  const absl::StatusOr<run::RunConfig> after = builder.Build();
  ASSERT_TRUE(after.ok()) << after.status();
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "TF32 matrix products") return "TF32 PRODUCTS";
    return english == "on" ? "ON" : "";
  });
  const std::string change = DescribeChange(*before, *after);
  i18n::SetTranslator(nullptr);
  EXPECT_EQ(change, "TF32 PRODUCTS ON");
}

}  // namespace
}  // namespace vramscope::ui
