#include "profiler/program/marks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace vramscope::program {
namespace {

TEST(Marks, ReadsMarksAndTheirNames) {
  const absl::StatusOr<Marks> marks = ParseMarks(
      "[\"n\",0,\"model.layers.0\"]\n[\"M\",0,12,1700000000000000001,0,0]\n[\"G\",1,13,5,2,-1]\n"
      "[\"t\",0,14,6,0,3,140000000000]\n");
  ASSERT_TRUE(marks.ok());
  EXPECT_EQ(marks->unreadable, 0u);
  ASSERT_EQ(marks->rows.size(), 3u);
  EXPECT_EQ(marks->rows[0].kind, MarkKind::kModule);
  EXPECT_EQ(marks->rows[0].requests, 12u);
  EXPECT_EQ(marks->rows[0].time_ns, 1'700'000'000'000'000'001);
  EXPECT_EQ(marks->Name(marks->rows[0].a), "model.layers.0");
  EXPECT_EQ(marks->rows[1].device, 1);
  EXPECT_EQ(marks->rows[1].thread, 2u);
  EXPECT_EQ(marks->rows[1].a, UINT64_MAX);
  EXPECT_EQ(marks->Name(marks->rows[1].a), "");
  EXPECT_EQ(marks->rows[2].a, 3u);
  EXPECT_EQ(marks->rows[2].b, 140'000'000'000u);
}

TEST(Marks, ReadsNativeThreadIds) {
  const absl::StatusOr<Marks> marks =
      ParseMarks("[\"T\",1,4711]\n[\"M\",0,1,2,1,0]\n[\"T\",99999999,1]\n[\"T\",1]\n");
  ASSERT_TRUE(marks.ok());
  EXPECT_EQ(marks->native_threads, (std::vector<uint64_t>{0, 4711}));
  EXPECT_EQ(marks->threads, 2u);
  EXPECT_EQ(marks->unreadable, 2u);
}

TEST(Marks, UnescapesNames) {
  const absl::StatusOr<Marks> marks = ParseMarks(R"(["n",0,"a\"b\\c"])"
                                                 "\n");
  ASSERT_TRUE(marks.ok());
  ASSERT_EQ(marks->names.size(), 1u);
  EXPECT_EQ(marks->names[0], "a\"b\\c");
}

// An invalid line must be counted, and must not affect other lines.
TEST(Marks, CountsInvalidLines) {
  for (const char* line :
       {"", "[]", "[\"M\"]", "[\"M\",0,1,2]", "[\"q\",0,1,2,3]", "[\"M\",256,1,2,3]",
        "[\"M\",0,1,2,3", "[\"M\",0,1,2,3]x", "[\"M\",0,1,2,3,4,5,6,7]", "[\"n\",1,\"skipped 0\"]",
        "[\"n\",0,\"open", "[\"M\",0,99999999999999999999,2,3]", "{\"M\":1}"}) {
    const absl::StatusOr<Marks> marks = ParseMarks(std::string(line) + "\n[\"B\",0,1,2,0]\n");
    ASSERT_TRUE(marks.ok());
    EXPECT_EQ(marks->unreadable, 1u) << line;
    EXPECT_EQ(marks->rows.size(), 1u) << line;
  }
}

// Zeros follow the last line of the file, as a reserve for lines that are written
// later.
TEST(Marks, ReadsMarksWhileTheyAreWritten) {
  const std::string path = ::testing::TempDir() + "/marks-" + std::to_string(getpid()) + ".jsonl";
  const auto put = [&](size_t at, std::string_view text) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at)) << text;
  };
  std::ofstream(path, std::ios::binary) << std::string(4096, '\0');
  MarksReader reader;
  ASSERT_TRUE(reader.ReadMore(path, false).ok());
  EXPECT_TRUE(reader.marks().rows.empty());
  const std::string first = "[\"B\",0,1,2,0]\n", cut = "[\"b\",0,", rest = "3,4,0]\n";
  put(0, first + cut);
  ASSERT_TRUE(reader.ReadMore(path, false).ok());
  EXPECT_EQ(reader.marks().rows.size(), 1u);
  put(first.size() + cut.size(), rest);
  ASSERT_TRUE(reader.ReadMore(path, false).ok());
  ASSERT_EQ(reader.marks().rows.size(), 2u);
  EXPECT_EQ(reader.marks().rows[1].requests, 3u);
  ASSERT_TRUE(reader.ReadMore(path, true).ok());  // the program was killed
  EXPECT_EQ(reader.marks().rows.size(), 2u);
  EXPECT_EQ(reader.marks().unreadable, 0u);
  std::remove(path.c_str());
}

TEST(Marks, CountsTruncatedLastLineAsUnreadable) {
  const absl::StatusOr<Marks> marks = ParseMarks("[\"B\",0,1,2,0]\n[\"b\",0,1,");
  ASSERT_TRUE(marks.ok());
  EXPECT_EQ(marks->rows.size(), 1u);
  EXPECT_EQ(marks->unreadable, 1u);
}

}  // namespace
}  // namespace vramscope::program
