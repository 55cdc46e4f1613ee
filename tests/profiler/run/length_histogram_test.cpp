#include "profiler/run/length_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace vramscope::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LengthHistogram, ReadsLinesInAnyOrderAndSumsCounts) {
  const auto read = ParseHistogram("length,count\n# a set\n512, 2\n\n 16,3\r\n512\n7,0");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->lengths, ElementsAre(16, 512));
  EXPECT_THAT(read->samples, ElementsAre(3u, 6u));
}

TEST(LengthHistogram, DrawsLengthsByTheirCounts) {
  const auto read = ParseHistogram("10,1\n20,3");
  ASSERT_TRUE(read.ok());
  std::map<int, int> drawn;
  for (uint64_t i = 0; i < 4000; ++i) ++drawn[DrawLength(*read, 5, i)];
  EXPECT_NEAR(drawn[20], 3000, 150);
  EXPECT_EQ(drawn[10] + drawn[20], 4000);
  EXPECT_EQ(DrawLength(*read, 5, 17), DrawLength(*read, 5, 17));
}

TEST(LengthHistogram, RejectsInvalidLines) {
  for (const char* text : {"0,1", "-3", "1048577,1", "12,-1", "12,x", "12,1,1", "1e3", ",5",
                           "99999999999999999999", "12,99999999999999999999"}) {
    const auto read = ParseHistogram(text);
    EXPECT_FALSE(read.ok()) << text;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("line 1")) << text;
  }
  EXPECT_THAT(std::string(ParseHistogram("8\n9\n0").status().message()), HasSubstr("line 3"));
  EXPECT_FALSE(ParseHistogram("").ok());
  EXPECT_FALSE(ParseHistogram("5,0").ok());
  EXPECT_FALSE(ParseHistogram(std::string(70'000, '\n')).ok());
}

TEST(LengthHistogram, ReadsFilesUpToSizeLimit) {
  EXPECT_FALSE(ReadHistogram("/").ok());
  EXPECT_FALSE(ReadHistogram("/there is no such file").ok());
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "length_histogram_test.csv";
  std::ofstream(path) << "64,2\n";
  EXPECT_TRUE(ReadHistogram(path).ok());
  std::ofstream(path) << std::string((4 << 20) + 1, '1');
  EXPECT_THAT(std::string(ReadHistogram(path).status().message()), HasSubstr("4 MiB"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace vramscope::run
