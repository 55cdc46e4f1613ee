#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>
#include <vector>

#include "profiler/analysis/requests.h"
#include "profiler/trace/input.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::analysis {
namespace {

using ::testing::HasSubstr;

std::string Csv(const trace::Trace& t) {
  std::ostringstream out;
  WriteRequestsCsv(t, out);
  return out.str();
}

TEST(RequestsCsv, RoundTripsRandomTraces) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = MakeRandomTrace({.seed = seed, .tear_down = seed != 2});
    const absl::StatusOr<RequestStream> read = ReadRequestsCsv(Csv(*t));
    ASSERT_TRUE(read.ok()) << read.status();
    const RequestStream direct = *RequestsOfStep(*t, std::nullopt);
    ASSERT_EQ(read->requests.size(), direct.requests.size());
    for (size_t i = 0; i < direct.requests.size(); ++i) {
      ASSERT_EQ(read->requests[i].is_alloc, direct.requests[i].is_alloc);
      ASSERT_EQ(read->requests[i].bytes, direct.requests[i].bytes);
      ASSERT_EQ(read->requests[i].bytes_rounded, direct.requests[i].bytes_rounded);
      ASSERT_EQ(read->requests[i].allocation, direct.requests[i].allocation);
      ASSERT_EQ(read->requests[i].where, direct.requests[i].where);
    }
    EXPECT_TRUE(DiffRequests(*read, direct).identical());
  }
}

TEST(RequestsCsv, WritesDocumentedColumns) {
  trace::TraceBuilder b;
  const std::string names[] = {"", "a,b", "say \"x\""};
  ASSERT_TRUE(b.AddStrings(0, names).ok());
  trace::Event alloc, free, phase;
  phase.kind = trace::EventKind::kPhaseBegin;
  phase.detail = static_cast<uint8_t>(trace::Phase::kForward);
  alloc.kind = trace::EventKind::kAlloc;
  alloc.bytes = 100;
  alloc.bytes_rounded = 512;
  alloc.address = 0x1000;
  alloc.stream = 7;
  alloc.time_ns = 9;
  alloc.category = trace::Category::kOptimizerState;
  alloc.name = {1};
  alloc.module = {2};
  free.kind = trace::EventKind::kFreeCompleted;
  free.time_ns = 10;
  ASSERT_TRUE(b.AddEvents({{phase, alloc, free}}).ok());
  EXPECT_EQ(Csv(*b.Finish(true, "")),
            "index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module,"
            "op\n"
            "1,alloc,100,512,0x1000,7,9,Optimizer state,forward,\"say \"\"x\"\"\",\"a,b\"\n"
            "2,free_completed,100,512,0x1000,7,10,Optimizer state,forward,\"say \"\"x\"\"\","
            "\"a,b\"\n");
}

TEST(RequestsCsv, ReadsRecordingWithRowNumbers) {
  const absl::StatusOr<RequestStream> s = ReadRequestsCsv(
      "index,action,size,rounded,addr,alloc_index,op,kind\r\n"
      "0,alloc,100,512,0x10,0,mm,out\r\n"
      "1,free_requested,70,512,0x20,-1,,\r\n"
      "2,free_completed,70,512,0x20,-1,,\r\n"
      "3,alloc,200,512,0x30,3,add,out\r\n"
      "4,segment_alloc,2097152,2097152,0x30,,,\r\n"
      "5,free_completed,100,512,0x10,0,,out");
  ASSERT_TRUE(s.ok()) << s.status();
  ASSERT_EQ(s->requests.size(), 4u);
  EXPECT_EQ(s->requests[1].allocation, -1);
  EXPECT_EQ(s->requests[2].allocation, 1);
  EXPECT_EQ(s->requests[3].allocation, 0);
  EXPECT_EQ(s->requests[0].where, "mm");
}

TEST(RequestsCsv, MatchesFreesByAddressWithoutRowNumbers) {
  const absl::StatusOr<RequestStream> s = ReadRequestsCsv(
      "action,size,addr\nalloc,1,16\nfree_completed,1,16\nalloc,2,16\nfree_completed,2,16\n"
      "free_completed,3,16\n");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->requests[1].allocation, 0);
  EXPECT_EQ(s->requests[3].allocation, 1);
  EXPECT_EQ(s->requests[4].allocation, -1)
      << "already freed, so it frees an allocation from before the stream";
}

TEST(RequestsCsv, ErrorsNameLineAndCause) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column kind"},
      {"a,b\n", "column kind"},
      {"action,size\n", "address"},
      {"action,size,addr\nalloc,x,1\n", "line 2, column 2"},
      {"action,size,addr\nalloc,-4,1\n", "line 2, column 2"},
      {"action,size,addr\nalloc,99999999999999999,1\n", "line 2, column 2"},
      {"action,size,addr\nalloc,1\n", "line 2, column 3"},
      {"action,size,addr\n\n\nmystery,1,1\n", "line 4, column 1: unknown kind \"mystery\""},
      {"action,size,addr\nalloc,1,1\nalloc,1,1\n", "already allocated"},
      {"action,size,addr\nalloc,1,1\nfree,2,1\n", "not the size of the allocation"},
      {"index,action,size,alloc_index\n0,free,1,0\n", "no earlier allocation"},
      {"index,action,size,alloc_index\n0,alloc,1,0\n0,alloc,1,0\n", "twice"},
      {"index,action,size,alloc_index\n0,alloc,1,0\n1,free,1,0\n2,free,1,0\n", "freed twice"},
      {"action,size,addr\n\"alloc,1,1\n", "no closing quote"},
      {"action,size,addr\n\"alloc\"x,1,1\n", "closing quote"},
  };
  for (const auto& [csv, words] : cases) {
    const absl::Status s = ReadRequestsCsv(csv).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << csv;
    EXPECT_THAT(std::string(s.message()), HasSubstr(words));
  }
}

TEST(RequestsCsv, ReadsOrRejectsDamagedTextConsistently) {
  const std::string whole = Csv(*MakeRandomTrace({.steps = 1, .layers = 1}));
  std::mt19937 random(2);
  int refused = 0, read = 0;
  for (int i = 0; i < 500; ++i) {
    std::string text = whole.substr(0, random() % whole.size());
    for (int k = 0; k < 3 && !text.empty(); ++k) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const absl::StatusOr<RequestStream> s = ReadRequestsCsv(text);
    if (!s.ok()) {
      ++refused;
      EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument) << s.status();
      EXPECT_THAT(std::string(s.status().message()), HasSubstr("line "));
      continue;
    }
    ++read;
    EXPECT_LE(s->requests.size(), static_cast<size_t>(std::ranges::count(text, '\n')));
    // Whatever the input is, a block must be allocated before it is freed, and freed only once.
    std::vector<bool> live;
    for (const Request& r : s->requests) {
      if (r.is_alloc) {
        EXPECT_EQ(r.allocation, static_cast<int64_t>(live.size()));
        live.push_back(true);
      } else if (r.allocation >= 0) {
        ASSERT_LT(r.allocation, static_cast<int64_t>(live.size()));
        EXPECT_TRUE(live[static_cast<size_t>(r.allocation)]);
        live[static_cast<size_t>(r.allocation)] = false;
      }
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(read, 50);
}

TEST(RequestsCsv, ReadsRecordingOfATrainingStep) {
  const std::string path = std::string(VRAMSCOPE_SOURCE_DIR) +
                           "/../shared/reference/medium_128_training_requests.csv.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the shared recording is not here";
  const absl::StatusOr<std::string> csv = trace::ReadWholeInput(path, size_t{1} << 28);
  ASSERT_TRUE(csv.ok()) << csv.status();
  const absl::StatusOr<RequestStream> s = ReadRequestsCsv(*csv);
  ASSERT_TRUE(s.ok()) << s.status();
  const auto allocs = std::count_if(s->requests.begin(), s->requests.end(),
                                    [](const Request& r) { return r.is_alloc; });
  EXPECT_EQ(allocs, 6526);
  EXPECT_EQ(s->requests.size(), 6526u + 6305u);
  EXPECT_TRUE(DiffRequests(*s, *s).identical());

  // Addresses must identify the same blocks as the row numbers in alloc_index.
  std::string renamed = *csv;
  renamed.replace(renamed.find("alloc_index"), 11, "ignored");
  const absl::StatusOr<RequestStream> by_address = ReadRequestsCsv(renamed);
  ASSERT_TRUE(by_address.ok()) << by_address.status();
  EXPECT_TRUE(DiffRequests(*s, *by_address).identical());
}

}  // namespace
}  // namespace vramscope::analysis
