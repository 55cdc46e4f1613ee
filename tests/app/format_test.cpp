#include "app/cli/format.h"

#include <gtest/gtest.h>

#include "app/cli/command.h"

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

TEST(Format, ForPeople) {
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Count(494032768), "494,032,768");
  EXPECT_EQ(Milliseconds(0.0853), "85.3 us");
  EXPECT_EQ(Milliseconds(12.345), "12.35 ms");
  EXPECT_EQ(Milliseconds(1500), "1.50 s");
  EXPECT_EQ(SignedBytes(1 << 30), "+1.00 GiB");
  EXPECT_EQ(SignedBytes(-(1 << 20)), "-1.00 MiB");
  EXPECT_EQ(SignedBytes(INT64_MIN), "-8589934592.00 GiB");
  EXPECT_EQ(Printable("a\x1b[31mb\n"), "a?[31mb?");
}

TEST(ExitCodes, FollowTheContract) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DataLossError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::CancelledError("")), 130);
}

}  // namespace
}  // namespace vramscope::cli
