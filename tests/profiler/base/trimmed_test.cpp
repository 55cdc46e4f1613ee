#include "profiler/base/trimmed.h"

#include <gtest/gtest.h>

namespace vramscope::base {
namespace {

TEST(Trimmed, RemovesBlanksAtBothEndsOnly) {
  EXPECT_EQ(Trimmed(" \t\r\n a b\tc \v\f\n"), "a b\tc");
  EXPECT_EQ(Trimmed("24 GiB"), "24 GiB");
  EXPECT_EQ(Trimmed("\u00a0x"), "\u00a0x");  // only ASCII
}

TEST(Trimmed, StaysInsideTheText) {
  EXPECT_EQ(Trimmed(""), "");
  constexpr std::string_view kBlanks = " \t ";
  EXPECT_TRUE(Trimmed(kBlanks).empty());
  EXPECT_EQ(Trimmed(kBlanks).data(), kBlanks.data());
}

}  // namespace
}  // namespace vramscope::base
