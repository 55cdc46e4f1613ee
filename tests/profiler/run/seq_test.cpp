#include "profiler/run/seq.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class SeqFile : public ::testing::Test {
 protected:
  // Each process has a folder of its own, because tests run in parallel.
  SeqFile()
      : path_(std::filesystem::path(::testing::TempDir()) / ("seq_" + std::to_string(getpid())) /
              "seq_test.csv") {
    std::filesystem::create_directories(path_.parent_path());
    std::ofstream(path_) << "length,count\n64,2\n700,1\n";
  }
  ~SeqFile() override { std::filesystem::remove_all(path_.parent_path()); }
  const std::filesystem::path path_;
};

// Returns the run after `--set seq=...` was applied to `start`.
absl::StatusOr<RunConfig> With(const RunConfig& start, std::string_view seq) {
  RunConfigBuilder b(start);
  if (absl::Status status = b.Set("seq", seq); !status.ok()) return status;
  return b.Build();
}

TEST(Seq, ReadsNumbersListsAndRanges) {
  struct Row {
    const char *text, *lengths;
    int tokens;
  };
  for (const Row& row : {Row{"512", "", 512},
                         {" 512 ", "", 512},
                         {"512-512", "", 512},
                         {"400, 1536,400", "400,1536,400", 1536},
                         {"256-1024", "256-1024", 1024},
                         {"256..1024", "256-1024", 1024},
                         {"8,16-32", "8,16-32", 32}}) {
    const absl::StatusOr<RunConfig> config = With({}, row.text);
    ASSERT_TRUE(config.ok()) << row.text << ": " << config.status();
    EXPECT_EQ(config->seq, row.tokens) << row.text;
    EXPECT_EQ(config->Get("lengths"), row.lengths) << row.text;
    // The printed form of a value must be accepted as a value.
    const absl::StatusOr<RunConfig> again = With({}, SeqText(*config));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ToJson(*again), ToJson(*config)) << row.text;
  }
}

TEST_F(SeqFile, ReadsFileOfSamples) {
  const absl::StatusOr<RunConfig> config = With({}, path_.string());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->Get("samples.file"), path_.string());
  EXPECT_EQ(config->seq, 700) << "the longest: none is truncated";
  EXPECT_EQ(SeqText(*config), path_.string());
  EXPECT_EQ(ShortSeqText(*config), "seq_test.csv up to 700");
  // If a file is set, a single number is the length at which its samples are truncated. A list
  // replaces the file.
  EXPECT_EQ(With(*config, "128")->Get("samples.file"), path_.string());
  EXPECT_EQ(With(*config, "128")->seq, 128);
  EXPECT_EQ(With(*config, "128,256")->Get("samples.file"), "");
  EXPECT_EQ(With(*With({}, "128,256"), path_.string())->Get("lengths"), "");
}

TEST_F(SeqFile, RejectsInvalidValues) {
  const std::string too_many = [] {
    std::string text = "1";
    for (int i = 0; i < 4096; ++i) text += ",1";
    return text;
  }();
  for (const std::string& bad :
       {std::string("0"), std::string("-5"), std::string("0,256"), std::string("128,0"),
        std::string("1024-256"), std::string("1.5"), std::string("1048577"),
        std::string("1-1048577"), std::string("128-256-512"), std::string(""), std::string(","),
        std::string("..4"), too_many, std::string("99999999999999999999")}) {
    EXPECT_THAT(Message(With({}, bad).status()),
                AllOf(HasSubstr("seq: "), HasSubstr("1 to 1048576"), HasSubstr("4096")))
        << bad.substr(0, 30);
  }
  EXPECT_THAT(Message(With({}, "/no such file").status()),
              AllOf(HasSubstr("\"/no such file\""), HasSubstr("not a file on this computer")));
  EXPECT_THAT(Message(With({}, "/dev/zero").status()), HasSubstr("not a file on this computer"));
  EXPECT_FALSE(With({}, std::string("a\0b", 3)).ok());
  std::ofstream(path_) << "64,2\n0,1\n";
  EXPECT_THAT(Message(With({}, path_.string()).status()), HasSubstr("line 2"));
  // The limit on a batch's tokens (batch x seq) also holds for a list of lengths.
  RunConfigBuilder b;
  ASSERT_TRUE(b.Set("batch", "65536").ok());
  ASSERT_TRUE(b.Set("seq", "8,1048576").ok());
  EXPECT_THAT(Message(b.Build().status()), HasSubstr("tokens"));
}

// run.json files of older versions have the key `lengths`.
TEST(Seq, LengthsKeyCombinesWithSeq) {
  for (const auto& order : {std::vector{"lengths", "seq"}, std::vector{"seq", "lengths"}}) {
    RunConfigBuilder b;
    for (const std::string key : order)
      ASSERT_TRUE(b.Set(key, key == "seq" ? "512" : "400,1024").ok());
    EXPECT_EQ(b.Build()->Get("lengths"), "400,1024");
    EXPECT_EQ(b.Build()->seq, 1024) << "the longest";
  }
  RunConfigBuilder b;
  ASSERT_TRUE(b.SetRunJson(R"({"lengths": "400,300", "seq": 512})").ok());
  EXPECT_EQ(b.Build()->Get("lengths"), "400,300");
  EXPECT_EQ(b.Build()->seq, 400);
  // A seq that is set later replaces the value of a run.json or of an earlier seq.
  ASSERT_TRUE(b.Set("seq", "512").ok());
  EXPECT_EQ(b.Build()->Get("lengths"), "");
  EXPECT_EQ(b.Build()->seq, 512);
  ASSERT_TRUE(b.Set("seq", "16,8").ok());
  ASSERT_TRUE(b.Set("seq", "64").ok());
  EXPECT_EQ(SeqText(*b.Build()), "64");
  EXPECT_EQ(SeqText(*With(*With({}, "16,8"), "64")), "64");
}

TEST(Seq, ReadsListsFromRunJson) {
  const auto read = [](const char* json) {
    RunConfigBuilder b;
    const absl::Status status = b.SetRunJson(json);
    return status.ok() ? SeqText(*b.Build()) : Message(status);
  };
  EXPECT_EQ(read(R"({"seq": [400, 1536, "256-1024"]})"), "400,1536,256-1024");
  EXPECT_EQ(read(R"({"seq": "400,1536"})"), "400,1536");
  EXPECT_EQ(read(R"({"lengths": [400, 1536]})"), "400,1536");
  for (const char* bad :
       {R"({"seq": []})", R"({"seq": [0]})", R"({"seq": [true]})", R"({"seq": [null]})",
        R"({"seq": [[8]]})", R"({"seq": {"a": 1}})", R"({"seq": true})"}) {
    EXPECT_THAT(read(bad), AllOf(HasSubstr("seq: "), HasSubstr("400,1536,400"))) << bad;
  }
  // Values that were written must be readable again, from a run.json and from a trace's header.
  const absl::StatusOr<RunConfig> config = With({}, "400,1536");
  RunConfigBuilder b;
  ASSERT_TRUE(b.SetRunJson(ToJson(*config)).ok());
  EXPECT_EQ(SeqText(*b.Build()), "400,1536");
  EXPECT_EQ(SeqText(*FromProtoBytes(ToProtoBytes(*config))), "400,1536");
}

TEST(Seq, ShortTextSummarizesLongLists) {
  EXPECT_EQ(ShortSeqText({}), "512");
  EXPECT_EQ(ShortSeqText(*With({}, "400,1536")), "400,1536");
  EXPECT_EQ(ShortSeqText(*With({}, "400,400,400,400,400,1536,400,400")), "8 lengths up to 1536");
}

}  // namespace
}  // namespace vramscope::run
