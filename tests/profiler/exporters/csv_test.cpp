#include "profiler/exporters/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/profiler/exporters/sample_trace.h"

namespace vramscope::exporters {
namespace {

using testing::ElementsAre;
using trace::Category;
using trace::EventKind;

// Reads CSV as RFC 4180 defines it. Shares no code with the code under test. Quoted fields may
// contain any character.
std::vector<std::vector<std::string>> ReadCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      rows.push_back({""});
      ++i;
    } else {
      field += c;
    }
  }
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "the last row ends with CRLF too";
  rows.pop_back();
  return rows;
}

std::vector<std::vector<std::string>> Export(const trace::Trace& trace) {
  std::ostringstream out;
  const absl::Status status = WriteCsv(trace, out);
  EXPECT_TRUE(status.ok()) << status;
  return ReadCsv(out.str());
}

TEST(Csv, WritesOneRowPerAllocation) {
  const auto rows = Export(*SmallTrace());
  ASSERT_EQ(rows.size(), 1u + 5u);
  EXPECT_THAT(rows[0], ElementsAre("allocation", "source", "bytes_requested", "bytes_rounded",
                                   "address", "device", "stream", "pool", "segment", "begin_ns",
                                   "end_ns", "freed", "birth_category", "category", "step",
                                   "micro_batch", "phase", "module", "op"));
  EXPECT_THAT(rows[1], ElementsAre("0", "modelled", "1000", "1024", "0x10000000", "0", "0", "small",
                                   "0", "1000", "154000", "1", "Parameter", "Parameter", "", "",
                                   "none", "fc", "aten::empty"));
  EXPECT_THAT(rows[2], ElementsAre("1", "modelled", "5000", "5120", "0x10001000", "0", "0", "small",
                                   "0", "2500", "44001", "1", "Temporary", "Activation", "0", "0",
                                   "forward", "fc", "aten::mm"));
}

TEST(Csv, QuotesFieldsThatNeedIt) {
  TraceMaker maker;
  maker.Alloc(1, 512, 0x1000, Category::kInput, "op, with \"all\"\r\nof it", "plain");
  const auto rows = Export(*maker.Finish());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].back(), "op, with \"all\"\r\nof it");
  EXPECT_EQ(rows[1][11], "0");  // not freed
}

TEST(Csv, RowsHaveAllColumnsInRandomTraces) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto trace = RandomTrace(seed, 300);
    const auto rows = Export(*trace);
    ASSERT_EQ(rows.size(), 1 + trace->allocations.size());
    for (const auto& row : rows) EXPECT_EQ(row.size(), 19u);
  }
}

TEST(Csv, ReportsFullDisk) {
  std::ofstream full("/dev/full", std::ios::binary);
  if (!full) GTEST_SKIP() << "no /dev/full on this system";
  EXPECT_EQ(WriteCsv(*SmallTrace(), full).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vramscope::exporters
