// Reads archives with the structure of wheels. Hostile archives must be refused before any of their
// bytes is used.
#include "profiler/setup/zip_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/profiler/setup/torch_files.h"

namespace vramscope::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeZip;
using ::testing::Pair;
using testing::ZipFile;

class Zip : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<ZipReader>> Open(const std::string& bytes,
                                                  const ZipReader::Limits& limits = {}) {
    testing::Write(scratch_ / "a.whl", bytes);
    return ZipReader::Open((scratch_ / "a.whl").string(), limits);
  }
  absl::Status OpenError(const std::vector<ZipFile>& files, const ZipReader::Limits& limits = {}) {
    return Open(MakeZip(files), limits).status();
  }
  // Returns the contents of all entries, or the first error.
  absl::StatusOr<std::map<std::string, std::string>> Unpack(const std::string& bytes) {
    auto zip = Open(bytes);
    if (!zip.ok()) return zip.status();
    std::map<std::string, std::string> out;
    for (const ZipReader::Entry& entry : (*zip)->entries()) {
      std::string& content = out[entry.name];
      const absl::Status status = (*zip)->Extract(entry, [&](std::string_view piece) {
        content += piece;
        return absl::OkStatus();
      });
      if (!status.ok()) return status;
    }
    return out;
  }

  testing::Scratch scratch_;
};

TEST_F(Zip, UnpacksStoredAndDeflatedFiles) {
  const std::string large(3 << 20, 'a');
  for (const bool zip64 : {false, true}) {
    const auto out = Unpack(MakeZip({{.name = "torch/", .mode = 040755},
                                     {.name = "torch/a.txt", .content = "stored"},
                                     {.name = "torch/b.txt", .content = large, .deflated = true},
                                     {.name = "empty", .content = ""}},
                                    zip64));
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(*out, ElementsAre(Pair("empty", ""), Pair("torch/a.txt", "stored"),
                                  Pair("torch/b.txt", large)));
  }
}

TEST_F(Zip, ReadsArchiveWithComment) {
  std::string bytes = MakeZip({{.name = "a", .content = "x"}});
  bytes[bytes.size() - 2] = 5;
  EXPECT_TRUE(Unpack(bytes + "12345").ok());
}

TEST_F(Zip, RejectsNamesOutsideTheFolder) {
  for (const char* name :
       {"../evil", "a/../../evil", "/etc/passwd", "a//b", "./a", "a/.", "..", "a\\b", "a\nb", ""}) {
    const absl::Status status = OpenError({{.name = "good", .content = "x"}, {.name = name}});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name << status;
  }
  EXPECT_TRUE(OpenError({{.name = "..a/b..c/...", .content = "x"}}).ok());
}

TEST_F(Zip, RejectsLinksAndDevices) {
  for (const uint32_t mode : {0120777u, 0020666u, 0010644u, 0140755u, 040755u}) {
    const absl::Status status = OpenError({{.name = "a", .content = "/etc/passwd", .mode = mode}});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << std::oct << mode;
  }
}

TEST_F(Zip, RejectsBombsBeforeUnpacking) {
  // Archives in which a stated size is more than deflate can produce, sizes or the number of
  // entries exceed a limit, or entries share their data or their name.
  EXPECT_EQ(OpenError({{.name = "a",
                        .content = std::string(1000, 'a'),
                        .deflated = true,
                        .stated_bytes = 1 << 30}})
                .code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(OpenError({{.name = "a", .content = "1234"}, {.name = "b", .content = "5678"}},
                      {.total_bytes = 7})
                .code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      OpenError({{.name = "a", .content = "1"}, {.name = "b", .content = "2"}}, {.entries = 1})
          .code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(
      std::string(
          OpenError({{.name = "a", .content = "12345678"},
                     {.name = "b", .content = "12345678", .stated_header = 0, .no_data = true}})
              .message()),
      HasSubstr("overlaps"));
  EXPECT_EQ(OpenError({{.name = "a", .content = "1"}, {.name = "a", .content = "2"}}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(Zip, RejectsWrongSizesAndChecksums) {
  const std::string content(100'000, 'a');
  for (const int64_t stated : {99'999, 100'001}) {
    const auto out = Unpack(
        MakeZip({{.name = "a", .content = content, .deflated = true, .stated_bytes = stated}}));
    EXPECT_EQ(out.status().code(), absl::StatusCode::kDataLoss) << stated;
  }
  EXPECT_THAT(
      std::string(
          Unpack(MakeZip({{.name = "a", .content = content, .stated_crc = 1}})).status().message()),
      HasSubstr("checksum"));
}

TEST_F(Zip, RejectsOtherMethodsAndEncryption) {
  EXPECT_THAT(std::string(OpenError({{.name = "a", .content = "x", .method = 12}}).message()),
              HasSubstr("unsupported method (12)"));
  EXPECT_THAT(std::string(OpenError({{.name = "a", .content = "x", .encrypted = true}}).message()),
              HasSubstr("encrypted"));
}

TEST_F(Zip, RejectsTruncatedArchives) {
  const std::string whole =
      MakeZip({{.name = "a", .content = "123"}, {.name = "b", .content = "456", .deflated = true}});
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(Unpack(whole.substr(0, length)).ok()) << length;
  // Without the archive's first bytes, all offsets are wrong.
  for (size_t from = 1; from < whole.size(); ++from)
    EXPECT_FALSE(Unpack(whole.substr(from)).ok()) << from;
}

TEST_F(Zip, FailsForFoldersAndMissingFiles) {
  EXPECT_FALSE(ZipReader::Open(scratch_.path().string(), {}).ok());
  EXPECT_EQ(ZipReader::Open((scratch_ / "none").string(), {}).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vramscope::setup
