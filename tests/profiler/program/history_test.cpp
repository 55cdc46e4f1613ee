// Reads folders with files like those that the hooks in a program write.
#include "profiler/program/history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "profiler/program/program.h"
#include "profiler/program/verdict.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/processes.h"
#include "tests/profiler/importers/pickle_writer.h"

namespace vramscope::program {
namespace {

using importers::testing::Json;
using importers::testing::ToPickle;

class ProgramFolder : public ::testing::Test {
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
  // Takes an initializer_list: {json} would be an array in GCC, but the element itself in clang.
  static std::string Chunk(std::initializer_list<Json> entries, Json segments = Json::array()) {
    return ToPickle({{"segments", std::move(segments)},
                     {"device_traces", Json::array({Json(std::vector<Json>(entries))})},
                     {"allocator_settings", Json::object()}});
  }

  std::filesystem::path path_;
};

TEST_F(ProgramFolder, JoinsChunksIntoOneHistory) {
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
  // Frames of files in the hooks' folder are removed, so the third entry's stack has one frame.
  EXPECT_EQ(history->stacks.Frames(history->entries.stack[1]).size(), 2u);
  EXPECT_EQ(history->stacks.Frames(history->entries.stack[2]).size(), 1u);
  EXPECT_EQ(history->entries.stack[1], history->entries.stack[3]);
  EXPECT_EQ(history->stacks.frame_count(), 2u);
}

TEST_F(ProgramFolder, HistoryEndsAtDamagedChunk) {
  Write("process-7/history-000000.pickle", Chunk({Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
  Write("process-7/history-000001.pickle", "nothing of the kind");
  const auto history = ReadHistory(process(), {});
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->entries.size(), 1u);
  ASSERT_EQ(history->warnings.size(), 1u);
  EXPECT_NE(history->warnings[0].find("chunk 1"), std::string::npos);
}

TEST_F(ProgramFolder, ReturnsNotFoundWithoutHistory) {
  EXPECT_TRUE(absl::IsNotFound(ReadHistory(process(), {}).status()));
}

TEST_F(ProgramFolder, ReadsProcessesAndTheirAssumptions) {
  Write("process-7/history-000000.pickle", Chunk({Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
  Write("process-7/marks.jsonl", "[\"X\",0,0,5,0]\n");
  Write(
      "process-7.json",
      R"({"pid": 7, "rank": 2, "world_size": 4, "torch": "2.11.0", "cuda": "13.0", "ended": "enough",
            "model": {"name": "LM", "parameters": 10, "trainable": 8, "bytes": 40},
            "assumptions": [{"what": "w", "where": "x", "bytes": 5}, 3]})");
  Write("process-8.json", R"({"pid": 8, "cuda": ""})");
  Write("process-9.json", "[[[");
  Write("platform-7.json", R"({"assumptions": [{"what": "p", "where": "q", "bytes": 6}],
            "launches": 1000, "recognised_launches": 999, "unrecognised": [{"kernel": "_Z3new", "count": 1}, 4],
            "unknown_functions": [{"function": "cudaFoo", "library": "libcudart.so.13", "count": 2}, 4],
            "succeeding_functions": [{"function": "cudaBar", "library": "libcudart.so.13", "count": 1}]})");
  const auto program = ReadProgram(path_.string(), {.title = "t"});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->processes.size(), 2u);
  EXPECT_EQ(program->warnings.size(), 1u);
  ASSERT_EQ(program->runs.size(), 1u);
  const About& about = program->runs[0].about;
  EXPECT_EQ(about.rank, 2u);
  ASSERT_EQ(about.assumptions.size(), 5u);
  EXPECT_EQ(about.launches.recognised, 999u);
  EXPECT_TRUE(about.assumptions[2].what.starts_with("99.9 % of 1000 launches"));
  EXPECT_EQ(about.assumptions[2].where, "_Z3new");
  EXPECT_EQ(about.assumptions[3].what,
            "cudaFoo() is not emulated. It was called 2 times and returned \"not supported\"");
  EXPECT_EQ(about.assumptions[3].where, "libcudart.so.13");
  EXPECT_EQ(about.assumptions[4].what,
            "cudaBar() is not emulated. It was called 1 times and returned success without doing "
            "anything");
  const trace::Trace& t = *program->runs[0].trace;
  EXPECT_EQ(t.info.backend, trace::Backend::kPlan);
  EXPECT_FALSE(t.info.measured);
  EXPECT_EQ(t.info.model.trainable_count, 8u);
  EXPECT_TRUE(t.complete);
}

TEST_F(ProgramFolder, ReadsHistoryWhileTheProgramRuns) {
  FolderReader reader(path_.string(), {.title = "t"});
  const auto read = [&](bool ended) {
    auto program = reader.Read(ended);
    EXPECT_TRUE(program.ok());
    return *std::move(program);
  };
  EXPECT_TRUE(read(false).processes.empty());
  Write("process-7.json", R"({"pid": 7, "torch": "2.11.0", "cuda": "13.0"})");
  EXPECT_EQ(read(false).processes.size(), 1u);
  EXPECT_TRUE(read(false).runs.empty());

  Write("process-7/history-000000.pickle", Chunk({Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
  Write("process-7/marks.jsonl", "[\"X\",0,0,5,0]\n[\"F\",0,1");
  const Program first = read(false);
  ASSERT_EQ(first.runs.size(), 1u);
  EXPECT_EQ(first.runs[0].trace->allocations.size(), 1u);
  EXPECT_FALSE(first.runs[0].trace->complete);
  EXPECT_TRUE(first.runs[0].trace->warnings.empty());
  // There are no new data, so the same trace is returned.
  EXPECT_EQ(read(false).runs[0].trace, first.runs[0].trace);

  Write("process-7/marks.jsonl", "[\"X\",0,0,5,0]\n[\"F\",0,1,6,0]\n[\"f\",0,2,9,0]\n[\"broken");
  Write("process-7/history-000001.pickle", Chunk({Entry("alloc", 1 << 22, 512, "/a.py", 205)}));
  Write("process-7.json",
        R"({"pid": 7, "torch": "2.11.0", "cuda": "13.0", "clock": "virtual", "ended": "enough"})");
  const Program second = read(false);
  EXPECT_EQ(second.runs[0].trace->allocations.size(), 2u);
  // The trace that was read piece by piece must equal a trace that is read in one piece.
  const Program last = read(true);
  const auto whole = ReadProgram(path_.string(), {.title = "t"});
  ASSERT_TRUE(whole.ok());
  for (const Program& program : {last, *whole}) {
    const trace::Trace& t = *program.runs[0].trace;
    EXPECT_TRUE(t.complete);
    EXPECT_EQ(program.runs[0].begin_ns, 5);
    EXPECT_EQ(t.events.kind, whole->runs[0].trace->events.kind);
    EXPECT_EQ(t.events.time_ns, whole->runs[0].trace->events.time_ns);
    EXPECT_EQ(t.slices.size(), whole->runs[0].trace->slices.size());
  }
}

TEST_F(ProgramFolder, JoinsRanksIntoOneTrace) {
  for (const char* rank : {"0", "1"}) {
    const std::string pid = std::string("1") + rank;
    std::filesystem::create_directories(path_ / ("process-" + pid));
    Write("process-" + pid + "/history-000000.pickle",
          Chunk({Entry("alloc", 1 << 21, 512, "/a.py", 101)}));
    Write("process-" + pid + ".json", R"({"pid": )" + pid + R"(, "rank": )" + rank +
                                          R"(, "host": "node)" + rank +
                                          R"(", "world_size": 2, "cuda": "13.0", "ended": "end"})");
  }
  auto program = ReadProgram(path_.string(), {});
  ASSERT_TRUE(program.ok());
  const auto whole = JoinRuns(*program);
  EXPECT_EQ(trace::DevicesOf(*whole), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(trace::NameOfDevice(*whole, 1), "rank 1 (node1)");
  EXPECT_EQ(program->runs[1].first_device, 1);
}

TEST(Verdict, ShortExceptionKeepsWholeCharacters) {
  EXPECT_EQ(
      ShortException("OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 "
                     "has a total capacity of 23.52 GiB of which ...\nmore"),
      "OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB");
  EXPECT_EQ(ShortException("ValueError: no such batch.\n"), "ValueError: no such batch");
  EXPECT_EQ(ShortException(""), "");
  // The text must not be cut in the middle of a character.
  const std::string cut = ShortException(std::string(299, 'a') + "\u00e4\u00e4");
  EXPECT_EQ(cut, std::string(299, 'a') + " \u2026");
}

TEST(Verdict, ShortCommandOmitsInterpreterAndFolder) {
  EXPECT_EQ(ShortCommand("/venv/bin/python3 /home/me/train.py --batch 8"), "train.py --batch 8");
  EXPECT_EQ(ShortCommand("python -m my.training"), "-m my.training");
  EXPECT_EQ(ShortCommand("torchrun train.py"), "torchrun train.py");
  EXPECT_EQ(ShortCommand("train.py"), "train.py");
  EXPECT_EQ(ShortCommand("python"), "python");
  EXPECT_EQ(ShortCommand(""), "");
}

TEST(Verdict, PrintedExceptionFollowsTheTraceback) {
  const std::string syntax =
      "starting\n  File \"/home/me/train.py\", line 2\n    model = f(4, 4.cuda()\n"
      "                  ^\nSyntaxError: invalid decimal literal\n";
  EXPECT_EQ(PrintedException(syntax), "SyntaxError: invalid decimal literal");
  EXPECT_EQ(LastPythonLine(syntax), "train.py:2");
  EXPECT_EQ(PrintedException("Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in "
                             "<module>\n    import nothing\nModuleNotFoundError: No module named "
                             "'nothing'\nbye\n"),
            "ModuleNotFoundError: No module named 'nothing'");
  EXPECT_EQ(PrintedException("Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in "
                             "<module>\n    raise KeyboardInterrupt\nKeyboardInterrupt"),
            "KeyboardInterrupt");
  EXPECT_EQ(PrintedException("  File \"x\", line 1\n\nE: b\n"), "E: b");
  for (const char* none :
       {"", "all is well\n", "  File \"x", "  File \"x\", line 1\n",
        "  File \"x\", line 1\nnot an exception: 1\n", "see  File \"x\"\na: b\n"})
    EXPECT_EQ(PrintedException(none), "") << none;
}

TEST(Verdict, SaysWhatTheOutputEndsWith) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in <module>\n    f()\n"
      "ValueError: no\n";
  EXPECT_EQ(FinalMessage(raised), "ValueError: no");
  EXPECT_EQ(FinalMessage(raised + "caught; going on\n"), "");
  EXPECT_EQ(FinalMessage("usage: a.py [-h]\na.py: error: unrecognized arguments: --b 1\n\n"),
            "unrecognized arguments: --b 1");
  EXPECT_EQ(FinalMessage("all is well\n"), "");
  EXPECT_EQ(FinalMessage(""), "");
  const Outcome failed{.exit_status = 1}, ended{};
  EXPECT_EQ(NothingSeen({}, failed, true, raised).message(), "ValueError: no");
  EXPECT_NE(NothingSeen({}, ended, true, raised).message(), "ValueError: no");
}

TEST(Verdict, SaysWhyPythonFailedInsteadOfPossibleCauses) {
  const Outcome failed{.exit_status = 2}, ended{};
  const auto text = [](const Program& seen, const Outcome& outcome) {
    return std::string(NothingSeen(seen, outcome, true).message());
  };
  const Program named{.python = true, .python_failure = "can't open file '/x/a.py'"};
  EXPECT_EQ(text(named, failed), "the program ended with status 2: can't open file '/x/a.py'");
  EXPECT_NE(text(named, ended).find("never imported torch"), std::string::npos);
  const std::string without = text({.python = true}, failed);
  EXPECT_NE(without.find("the program ended with status 2: "), std::string::npos);
  EXPECT_EQ(without.find("env -i"), std::string::npos);
  EXPECT_NE(text({}, failed).find("env -i"), std::string::npos);
}

TEST(Verdict, WarnsOfProgramThatWasEndedBecauseItWasIdle) {
  const Outcome idle{.idle = true};
  EXPECT_TRUE(EndedWell({}, idle));
  EXPECT_NE(WarningOf({}, idle).find("vramscope ended it"), std::string::npos);
  const Program seen{.processes = {About{.ended = "exception", .exception = "E: no"}}};
  EXPECT_NE(WarningOf(seen, idle).find("E: no"), std::string::npos);
}

TEST(Verdict, LastPythonLineIsInTheUsersCode) {
  EXPECT_EQ(LastPythonLine("Traceback (most recent call last):\n"
                           "  File \"/old.py\", line 1, in f\n"
                           "Traceback (most recent call last):\n"
                           "  File \"/home/me/train.py\", line 31, in <module>\n    main()\n"
                           "  File \"/home/me/train.py\", line 12, in main\n    model(x)\n"
                           "  File \"/v/lib/python3.11/site-packages/torch/nn.py\", line 5, in g\n"
                           "  File \"/v/emulated/python/vramscope/hooks.py\", line 9, in h\n"
                           "ValueError: File \"x\", line 7\n"),
            "train.py:12");
  EXPECT_EQ(LastPythonLine("all is well\n"), "");
  EXPECT_EQ(LastPythonLine("Traceback (most recent call last):\n  File \"x"), "");
}

TEST(Verdict, OutcomeRoundTripsThroughJson) {
  Outcome outcome{.started = absl::NotFoundError("'x': no such program"),
                  .exit_status = 3,
                  .signal = 9,
                  .interrupted = true,
                  .idle = true,
                  .write_error = "disk full",
                  .seconds = 1.5};
  const auto back = ParseOutcome(OutcomeJson(outcome));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->started, outcome.started);
  EXPECT_EQ(back->exit_status, 3);
  EXPECT_EQ(back->signal, 9);
  EXPECT_TRUE(back->interrupted);
  EXPECT_TRUE(back->idle);
  EXPECT_EQ(back->write_error, "disk full");
  EXPECT_EQ(back->seconds, 1.5);
  EXPECT_FALSE(ParseOutcome("nothing").ok());
  EXPECT_TRUE(ParseOutcome(R"({"exit_status": "x"})").ok());
}

TEST(About, IgnoresValuesOfTheWrongType) {
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
