// Sends a folder through a pipe. Files grow or are replaced, the stream comes in pieces or is cut
// at every byte, and some entries do not belong in a folder.
#include "profiler/program/folder_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "profiler/trace/varint.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FolderStream : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("folder_stream_" + std::to_string(getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(From() / "process-7");
    fs::create_directories(To());
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path From() const { return root_ / "from"; }
  fs::path To() const { return root_ / "to"; }
  void Put(const std::string& name, const std::string& text, bool append = false) {
    std::ofstream(From() / name, append ? std::ios::app : std::ios::trunc) << text;
  }
  static std::map<std::string, std::string> Files(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().lexically_relative(folder)] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }
  FolderSender Sender() {
    return FolderSender(From(), [this](std::string_view bytes) {
      stream_ += bytes;
      return absl::OkStatus();
    });
  }
  // Returns a receiver that has already received the greeting.
  FolderReceiver Receiver(uint64_t most = FolderReceiver::kMostBytes) {
    FolderReceiver receiver(To(), most);
    EXPECT_TRUE(receiver.Take(trace::EncodeFrame(trace::FrameType::kFolder, "\x01")).ok());
    return receiver;
  }
  std::string Piece(uint64_t mode, const std::string& path, uint64_t offset, uint64_t total,
                    const std::string& data) {
    std::string payload;
    trace::PutVarint(payload, mode);
    trace::PutVarint(payload, path.size());
    payload += path;
    trace::PutVarint(payload, offset);
    trace::PutVarint(payload, total);
    return trace::EncodeFrame(trace::FrameType::kFilePiece, payload + data);
  }

  fs::path root_;
  std::string stream_;
};

// Zeros follow the marks, as a reserve for marks that are written later. They must not be sent.
TEST_F(FolderStream, SendsMarksWithoutTrailingZeros) {
  FolderSender sender = Sender();
  ASSERT_TRUE(sender.Begin().ok());
  Put("process-7/marks.jsonl", "one\n" + std::string(9, '\0'));
  ASSERT_TRUE(sender.SendNew().ok());
  Put("process-7/marks.jsonl", "one\ntwo\n" + std::string(5, '\0'));
  Put("process-7/stacks.jsonl", "a");
  ASSERT_TRUE(sender.SendNew().ok());
  Put("process-7/stacks.jsonl", "b", true);
  Put("process-7/history-000001.rows", std::string("\0rows", 5));
  ASSERT_TRUE(sender.End(Outcome()).ok());
  FolderReceiver receiver(To());
  ASSERT_TRUE(receiver.Take(stream_).ok());
  const std::map<std::string, std::string> files = Files(To());
  EXPECT_EQ(files.at("process-7/marks.jsonl"), "one\ntwo\n");
  EXPECT_EQ(files.at("process-7/stacks.jsonl"), "ab");
  EXPECT_EQ(files.at("process-7/history-000001.rows"), std::string("\0rows", 5));
}

TEST_F(FolderStream, SendsGrowingAndReplacedFiles) {
  FolderSender sender = Sender();
  FolderReceiver receiver(To());
  ASSERT_TRUE(sender.Begin().ok());
  std::mt19937_64 dice(3);
  std::string large(3'500'000, '\0');  // in several pieces
  for (char& c : large) c = static_cast<char>(dice());
  for (int round = 0; round < 5; ++round) {
    Put("process-7.json",
        "{\"round\": " + std::to_string(round) + std::string(dice() % 9, ' ') + "}");
    Put("process-7/marks.jsonl", "line " + std::to_string(round) + "\n", true);
    Put("process-7/activities.bin", large.substr(0, dice() % large.size()), true);
    Put("process-7/history-00000" + std::to_string(round) + ".pickle", large.substr(dice() % 1000));
    Put("process-7/history-000009.pickle.part", "not whole yet");
    Put("steps", "");
    ASSERT_TRUE(sender.SendNew().ok());
    ASSERT_TRUE(receiver.Take(stream_).ok());
    stream_.clear();
    auto expected = Files(From());
    expected.erase("process-7/history-000009.pickle.part");
    EXPECT_TRUE(Files(To()) == expected) << round;
  }
  ASSERT_TRUE(sender.SendNew().ok());
  EXPECT_TRUE(stream_.empty());  // no file has changed
  EXPECT_FALSE(receiver.outcome().has_value());
  ASSERT_TRUE(sender.End({.exit_status = 3, .seconds = 1.5}).ok());
  ASSERT_TRUE(receiver.Take(stream_).ok());
  ASSERT_TRUE(receiver.outcome().has_value());
  EXPECT_EQ(receiver.outcome()->exit_status, 3);
}

// Wherever the stream is cut, and whatever the size of its pieces is, each received file must be a
// prefix of the sent file.
TEST_F(FolderStream, TruncatedStreamYieldsPrefixesOfFiles) {
  FolderSender sender = Sender();
  ASSERT_TRUE(sender.Begin().ok());
  Put("process-7.json", "{}");
  Put("process-7/marks.jsonl", "one\ntwo\n");
  Put("process-7/history-000000.pickle", "a whole chunk");
  ASSERT_TRUE(sender.SendNew().ok());
  ASSERT_TRUE(sender.End({}).ok());
  const auto whole = Files(From());
  for (size_t end = 0; end <= stream_.size(); ++end) {
    fs::remove_all(To());
    fs::create_directories(To());
    FolderReceiver receiver(To());
    for (size_t at = 0; at < end;) {
      const size_t more = std::min(end - at, 1 + at % 7);
      ASSERT_TRUE(receiver.Take(std::string_view(stream_).substr(at, more)).ok());
      at += more;
    }
    EXPECT_EQ(receiver.outcome().has_value(), end == stream_.size());
    for (const auto& [name, text] : Files(To())) {
      ASSERT_TRUE(whole.contains(name)) << name;
      EXPECT_TRUE(whole.at(name).starts_with(text)) << name;
    }
  }
  EXPECT_TRUE(Files(To()) == whole);
}

TEST_F(FolderStream, DetectsDamage) {
  FolderSender sender = Sender();
  ASSERT_TRUE(sender.Begin().ok());
  Put("process-7/marks.jsonl", "one\ntwo\n");
  ASSERT_TRUE(sender.SendNew().ok());
  ASSERT_TRUE(sender.End({}).ok());
  std::mt19937_64 dice(5);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = stream_;
    bytes[dice() % bytes.size()] ^= static_cast<char>(1 << dice() % 8);
    FolderReceiver receiver(To());
    const bool taken = receiver.Take(bytes).ok();
    EXPECT_FALSE(taken && receiver.outcome().has_value()) << i;
  }
}

TEST_F(FolderStream, RejectsPathsOutsideTheFolder) {
  Put("../outside", "before");
  for (const std::string path :
       {"../outside", "/etc/passwd", "a/b/c", "", ".", "..", "a/..", "a/.", ".hidden", "a/", "/a",
        "a//b", "a\\b", "a b", "process-7.json.part"}) {
    FolderReceiver receiver = Receiver();
    EXPECT_EQ(receiver.Take(Piece(1, path, 0, 4, "hurt")).code(), absl::StatusCode::kDataLoss)
        << path;
    EXPECT_FALSE(receiver.Take("more").ok());  // the receiver accepts nothing more
  }
  EXPECT_TRUE(Files(To()).empty());
  EXPECT_EQ(Files(root_).at("outside"), "before");
  // The receiver must not follow a link that leads out of its folder, either.
  fs::create_symlink(root_ / "outside", To() / "steps.part");
  EXPECT_FALSE(Receiver().Take(Piece(1, "steps", 0, 4, "hurt")).ok());
  EXPECT_EQ(Files(root_).at("outside"), "before");
}

TEST_F(FolderStream, RejectsInvalidPieces) {
  const auto take = [&](const std::string& bytes) { return Receiver(1000).Take(bytes); };
  EXPECT_TRUE(take(Piece(1, "a", 0, 4, "abcd")).ok());
  EXPECT_FALSE(take(Piece(1, "a", 1, 4, "abc")).ok());   // does not begin at the file's beginning
  EXPECT_FALSE(take(Piece(1, "a", 0, 3, "abcd")).ok());  // more than the total
  EXPECT_FALSE(take(Piece(0, "a", UINT64_MAX, 0, "abcd")).ok());
  EXPECT_FALSE(take(Piece(1, "a", 0, UINT64_MAX, "ab") + Piece(1, "a", 3, UINT64_MAX, "c")).ok());
  EXPECT_FALSE(take(Piece(2, "a", 0, 4, "abcd")).ok());
  EXPECT_EQ(take(Piece(0, "a", 0, 0, std::string(1001, 'x'))).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(take(trace::EncodeFrame(trace::FrameType::kEvents, "x")).ok());
  EXPECT_FALSE(take(trace::EncodeFrame(trace::FrameType::kFilePiece, "\xff")).ok());
  EXPECT_FALSE(take(trace::EncodeFrame(trace::FrameType::kOutcome, "[]")).ok());
  EXPECT_FALSE(FolderReceiver(To()).Take(Piece(1, "a", 0, 4, "abcd")).ok());  // without a greeting
  EXPECT_THAT(std::string(take(trace::EncodeFrame(trace::FrameType::kFolder, "\x63")).message()),
              HasSubstr("different version"));
}

TEST_F(FolderStream, SkipsShellOutputBeforeTheStream) {
  FolderSender sender = Sender();
  ASSERT_TRUE(sender.Begin().ok());
  ASSERT_TRUE(sender.End({}).ok());
  FolderReceiver receiver(To());
  ASSERT_TRUE(receiver.Take("Welcome to box.\n").ok());
  EXPECT_FALSE(receiver.begun());
  ASSERT_TRUE(receiver.Take("\x89V" + std::string("R, no, not yet\n") + stream_.substr(0, 3)).ok());
  ASSERT_TRUE(receiver.Take(stream_.substr(3)).ok());
  EXPECT_TRUE(receiver.outcome().has_value());
  FolderReceiver other(To());
  EXPECT_EQ(other.Take(std::string(100'000, 'x')).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vramscope::program
