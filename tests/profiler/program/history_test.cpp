// Output folders written as a program's hooks write them.
#include "profiler/program/history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profiler/program/program.h"
#include "tests/profiler/importers/pickle_writer.h"

namespace vramscope::program {
namespace {

using importers::testing::Json;
using importers::testing::ToPickle;

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("vramscope-program-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(path_ / "process-7");
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string process() const { return (path_ / "process-7").string(); }

  static Json Entry(const char* action, uint64_t address, uint64_t size, const char* file,
                    int64_t time_us) {
    return {{"action", action},
            {"addr", address},
            {"size", size},
            {"stream", 0},
            {"time_us", time_us},
            {"frames", Json::array({{{"name", "run"}, {"filename", file}, {"line", 3}},
                                    {{"name", "main"}, {"filename", "/train.py"}, {"line", 9}}})}};
  }
  static std::string Chunk(Json entries, Json segments = Json::array()) {
    return ToPickle({{"segments", std::move(segments)},
                     {"device_traces", Json::array({std::move(entries)})},
                     {"allocator_settings", Json::object()}});
  }

  std::filesystem::path path_;
};

TEST_F(Folder, ChunksAreOneHistory) {
  Write("process-7/history-000000.pickle",
        Chunk({Entry("segment_alloc", 1 << 21, 1 << 21, "/a.py", 100),
               Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
  Write("process-7/history-000001.pickle",
        Chunk({Entry("free_requested", 1 << 21, 512, "/hooks/wrap.py", 205),
               Entry("free_completed", 1 << 21, 512, "/a.py", 206)}));
  const auto history = ReadHistory(process(), {.own_folders = {"/hooks"}});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(history->entries.size(), 4u);
  EXPECT_EQ(history->start_unix_ns, 100'000);
  EXPECT_EQ(history->entries.time_ns.back(), 106'000);
  // The watcher's own frame is left out, so that the third entry's stack is one frame.
  EXPECT_EQ(history->stacks.Frames(history->entries.stack[1]).size(), 2u);
  EXPECT_EQ(history->stacks.Frames(history->entries.stack[2]).size(), 1u);
  EXPECT_EQ(history->entries.stack[1], history->entries.stack[3]);
  EXPECT_EQ(history->stacks.frame_count(), 2u);
}

TEST_F(Folder, AChunkThatIsDamagedEndsTheHistory) {
  Write("process-7/history-000000.pickle", Chunk({Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
  Write("process-7/history-000001.pickle", "nothing of the kind");
  const auto history = ReadHistory(process(), {});
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->entries.size(), 1u);
  ASSERT_EQ(history->warnings.size(), 1u);
  EXPECT_NE(history->warnings[0].find("chunk 1"), std::string::npos);
}

TEST_F(Folder, NoHistoryIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ReadHistory(process(), {}).status()));
}

TEST_F(Folder, AProgramIsItsProcesses) {
  Write("process-7/history-000000.pickle", Chunk({Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
  Write("process-7/marks.jsonl", "[\"X\",0,0,5,0]\n");
  Write(
      "process-7.json",
      R"({"pid": 7, "rank": 2, "world_size": 4, "torch": "2.11.0", "cuda": "13.0", "ended": "enough",
            "model": {"name": "LM", "parameters": 10, "trainable": 8, "bytes": 40},
            "assumptions": [{"what": "w", "where": "x", "bytes": 5}, 3]})");
  Write("process-8.json", R"({"pid": 8, "cuda": ""})");
  Write("process-9.json", "[[[");
  Write("platform-7.json", R"({"assumptions": [{"what": "p", "where": "q", "bytes": 6}]})");
  const auto program = ReadProgram(path_.string(), {.title = "t"});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->processes.size(), 2u);
  EXPECT_EQ(program->warnings.size(), 1u);
  ASSERT_EQ(program->runs.size(), 1u);
  const About& about = program->runs[0].about;
  EXPECT_EQ(about.rank, 2u);
  EXPECT_EQ(about.assumptions.size(), 2u);
  const trace::Trace& t = *program->runs[0].trace;
  EXPECT_EQ(t.info.backend, trace::Backend::kPlan);
  EXPECT_FALSE(t.info.measured);
  EXPECT_EQ(t.info.model.trainable_count, 8u);
  EXPECT_TRUE(t.complete);
}

TEST(About, WhatIsOfAnotherKindIsNotThere) {
  const auto about =
      ParseAbout(R"({"pid": "7", "rank": -1, "torch": 3, "model": [], "assumptions": {}})");
  ASSERT_TRUE(about.ok());
  EXPECT_EQ(about->pid, 0);
  EXPECT_EQ(about->rank, 0u);
  EXPECT_EQ(about->torch, "");
  EXPECT_FALSE(ParseAbout("").ok());
  EXPECT_FALSE(ParseAbout(std::string(100'000, '[')).ok());
}

}  // namespace
}  // namespace vramscope::program
