#include "profiler/exporters/json_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace vramscope::exporters {
namespace {

TEST(JsonText, CleansStringsLikeKineto) {
  EXPECT_EQ(CleanJsonText("aten::mm"), "aten::mm");
  EXPECT_EQ(CleanJsonText("C:\\models\\a"), "C:/models/a");
  EXPECT_EQ(CleanJsonText("say \"no\""), "say \\\"no\\\"");
  EXPECT_EQ(CleanJsonText("two\nlines\r\n"), "twolines");
  EXPECT_EQ(CleanJsonText(std::string("a\0b", 3)), "unknown");
  EXPECT_EQ(CleanJsonText("bell\a"), "unknown");
  EXPECT_EQ(CleanJsonText(""), "");
}

TEST(JsonText, KeepsOnlyValidUtf8) {
  EXPECT_EQ(CleanJsonText("caf\xc3\xa9 \xe6\xa8\xa1 \xf0\x9f\x94\xa5"),
            "caf\xc3\xa9 \xe6\xa8\xa1 \xf0\x9f\x94\xa5");
  EXPECT_EQ(CleanJsonText("\xff"), "unknown");
  EXPECT_EQ(CleanJsonText("cut \xe6\xa8"), "unknown");
  EXPECT_EQ(CleanJsonText("\xc0\xaf"), "unknown");          // overlong
  EXPECT_EQ(CleanJsonText("\xed\xa0\x80"), "unknown");      // surrogate
  EXPECT_EQ(CleanJsonText("\xf4\x90\x80\x80"), "unknown");  // beyond U+10FFFF
}

TEST(JsonText, MicrosecondsAreExact) {
  EXPECT_EQ(Microseconds(0), "0.000");
  EXPECT_EQ(Microseconds(7), "0.007");
  EXPECT_EQ(Microseconds(1234567), "1234.567");
  EXPECT_EQ(Microseconds(-1500), "-1.500");
  EXPECT_EQ(Microseconds(std::numeric_limits<int64_t>::max()), "9223372036854775.807");
  EXPECT_EQ(Microseconds(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

}  // namespace
}  // namespace vramscope::exporters
