#include "profiler/exporters/pickle_writer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/profiler/exporters/unpickle.h"

namespace vramscope::exporters {
namespace {

using nlohmann::json;

TEST(PickleWriter, WritesEveryKindOfValue) {
  std::ostringstream out;
  PickleWriter w(out);
  w.EmptyList();
  w.Mark();
  const json expected =
      json::array({0, 255, 256, 65535, 65536, INT32_MAX, uint64_t{1} << 31,
                   uint64_t{0x7f00'1234'5678}, INT64_MAX, uint64_t{1} << 63, UINT64_MAX, -1,
                   INT32_MIN, int64_t{INT32_MIN} - 1, INT64_MIN, 0.75, nullptr, true, false});
  for (const json& value : expected) {
    if (value.is_boolean()) {
      w.Bool(value.get<bool>());
    } else if (value.is_null()) {
      w.None();
    } else if (value.is_number_float()) {
      w.Float(value.get<double>());
    } else if (value.is_number_unsigned()) {
      w.Unsigned(value.get<uint64_t>());
    } else {
      w.Int(value.get<int64_t>());
    }
  }
  w.Appends();
  ASSERT_TRUE(w.Finish().ok());
  EXPECT_EQ(Unpickle(out.str()), expected);
  EXPECT_EQ(w.bytes(), out.str().size());
}

TEST(PickleWriter, WritesSharedStringsOnce) {
  std::ostringstream out;
  PickleWriter w(out);
  w.EmptyList();
  w.Mark();
  const std::string name(300, 'n');
  json expected = json::array();
  for (int i = 0; i < 900; ++i) {  // memo numbers have one byte or four
    const std::string text = name + std::to_string(i % 450);
    w.Shared(text);
    expected.push_back(text);
  }
  w.Appends();
  ASSERT_TRUE(w.Finish().ok());
  EXPECT_EQ(Unpickle(out.str()), expected);
  EXPECT_LT(out.str().size(), 450u * 330);
}

TEST(PickleWriter, ReplacesInvalidUtf8) {
  std::ostringstream out;
  PickleWriter w(out);
  w.String("caf\xc3\xa9 \xff!");
  ASSERT_TRUE(w.Finish().ok());
  EXPECT_EQ(Unpickle(out.str()), "caf\xc3\xa9 \xEF\xBF\xBD!");
}

TEST(PickleWriter, ReportsFullDisk) {
  std::ofstream full("/dev/full", std::ios::binary);
  if (!full) GTEST_SKIP() << "no /dev/full here";
  PickleWriter w(full);
  w.String(std::string(1 << 20, 'x'));
  EXPECT_EQ(w.Finish().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vramscope::exporters
