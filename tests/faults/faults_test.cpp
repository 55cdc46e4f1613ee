// Runs commands whose n-th memory allocation, or n-th call that writes a file to disk, fails
// (fault_shim.cpp). No signal may end them, they must return the exit status of app/README.md, no
// file may be half-written, and the input and an older output must be unchanged. The values of n
// are a sample. VRAMSCOPE_ALL_FAULTS=1 tries every n, which takes minutes; after `plan` has started
// its worker, only one n for each call stack is tried. The part that all commands run first
// (constructors of libraries, set-up) is tested only with --version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "tests/app/sample_snapshot.h"
#include "tests/faults/fault_server.h"

namespace vramscope::test {
namespace {

constexpr uint64_t kSamples = 150;
// Set-up is the same in all commands, so each test begins this many allocations before the end of
// set-up.
constexpr uint64_t kShared = 200;
constexpr char kOlder[] = "what was there before";

// Returns all numbers from `first` to `last`, or a sample that includes these two.
std::vector<uint64_t> Numbers(uint64_t first, uint64_t last, bool every) {
  const uint64_t apart = every ? 1 : std::max<uint64_t>(1, (last - first + 1) / kSamples);
  std::vector<uint64_t> numbers;
  for (uint64_t n = first; n <= last; n += apart) numbers.push_back(n);
  if (!numbers.empty() && numbers.back() != last) numbers.push_back(last);
  return numbers;
}

bool AllFaults() { return std::getenv("VRAMSCOPE_ALL_FAULTS") != nullptr; }

class Faults : public CliRecording {
 protected:
  Faults() : file_(Write("input.json", {.leak = true})), input_(ReadFile(file_)) {}

  static std::vector<std::string> Faulty(const std::string& name, const std::string& value) {
    return {std::string("LD_PRELOAD=") + VRAMSCOPE_FAULT_SHIM,
            "VRAMSCOPE_FAULT" + (name.empty() ? "" : "_" + name) + "=" + value};
  }

  // Returns the exit status without a fault. For `diff`, this is 1, because the files differ.
  static int Status(const std::vector<std::string>& arguments) {
    return arguments[0] == "diff" ? 1 : 0;
  }

  // Returns the names of the files in the test's folder, which is the commands' working directory.
  std::set<std::string> Names() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "."))
      names.insert(entry.path().filename());
    return names;
  }

  // Returns the number of allocations in the set-up, which all commands run first.
  uint64_t Common() {
    FaultServer server({.arguments = {"--version"}, .folder = folder_.path()});
    return server.Run("none:0").allocations;
  }

  // Returns whether a library ended the run: Qt writes to memory even if it could not allocate it,
  // and glibc ends a process that cannot register the destructor of a thread-local variable. Files
  // must still be intact.
  static bool EndedByLibrary(const FaultServer::Result& run) {
    return run.outcome.status > 128 &&
           (run.of_qt > 0 ||
            run.outcome.err.find("failed to register TLS destructor") != std::string::npos);
  }

  // Runs with the fault twice: first without an output file, then with an older one.
  void Run(FaultServer& server, const std::string& output, const std::string& fault,
           const std::string& whole, const std::vector<int>& expected) {
    for (const bool older : {false, true}) {
      if (older && output.empty()) continue;
      SCOPED_TRACE(fault + (older ? ", over an older file" : ""));
      if (!output.empty()) std::filesystem::remove(output);
      if (older) WriteFile(output, kOlder);
      const std::set<std::string> before = Names();
      const FaultServer::Result run = server.Run(fault);
      const Outcome& outcome = run.outcome;
      ++runs_;
      if (run.faults > 0) ++faults_;
      if (outcome.status == 3 || outcome.status == 4) ++refused_;
      if (EndedByLibrary(run)) {
        ++ended_by_library_;
      } else {
        EXPECT_NE(std::ranges::find(expected, outcome.status), expected.end())
            << "status " << outcome.status << "\n"
            << outcome.err;
      }
      if (outcome.status != 0 && !EndedByLibrary(run)) {
        EXPECT_NE(outcome.err + outcome.out, "");
      }
      EXPECT_EQ(ReadFile(file_), input_);
      std::set<std::string> after = Names();
      if (output.empty()) {
        EXPECT_EQ(after, before);
        continue;
      }
      // The output must have either the complete new contents or the old contents.
      const std::string content = ReadFile(output);
      const bool all = IsWhole(content, whole);
      EXPECT_TRUE(all || (outcome.status != 0 && content == (older ? kOlder : "")))
          << "status " << outcome.status << ", " << content.size() << " bytes of " << whole.size();
      after.erase(std::filesystem::path(output).filename());
      std::set<std::string> others = before;
      others.erase(std::filesystem::path(output).filename());
      EXPECT_EQ(after, others) << "a file was left behind";
    }
  }

  virtual bool IsWhole(const std::string& content, const std::string& whole) const {
    return content == whole;
  }

  // Tries each allocation until the command writes data or starts a thread. Returns the number of
  // the first allocation that was not tried.
  uint64_t RunEach(FaultServer& server, uint64_t first, const std::string& output,
                   const std::vector<int>& expected) {
    if (!output.empty()) std::filesystem::remove(output);
    const std::set<std::string> before = Names();
    const std::vector<FaultServer::Each> all = server.RunEach(first);
    for (const FaultServer::Each& each : all) {
      EXPECT_NE(std::ranges::find(expected, each.status), expected.end())
          << "status " << each.status << " at allocation " << each.number;
      if (each.status == 3 || each.status == 4) {
        ++refused_;
        EXPECT_GT(each.error_bytes, 0u) << each.number;
      }
    }
    runs_ += all.size();
    faults_ += all.size();
    EXPECT_EQ(ReadFile(file_), input_);
    std::set<std::string> after = Names();
    if (!output.empty()) after.erase(std::filesystem::path(output).filename());
    EXPECT_EQ(after, before);
    return all.empty() ? first : all.back().number + 1;
  }

  void SweepAll(const FaultServer::Options& options, const std::string& output,
                uint64_t first = 0) {
    const std::vector<std::string>& arguments = options.arguments;
    if (first == 0) first = std::max(Common(), kShared) - kShared + 1;
    FaultServer server(options);
    const FaultServer::Result plain = server.Run("none:0");
    ASSERT_EQ(plain.outcome.status, Status(arguments)) << plain.outcome.err;
    ASSERT_GT(plain.allocations, first);
    const std::string whole = output.empty() ? "" : ReadFile(output);
    const std::vector<int> expected = {Status(arguments), 3, 4};
    const uint64_t from = AllFaults() ? RunEach(server, first, output, expected) : first;
    std::vector<uint64_t> numbers = Numbers(from, plain.allocations, AllFaults());
    if (AllFaults() && one_per_place_) {
      FaultServer::Options noted = options;
      const std::string places = folder_ / "places";
      noted.environment.push_back("VRAMSCOPE_FAULT_SITES=" + places);
      numbers = FaultServer(noted).FirstOfEachPlace(places);
      std::erase_if(numbers, [&](uint64_t n) { return n < from || n > plain.allocations; });
      std::filesystem::remove(places);
      ASSERT_FALSE(numbers.empty());
    }
    for (const uint64_t n : numbers)
      Run(server, output, "allocation:" + std::to_string(n), whole, expected);
    const size_t of_memory = runs_;
    if (!output.empty()) {
      ASSERT_GT(plain.calls, 0u);
    }
    for (const uint64_t n : Numbers(1, output.empty() ? 0 : plain.calls, true)) {
      for (const char* kind : {"EIO:", "ENOSPC:", "EINTR-always:"})
        Run(server, output, kind + std::to_string(n), whole, {4});
      Run(server, output, "EINTR:" + std::to_string(n), whole, {0, 4});
    }
    // run.py reads these properties.
    RecordProperty("first_request", std::to_string(first));
    RecordProperty("last_request", std::to_string(plain.allocations));
    RecordProperty("runs_of_requests", std::to_string(of_memory));
    RecordProperty("calls", std::to_string(plain.calls));
    RecordProperty("runs_of_calls", std::to_string(runs_ - of_memory));
    RecordProperty("faults", std::to_string(faults_));
    RecordProperty("refused", std::to_string(refused_));
    RecordProperty("ended_by_library", std::to_string(ended_by_library_));
    std::printf(
        "%s: allocations %llu to %llu, %zu runs; %llu calls, %zu runs; %zu faults, %zu refused\n",
        arguments[0].c_str(), static_cast<unsigned long long>(first),
        static_cast<unsigned long long>(plain.allocations), of_memory,
        static_cast<unsigned long long>(plain.calls), runs_ - of_memory, faults_, refused_);
  }
  void ExpectSweeps(const std::vector<std::string>& arguments, const std::string& output) {
    SweepAll({.arguments = arguments, .folder = folder_.path()}, output,
             arguments[0] == "--version" ? 1 : 0);
  }

  const std::string file_, input_;
  bool one_per_place_ = false;
  size_t runs_ = 0, faults_ = 0, refused_ = 0, ended_by_library_ = 0;
};

TEST_F(Faults, Version) { ExpectSweeps({"--version"}, ""); }
TEST_F(Faults, Info) { ExpectSweeps({"info", file_}, ""); }
TEST_F(Faults, ExportSnapshot) {
  const std::string out = folder_ / "out.pickle";
  ExpectSweeps({"export", file_, "--to", "snapshot", "-o", out}, out);
}
TEST_F(Faults, ExportChrome) {
  const std::string out = folder_ / "out.chrome.json";
  ExpectSweeps({"export", file_, "--to", "chrome", "-o", out}, out);
}
TEST_F(Faults, ExportCsv) {
  const std::string out = folder_ / "out.csv";
  ExpectSweeps({"export", file_, "--to", "csv", "-o", out}, out);
}
TEST_F(Faults, ExportHtml) {
  const std::string out = folder_ / "out.html";
  ExpectSweeps({"export", file_, "--to", "html", "-o", out}, out);
}
TEST_F(Faults, ExportSvg) {
  const std::string out = folder_ / "out.svg";
  ExpectSweeps({"export", file_, "--to", "svg", "-o", out}, out);
}
TEST_F(Faults, ExportMemoryTimeline) {
  const std::string out = folder_ / "out.raw.json.gz";
  ExpectSweeps({"export", file_, "--to", "memory-timeline", "-o", out}, out);
}
TEST_F(Faults, Peak) { ExpectSweeps({"peak", file_}, ""); }
TEST_F(Faults, Explain) { ExpectSweeps({"explain", file_}, ""); }
TEST_F(Faults, Diff) {
  const std::string other = Write("other.json", {});
  ExpectSweeps({"diff", file_, other}, "");
}
TEST_F(Faults, Requests) {
  const std::string out = folder_ / "out.csv";
  ExpectSweeps({"requests", file_, "-o", out}, out);
}

// Tests faults before the program's own code, while libraries are loaded and their constructors
// run. The loader ends the process with status 127, and OpenGL's dispatcher aborts it.
TEST_F(Faults, Loading) {
  const std::string counts = folder_ / "counts";
  ASSERT_EQ(RunVramscope({"--version"}, {.environment = Faulty("COUNT", counts)}).status, 0);
  uint64_t all = 0;
  std::istringstream(ReadFile(counts)) >> all;
  const uint64_t own = Common();
  ASSERT_GT(all, own);
  size_t runs = 0;
  const uint64_t apart = AllFaults() ? 1 : std::max<uint64_t>(1, (all - own) / 12);
  for (uint64_t n = 1; n <= all - own; n += apart, ++runs) {
    const Outcome outcome =
        RunVramscope({"--version"}, {.environment = Faulty("", "allocation:" + std::to_string(n))});
    if (outcome.err.find("dispatch index array") != std::string::npos) continue;
    EXPECT_TRUE(std::set<int>({0, 3, 4, 127}).contains(outcome.status))
        << n << ": status " << outcome.status << "\n"
        << outcome.err;
  }
  std::printf("loading: allocations 1 to %llu, %zu runs\n",
              static_cast<unsigned long long>(all - own), runs);
}

class FaultsOfPlans : public Faults {
 protected:
  void SetUp() override {
    const std::string model = folder_ / "config.json";
    WriteFile(model, R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 2, "hidden_act": "silu", "max_position_embeddings": 64})");
    plan_ = {"plan", "--model", model, "--set", "seq=16", "--set", "steps=1", "-o", out_};
  }
  // A trace contains the time at which it was written, so compressed sizes differ by a few bytes.
  bool IsWhole(const std::string& content, const std::string& whole) const override {
    constexpr size_t kApart = 64;
    return content.starts_with(whole.substr(0, 4)) && content.size() + kApart > whole.size() &&
           content.size() < whole.size() + kApart;
  }

  const std::string out_ = folder_ / "out.trace";
  std::vector<std::string> plan_;
};

// Tests the allocations of `vramscope plan` itself. A script that prints recorded output replaces
// the worker, so that no run has to load LibTorch.
TEST_F(FaultsOfPlans, Program) {
  const std::string recorded = folder_ / "recorded", worker = folder_ / "worker";
  const std::string real =
      std::filesystem::path(VRAMSCOPE_PROGRAM).parent_path() / "vramscope-worker";
  if (!std::filesystem::exists(real)) GTEST_SKIP() << "needs vramscope-worker";
  WriteFile(worker, "'" + real + "' \"$@\" | tee '" + recorded + "'\n");
  const Outcome outcome = RunVramscope(plan_, {.environment = {"VRAMSCOPE_WORKER=sh " + worker}});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  WriteFile(worker, "cat '" + recorded + "'\nexec cat > /dev/null\n");
  one_per_place_ = true;
  SweepAll({.arguments = plan_,
            .folder = folder_.path(),
            .environment = {"VRAMSCOPE_WORKER=sh " + worker}},
           out_);
}

// The n-th allocation of the worker fails, too. Then the program must report that the worker was
// lost. Few n are tried, because each run loads LibTorch.
TEST_F(FaultsOfPlans, ProgramAndWorker) {
  const Outcome outcome = RunVramscope(plan_, {.environment = Faulty("COUNT", "/dev/null")});
  if (outcome.err.find("vramscope-worker was found neither") != std::string::npos)
    GTEST_SKIP() << "needs vramscope-worker";
  ASSERT_EQ(outcome.status, 0) << outcome.err;  // complete without a fault
  std::vector<std::string> faults = {"EIO:1", "ENOSPC:3", "EINTR-always:2"};
  const uint64_t apart = AllFaults() ? 1'000 : 20'000;
  for (uint64_t n = 1'000; n <= 140'000; n += apart)
    faults.push_back("allocation:" + std::to_string(n));
  size_t refused = 0;
  for (const std::string& fault : faults) {
    std::filesystem::remove(out_);
    const Outcome ended = RunVramscope(plan_, {.environment = Faulty("", fault)});
    refused += ended.status != 0;
    EXPECT_TRUE(std::set<int>({0, 3, 4, 127}).contains(ended.status))
        << fault << ": status " << ended.status << "\n"
        << ended.err;
    EXPECT_EQ(std::filesystem::exists(out_), ended.status == 0) << fault;
  }
  EXPECT_GT(refused, 3u);
  std::printf("plan with its worker: %zu runs, %zu refused\n", faults.size(), refused);
}

}  // namespace
}  // namespace vramscope::test
