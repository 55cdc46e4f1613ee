// Commands whose n-th request of memory, or n-th call that brings a file to the disk, fails
// (fault_shim.cpp): no signal, the exit status that app/README.md has, no half-written file, the
// input and an older output as they were. n is sampled. VRAMSCOPE_ALL_FAULTS=1 takes every place
// that asks for memory (the first n with each stack) and every call, VRAMSCOPE_ALL_FAULTS=n every n
// (hours).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

constexpr uint64_t kSamples = 12;
constexpr uint64_t kEnd = 1000;  // requests of --version that may be behind main()'s beginning
constexpr char kOlder[] = "what was there before";

struct Counts {
  uint64_t allocations = 0, calls = 0;
};

class Faults : public CliRecording {
 protected:
  Faults() : file_(Write("input.json", {.leak = true})), input_(ReadFile(file_)) {}

  static std::vector<std::string> Environment(const std::string& name, const std::string& value) {
    return {std::string("LD_PRELOAD=") + VRAMSCOPE_FAULT_SHIM, name + "=" + value};
  }

  // What a command ends with where nothing fails: two files differ.
  static int Status(const std::vector<std::string>& arguments) {
    return arguments[0] == "diff" ? 1 : 0;
  }

  Counts CountsOf(const std::vector<std::string>& arguments) {
    const std::string counts = folder_ / "counts";
    const Outcome outcome =
        RunVramscope(arguments, {.environment = Environment("VRAMSCOPE_FAULT_COUNT", counts)});
    EXPECT_EQ(outcome.status, Status(arguments)) << outcome.err;
    Counts result;
    std::istringstream(ReadFile(counts)) >> result.allocations >> result.calls;
    std::filesystem::remove(counts);
    return result;
  }

  // One for each place that asks for memory.
  std::set<uint64_t> Sites(const std::vector<std::string>& arguments) {
    const std::string sites = folder_ / "sites";
    const Outcome outcome =
        RunVramscope(arguments, {.environment = Environment("VRAMSCOPE_FAULT_SITES", sites)});
    EXPECT_EQ(outcome.status, Status(arguments)) << outcome.err;
    std::set<uint64_t> numbers;
    std::istringstream in(ReadFile(sites));
    for (uint64_t number = 0; in >> number;) numbers.insert(number);
    std::filesystem::remove(sites);
    return numbers;
  }

  static std::string AllFaults() {
    const char* all = std::getenv("VRAMSCOPE_ALL_FAULTS");
    return all == nullptr ? "" : all;
  }

  // From 1 on: all of them, or as many as kSamples, those at the beginning and the end among them.
  static std::set<uint64_t> Numbers(uint64_t count, bool every) {
    std::set<uint64_t> numbers;
    for (uint64_t i = 1; i <= count; ++i)
      if (every || count <= kSamples || i % (count / kSamples) == 0 || i == 1) numbers.insert(i);
    return numbers;
  }

  // What is in the folder of the test, in which the commands run: whatever they leave behind.
  std::set<std::string> Names() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "."))
      names.insert(entry.path().filename());
    return names;
  }

  // Runs with the fault, over an older file in the output's place and without one.
  void Run(const std::vector<std::string>& arguments, const std::string& output,
           const std::string& fault, const std::string& whole, std::vector<int> expected) {
    for (const bool older : {false, true}) {
      if (older && output.empty()) continue;
      SCOPED_TRACE(arguments[0] + " with " + fault + (older ? ", over an older file" : ""));
      if (!output.empty()) std::filesystem::remove(output);
      if (older) WriteFile(output, kOlder);
      const std::set<std::string> before = Names();
      const Outcome outcome = RunVramscope(
          arguments,
          {.folder = folder_.path(), .environment = Environment("VRAMSCOPE_FAULT", fault)});
      ++runs_;
      if (outcome.status != Status(arguments)) ++refused_;
      // OpenGL's dispatcher ends a process by itself, in a constructor of its own.
      if (outcome.err.find("dispatch index array") != std::string::npos) continue;
      EXPECT_NE(std::ranges::find(expected, outcome.status), expected.end())
          << "status " << outcome.status << "\n"
          << outcome.err;
      if (outcome.status != 0) {
        EXPECT_NE(outcome.err, "");
      }
      EXPECT_EQ(ReadFile(file_), input_);
      std::set<std::string> after = Names();
      if (output.empty()) {
        EXPECT_EQ(after, before);
        continue;
      }
      // All of it, or what was there before.
      const std::string content = ReadFile(output);
      if (outcome.status == 0) {
        EXPECT_EQ(content, whole);
      } else if (content != whole) {
        EXPECT_EQ(content, older ? kOlder : "");
      }
      after.erase(std::filesystem::path(output).filename());
      std::set<std::string> others = before;
      others.erase(std::filesystem::path(output).filename());
      EXPECT_EQ(after, others) << "a file was left behind";
    }
  }

  void ExpectSweeps(const std::vector<std::string>& arguments, const std::string& output) {
    const Counts counts = CountsOf(arguments);
    const std::string whole = output.empty() ? "" : ReadFile(output);
    // 127: the loader's own, before any of the program's code runs. Where a request of a library's
    // fails that does without, the command succeeds.
    // Nine of ten requests are those of libraries' constructors, alike for all commands: Version
    // has them.
    uint64_t start = 0;
    if (arguments[0] != "--version") {
      const uint64_t before = CountsOf({"--version"}).allocations;
      ASSERT_LT(before, counts.allocations);
      start = before - std::min(before, kEnd);
    }
    std::set<uint64_t> requests;
    if (AllFaults() == "1") {
      requests = Sites(arguments);
      requests.erase(requests.begin(), requests.upper_bound(start));
    } else {
      for (const uint64_t n : Numbers(counts.allocations - start, AllFaults() == "n"))
        requests.insert(start + n);
    }
    for (const uint64_t n : requests)
      Run(arguments, output, "allocation:" + std::to_string(n), whole,
          {Status(arguments), 3, 4, 127});
    const size_t failing = refused_;
    if (!output.empty()) {
      ASSERT_GT(counts.calls, 0u);
    }
    for (const uint64_t n : Numbers(output.empty() ? 0 : counts.calls, !AllFaults().empty())) {
      for (const char* kind : {"EIO:", "ENOSPC:", "EINTR-always:"})
        Run(arguments, output, kind + std::to_string(n), whole, {4});
      Run(arguments, output, "EINTR:" + std::to_string(n), whole, {0, 4});
    }
    std::printf(
        "%s: %llu requests of memory, %zu of them failed, %zu runs refused; %llu calls; "
        "%zu runs\n",
        arguments[0].c_str(), static_cast<unsigned long long>(counts.allocations), requests.size(),
        failing, static_cast<unsigned long long>(counts.calls), runs_);
  }

  const std::string file_, input_;
  size_t runs_ = 0, refused_ = 0;
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

// The worker fails likewise; of a plan few are tried, as each starts one.
TEST_F(Faults, Plan) {
  const std::string out = folder_ / "out.trace", model = folder_ / "config.json";
  WriteFile(model, R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32,
      "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
      "num_key_value_heads": 2, "hidden_act": "silu", "max_position_embeddings": 64})");
  const std::vector<std::string> plan = {"plan",  "--model", model, "--set", "seq=16",
                                         "--set", "steps=1", "-o",  out};
  const Outcome outcome = RunVramscope(plan);
  if (outcome.err.find("worker") != std::string::npos) GTEST_SKIP() << "needs vramscope-worker";
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* fault : {"EIO:1", "ENOSPC:3", "EINTR-always:2", "allocation:66000"})
    Run(plan, out, fault, "", {3, 4});
  if (AllFaults().empty()) return;
  // Places of this process and of the worker's, which fails at its own n-th and is said to be gone.
  const std::string whole = ReadFile(out);
  std::set<uint64_t> requests = Sites(plan);
  requests.erase(requests.begin(),
                 requests.upper_bound(CountsOf({"--version"}).allocations - kEnd));
  for (const uint64_t n : requests)
    Run(plan, out, "allocation:" + std::to_string(n), whole, {0, 3, 4, 127});
  for (uint64_t n = 1; n <= 64; ++n)
    for (const char* kind : {"EIO:", "ENOSPC:", "EINTR-always:", "EINTR:"})
      Run(plan, out, kind + std::to_string(n), whole, {0, 3, 4});
  std::printf("plan: %zu requests of memory failed; %zu runs, %zu refused\n", requests.size(),
              runs_, refused_);
}

}  // namespace
}  // namespace vramscope::test
