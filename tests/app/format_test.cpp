#include "app/cli/format.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "profiler/trace/output_file.h"

namespace vramscope::cli {
namespace {

TEST(Table, AlignsAndUnderlines) {
  Table table({{"Name"}, {"Bytes", Table::kRight}});
  table.Row({"a", "10"});
  table.Row({"longer", "5"});
  EXPECT_EQ(table.Text(),
            "  Name    Bytes\n"
            "  ------  -----\n"
            "  a          10\n"
            "  longer      5\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"N"}, {"X", Table::kRight}});
  table.Row({"\u00e4\u00f6", "1"});
  table.Row({"ab", "1"});
  EXPECT_NE(table.Text().find("\u00e4\u00f6  1\n"), std::string::npos);
}

TEST(Table, TruncatesLastColumnToWidth) {
  Table table({{"Bytes", Table::kRight}, {"Kind"}, {"Call site"}});
  table.Row({"1", "k", "model.py:39 forward < model.py:257 forward > aten::bmm"});
  table.Row({"2", "k", "\u00e4\u00f6\u00fc.py:1 forward"});
  EXPECT_EQ(table.Text(40),
            "  Bytes  Kind  Call site\n"
            "  -----  ----  -------------------------\n"
            "      1  k     model.py:39 forward < ...\n"
            "      2  k     \u00e4\u00f6\u00fc.py:1 forward\n");
  EXPECT_NE(table.Text(0).find("> aten::bmm\n"), std::string::npos);
  EXPECT_NE(table.Text(10).find("model.py:39 forwa...\n"), std::string::npos) << "still readable";
}

TEST(Table, WideCharactersTakeTwoColumns) {
  Table table({{"类别"}, {"字节", Table::kRight}});
  table.Row({"激活值", "1"});
  table.Row({"ab", "22"});
  EXPECT_EQ(table.Text(0),
            "  类别    字节\n"
            "  ------  ----\n"
            "  激活值     1\n"
            "  ab        22\n");
  Table narrow({{"N"}});
  narrow.Row({"显存分配器的碎片整理和回收策略"});
  EXPECT_NE(narrow.Text(22).find("  显存分配器的碎片...\n"), std::string::npos) << narrow.Text(22);
}

TEST(Table, ColumnsMarkedWholeAreNotTruncated) {
  Table table({{"Setting", Table::kLeft, true}, {"Bytes", Table::kRight}});
  table.Row({"garbage_collection_threshold:0.8", "1"});
  EXPECT_NE(table.Text(20).find("threshold:0.8"), std::string::npos);
}

// Rows that are printed as they arrive are in separate tables, whose columns must still align.
TEST(Table, PartsAreAlignedWithoutKnowingEachOther) {
  const auto columns = [] {
    return Table({{"Toggle", Table::kLeft, true, 8}, {"Needs", Table::kRight, false, 6}, {"What"}});
  };
  Table first = columns(), second = columns();
  first.Row({"bf16", "-1 B", "applied at one place"});
  second.Row({"lora=16", "", "no"});
  EXPECT_EQ(columns().Head(0) + first.Rows(0) + second.Rows(0),
            "  Toggle     Needs  What\n"
            "  --------  ------  ----\n"
            "  bf16        -1 B  applied at one place\n"
            "  lora=16           no\n");
  EXPECT_EQ(first.Text(0), first.Head(0) + first.Rows(0));
}

TEST(Format, PrintableReplacesControlAndInvalidCharacters) {
  EXPECT_EQ(Printable("a\u00e4\u20ac\U0001f600"), "a\u00e4\u20ac\U0001f600");
  EXPECT_EQ(Printable(std::string("\0\x1b[2J\n\t\x7f", 8)), "??[2J???");
  EXPECT_EQ(Printable("\u009b2J\u202eabc"), "?2J?abc");
  EXPECT_EQ(Printable("a\u2028b\u2029c"), "a?b?c") << "line separators";
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(Printable("\xff"), bad);
  EXPECT_EQ(Printable("\xc0\x80"), bad + bad) << "overlong encoding";
  EXPECT_EQ(Printable("\xed\xa0\x80"), bad + bad + bad) << "an unpaired surrogate";
  EXPECT_EQ(Printable("\xe2\x82"), bad + bad) << "truncated";
  EXPECT_EQ(Printable("\xf5\x80\x80\x80"), bad + bad + bad + bad) << "beyond the last code point";
  EXPECT_EQ(PrintableLines("a\x1b\nb\n"), "a?\nb\n");
}

TEST(ExitCodes, ResourceExhaustionIsBadInput) {
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), kBadInput);
  EXPECT_EQ(ExitCodeOf(OutOfMemory("x.pickle")), kBadInput);
  EXPECT_EQ(ExitCodeOf(absl::OutOfRangeError("")), kBadInput);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), kInternalFailure);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), kInternalFailure);
}

TEST(Format, ProseBreaksBetweenWords) {
  EXPECT_EQ(Prose("one two three", 0), "  one two three\n");
  EXPECT_EQ(Prose("one two three", 10), "  one two\n  three\n");
  EXPECT_EQ(Prose("extraordinarily long", 6), "  extraordinarily\n  long\n");
  EXPECT_EQ(Prose("two  spaces", 0), "  two  spaces\n");
}

TEST(Format, ProseBreaksBetweenWideCharacters) {
  EXPECT_EQ(Prose("显存峰值", 0), "  显存峰值\n");
  EXPECT_EQ(Prose("显存峰值在反向传播。", 10), "  显存峰值\n  在反向传\n  播。\n");
  EXPECT_EQ(Prose("显存峰值，在", 10), "  显存峰\n  值，在\n") << "no line begins with a comma";
  EXPECT_EQ(Prose("峰值 12 GiB", 9), "  峰值 12\n  GiB\n");
}

TEST(Format, FormatsCountsTimesAndSignedBytes) {
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Count(494032768), "494,032,768");
  EXPECT_EQ(Milliseconds(0.0853), "85.3 us");
  EXPECT_EQ(Milliseconds(12.345), "12.35 ms");
  EXPECT_EQ(Milliseconds(1500), "1.50 s");
  EXPECT_EQ(Milliseconds(-5), "-5.00 ms");
  EXPECT_EQ(SignedBytes(0), "0 B");
  EXPECT_EQ(SignedBytes(1 << 30), "+1.00 GiB");
  EXPECT_EQ(SignedBytes(-(1 << 20)), "-1.00 MiB");
  EXPECT_EQ(SignedBytes(INT64_MIN), "-8589934592.00 GiB");
  EXPECT_EQ(Printable("a\x1b[31mb\n"), "a?[31mb?");
}

// A signal arrives while a file is half written.
TEST(InterruptDeathTest, LeavesNoHalfWrittenFile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "interrupt_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "out.csv";
  std::ofstream(path) << "old";
  const auto write_until = [&](int signal) {
    EndOnInterrupt();
    const auto file = trace::OutputFile::Create(path);
    if (!(*file)->Write("half").ok()) std::abort();
    std::raise(signal);
  };
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(write_until(signal), testing::ExitedWithCode(128 + signal),
                "cancelled; nothing was written");
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::string content;
  std::getline(std::ifstream(path) >> std::ws, content);
  EXPECT_EQ(content, "old");
  std::filesystem::remove_all(folder);
}

TEST(ExitCodes, MatchDocumentedCodes) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DataLossError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::OutOfRangeError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::CancelledError("")), 130);
}

}  // namespace
}  // namespace vramscope::cli
