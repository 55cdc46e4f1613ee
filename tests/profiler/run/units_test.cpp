#include "profiler/run/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "profiler/run/saturating.h"

namespace vramscope::run {
namespace {

TEST(ParseBytes, ReadsEveryUnit) {
  EXPECT_EQ(ParseBytes("24GiB").value(), 25769803776u);
  EXPECT_EQ(ParseBytes("24564 MiB").value(), 24564ull << 20);
  EXPECT_EQ(ParseBytes("24gb").value(), 24000000000u);
  EXPECT_EQ(ParseBytes("512KiB").value(), 524288u);
  EXPECT_EQ(ParseBytes("8519680").value(), 8519680u);
  EXPECT_EQ(ParseBytes("1.5kB").value(), 1500u);
  EXPECT_EQ(ParseBytes("1008e9").value(), 1008000000000u);
}

TEST(ParseBytes, RejectsInvalidSizes) {
  for (const char* text :
       {"", "GiB", "-1", "-1GiB", "24 GiBs", "nan", "inf", "1e400", "24,5GiB", "2e18GiB"}) {
    EXPECT_FALSE(ParseBytes(text).ok()) << text;
  }
}

TEST(ParseNumbers, RejectsTextsThatAreNotWholeNumbers) {
  EXPECT_EQ(ParseInteger("-7").value(), -7);
  for (const char* text : {"", "7 ", "7x", "1e3", "99999999999999999999"}) {
    EXPECT_FALSE(ParseInteger(text).ok()) << text;
  }
  EXPECT_EQ(ParseNumber("1e-3").value(), 1e-3);
  for (const char* text : {"", "nan", "inf", "1.0.0", "0x"}) {
    EXPECT_FALSE(ParseNumber(text).ok()) << text;
  }
}

TEST(Saturating, ClampsResultsToTheRange) {
  EXPECT_EQ(AddSaturating(uint64_t{UINT64_MAX}, uint64_t{1}), UINT64_MAX);
  EXPECT_EQ(AddSaturating(int64_t{INT64_MAX}, int64_t{1}), INT64_MAX);
  EXPECT_EQ(AddSaturating(int64_t{-2}, int64_t{INT64_MIN}), INT64_MIN);
  EXPECT_EQ(AddSaturating(int64_t{INT64_MIN}, int64_t{INT64_MAX}), -1);
  EXPECT_EQ(ToInt64(-1.9), -1);
  // Converting INT64_MAX to a double rounds it to 2^63, which is out of range.
  EXPECT_EQ(ToInt64(static_cast<double>(INT64_MAX)), INT64_MAX);
  EXPECT_EQ(ToInt64(-0x1p63), INT64_MIN);
  EXPECT_EQ(ToInt64(-INFINITY), INT64_MIN);
  EXPECT_EQ(ToInt64(INFINITY), INT64_MAX);
  EXPECT_EQ(ToInt64(NAN), 0);
  EXPECT_EQ(ToUint64(0x1p63), uint64_t{1} << 63);
  EXPECT_EQ(ToUint64(0x1p64), UINT64_MAX);
  EXPECT_EQ(ToUint64(-1), 0u);
  EXPECT_EQ(ToUint64(NAN), 0u);
}

TEST(Nearest, FindsTyposAndPartialNames) {
  const std::string_view keys[] = {"batch", "seq", "optimizer.name", "lora.rank"};
  EXPECT_EQ(Nearest("bacth", std::begin(keys), std::end(keys)), "batch");
  EXPECT_EQ(Nearest("optimiser.name", std::begin(keys), std::end(keys)), "optimizer.name");
  EXPECT_EQ(Nearest("rank", std::begin(keys), std::end(keys)), "lora.rank");
  EXPECT_EQ(Nearest("zzzzzzzz", std::begin(keys), std::end(keys)), "");
  constexpr std::string_view gpus[] = {"rtx-3070", "rtx-3060-12gb-laptop", "rtx-3060-12gb",
                                       "rtx-4090"};
  EXPECT_EQ(Nearest("RTX-3060", std::begin(gpus), std::end(gpus)), "rtx-3060-12gb");
  EXPECT_EQ(Nearest("rtx-3071", std::begin(gpus), std::end(gpus)), "rtx-3070");
}

TEST(FormatBytes, UsesBinaryUnits) {
  EXPECT_EQ(FormatBytes(1976131072), "1.84 GiB");
  EXPECT_EQ(FormatBytes(8519680), "8.12 MiB");
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
}

}  // namespace
}  // namespace vramscope::run
