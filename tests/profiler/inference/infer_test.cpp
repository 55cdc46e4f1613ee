// Runs of the plan backend without their categories: inference has to find them again.
#include "profiler/inference/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "profiler/inference/rules.h"
#include "profiler/trace/reader.h"
#include "tests/profiler/inference/stripped.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using testing::Compare;
using testing::Confusion;
using testing::Frames;
using testing::Strip;
using testing::StripOptions;
using testing::Stripped;
using trace::Category;

std::shared_ptr<const trace::Trace> Golden(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const trace::Trace>> read;
  auto& trace = read[name];
  if (trace == nullptr) {
    auto file = trace::ReadTraceFile(
        std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/golden/inference/" + name + ".trace", {});
    EXPECT_TRUE(file.ok()) << file.status();
    trace = *file;
  }
  return trace;
}

struct Has {
  const char* name;
  Frames frames;
  bool annotations;
  bool older;  // the recording begins with the second step
};
constexpr Has kHas[] = {
    {"OursAndAnnotations", Frames::kOurs, true, false},
    {"OursAndAnnotationsCut", Frames::kOurs, true, true},
    {"AllStacks", Frames::kPythonCpp, false, false},
    {"AllStacksCut", Frames::kPythonCpp, false, true},
    {"PythonStacks", Frames::kPython, false, false},
    {"PythonStacksCut", Frames::kPython, false, true},
    {"Annotations", Frames::kNone, true, false},
    {"AnnotationsCut", Frames::kNone, true, true},
    {"Nothing", Frames::kNone, false, false},
    {"NothingCut", Frames::kNone, false, true},
};
constexpr const char* kRuns[] = {
    "gpt2-adamw",           "gpt2-sgd",
    "gpt2-micro-batches",   "gpt2-lora",
    "basics-medium",        "qwen2-0.5b-adamw-loop",
    "qwen2-0.5b-amp-fused", "llama-3.2-1b-amp-checkpointing",
    "llama-3.2-1b-lora",
};

class Runs : public ::testing::TestWithParam<std::tuple<const char*, Has>> {};

TEST_P(Runs, CategoriesStepsAndPhasesAreFound) {
  const auto& [run, has] = GetParam();
  const auto trace = Golden(run);
  const Stripped truth = Strip(
      *trace,
      {.frames = has.frames, .annotations = has.annotations, .first_step = has.older ? 1 : -1});
  const Labels labels = Infer(truth.recording, truth.history);
  const Confusion confusion = Compare(truth, labels);
  SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
  EXPECT_GE(Confusion::Right(confusion.peak), 0.99);
  EXPECT_GE(Confusion::Right(confusion.time), 0.92);
  // With LoRA the frozen parameters have no gradients; without the stacks of Module._apply nothing
  // tells them from buffers.
  const bool stacks = has.frames == Frames::kPython || has.frames == Frames::kPythonCpp;
  if (std::string(run).find("lora") == std::string::npos || (stacks && !has.older)) {
    EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
  }
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kOptimizerState));
  EXPECT_EQ(labels.steps.size(), has.older ? 2u : 3u);
  EXPECT_GE(PhasesRight(truth, labels), 0.99);
}

INSTANTIATE_TEST_SUITE_P(All, Runs,
                         ::testing::Combine(::testing::ValuesIn(kRuns), ::testing::ValuesIn(kHas)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param);
                           std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                           return name + "_" + std::get<1>(info.param).name;
                         });

// Gradients that are filled with zeros stay, so that nothing but repetition tells steps apart.
TEST(Infer, GradientsThatStay) {
  const auto trace = Golden("gpt2-zero-grad-zero");
  for (const Has& has : kHas) {
    SCOPED_TRACE(has.name);
    const Stripped truth = Strip(
        *trace,
        {.frames = has.frames, .annotations = has.annotations, .first_step = has.older ? 1 : -1});
    const Labels labels = Infer(truth.recording, truth.history);
    const Confusion confusion = Compare(truth, labels);
    SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
    EXPECT_EQ(labels.steps.size(), has.older ? 2u : 3u);
    EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter) || has.older);
    if (!has.older) {
      EXPECT_GE(Confusion::Right(confusion.peak), 0.99);
      EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kOptimizerState));
      continue;
    }
    // Older than the recording, a gradient and the two moments look the same: as many, not which.
    for (const Category c :
         {Category::kParameter, Category::kGradient, Category::kOptimizerState}) {
      double is = 0, said = 0;
      for (size_t other = 0; other < trace::kCategoryCount; ++other) {
        is += confusion.peak[static_cast<size_t>(c)][other];
        said += confusion.peak[other][static_cast<size_t>(c)];
      }
      EXPECT_NEAR(said, is, 0.01 * is) << trace::Name(c);
    }
  }
}

TEST(Infer, EveryConclusionNamesItsRule) {
  const Stripped truth = Strip(*Golden("gpt2-adamw"), {});
  const Labels labels = Infer(truth.recording, truth.history);
  for (uint32_t a = 0; a < labels.category.size(); ++a) {
    ASSERT_NE(labels.category[a], Category::kUnknown) << a;
    ASSERT_NE(RuleName(labels.rule[a]), "") << a;
  }
  for (const Labels::Retag& r : labels.retags) EXPECT_NE(RuleName(r.rule), "");
  for (const Labels::Step& s : labels.steps) EXPECT_NE(RuleName(s.rule), "");
  for (const Labels::PhaseRange& p : labels.phases) EXPECT_NE(RuleName(p.rule), "");
}

TEST(Infer, RulesHaveNames) {
  for (int rule = 1; rule < kRuleCount; ++rule) {
    EXPECT_NE(RuleName(static_cast<uint8_t>(rule)), "") << rule;
  }
  EXPECT_EQ(RuleName(kSaid), "");
  EXPECT_EQ(RuleName(kRuleCount), "");
  EXPECT_EQ(RuleName(255), "");
}

// What Emit relies on.
TEST(Infer, LabelsAreInOrder) {
  for (const char* run : kRuns) {
    for (const Has& has : kHas) {
      const Stripped truth = Strip(*Golden(run), {.frames = has.frames,
                                                  .annotations = has.annotations,
                                                  .first_step = has.older ? 1 : -1,
                                                  .cut = 0.7});
      const Labels labels = Infer(truth.recording, truth.history);
      const uint32_t entries = truth.recording.entries.size();
      const auto& allocations = truth.history.allocations;
      ASSERT_EQ(labels.category.size(), allocations.size());
      uint32_t at = 0;
      for (const Labels::Step& s : labels.steps) {
        EXPECT_LE(at, s.begin);
        EXPECT_LT(s.begin, s.end);
        EXPECT_LE(s.end, entries);
        at = s.end;
      }
      at = 0;
      for (const Labels::PhaseRange& p : labels.phases) {
        EXPECT_LE(at, p.begin);
        EXPECT_LT(p.begin, p.end);
        at = p.end;
        for (const Labels::Step& s : labels.steps) {
          EXPECT_FALSE(p.begin < s.begin && s.begin < p.end) << "a phase across a step's begin";
          EXPECT_FALSE(p.begin < s.end && s.end < p.end) << "a phase across a step's end";
        }
      }
      EXPECT_LE(at, entries);
      at = 0;
      for (const Labels::Retag& r : labels.retags) {
        EXPECT_LE(at, r.at);
        at = r.at;
        ASSERT_LT(r.at, entries);
        ASSERT_LT(r.allocation, allocations.size());
        const uint32_t born = allocations.alloc[r.allocation];
        EXPECT_TRUE(born == recording::kNoEntry || born < r.at) << "a retag before its request";
        EXPECT_GE(allocations.free_completed[r.allocation], r.at) << "a retag after its free";
      }
      const auto known =
          static_cast<uint32_t>(truth.recording.strings.size() + labels.strings.size());
      for (uint32_t a = 0; a < allocations.size(); ++a) {
        ASSERT_LT(labels.op[a].value, known);
        ASSERT_LT(labels.module[a].value, known);
      }
    }
  }
}

TEST(Infer, NothingComesOfNothing) {
  const Labels labels = Infer({}, {});
  EXPECT_TRUE(labels.category.empty());
  EXPECT_TRUE(labels.steps.empty());
}

TEST(Infer, OperatorsAndModules) {
  const auto trace = Golden("gpt2-adamw");
  const Stripped truth = Strip(*trace, {.frames = Frames::kOurs});
  const Labels labels = Infer(truth.recording, truth.history);
  const auto text = [&](trace::StringId id) -> std::string {
    const auto& file = truth.recording.strings;
    return id.value < file.size() ? file[id.value] : labels.strings[id.value - file.size()];
  };
  for (uint32_t a = 0; a < 1000; ++a) {
    EXPECT_EQ(text(labels.op[a]), trace->String(trace->allocations.op[a]));
    EXPECT_EQ(text(labels.module[a]), trace->String(trace->allocations.module[a]));
  }
}

}  // namespace
}  // namespace vramscope::inference
