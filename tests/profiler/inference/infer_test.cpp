// Removes the categories of plans. Inference has to restore them.
#include "profiler/inference/infer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
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

struct Variant {
  const char* name;
  Frames frames;
  bool annotations;
  bool older;  // the recording begins with the second step
};
constexpr Variant kVariants[] = {
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

// Checks the preconditions of Emit().
void ExpectWellFormed(const Labels& labels, const recording::Recording& recording,
                      const recording::History& history) {
  const uint32_t entries = recording.entries.size();
  const auto& allocations = history.allocations;
  ASSERT_EQ(labels.category.size(), allocations.size());
  ASSERT_EQ(labels.rule.size(), allocations.size());
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
    EXPECT_TRUE(born == recording::kNoEntry || born < r.at) << "a retag before its allocation";
    EXPECT_GE(allocations.free_completed[r.allocation], r.at) << "a retag after its free";
  }
  const auto known = static_cast<uint32_t>(recording.strings.size() + labels.strings.size());
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    ASSERT_LT(labels.op[a].value, known);
    ASSERT_LT(labels.module[a].value, known);
    ASSERT_LT(labels.rule[a], kRuleCount);
  }
}

class GoldenRuns : public ::testing::TestWithParam<std::tuple<const char*, Variant>> {};

TEST_P(GoldenRuns, InfersCategoriesStepsAndPhases) {
  const auto& [run, variant] = GetParam();
  const auto trace = Golden(run);
  const Stripped truth = Strip(*trace, {.frames = variant.frames,
                                        .annotations = variant.annotations,
                                        .first_step = variant.older ? 1 : -1});
  const Labels labels = Infer(truth.recording, truth.history);
  const Confusion confusion = Compare(truth, labels);
  SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
  EXPECT_GE(Confusion::Right(confusion.peak), 0.99);
  EXPECT_GE(Confusion::Right(confusion.time), 0.92);
  // With LoRA, frozen parameters have no gradients, so that only stacks with Module._apply
  // distinguish them from buffers.
  const bool stacks = variant.frames == Frames::kPython || variant.frames == Frames::kPythonCpp;
  if (std::string(run).find("lora") == std::string::npos || (stacks && !variant.older)) {
    EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
  }
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kOptimizerState));
  EXPECT_EQ(labels.steps.size(), variant.older ? 2u : 3u);
  EXPECT_GE(PhasesRight(truth, labels), 0.99);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRuns,
                         ::testing::Combine(::testing::ValuesIn(kRuns),
                                            ::testing::ValuesIn(kVariants)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param);
                           std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                           return name + "_" + std::get<1>(info.param).name;
                         });

// The recording of a failed run may end anywhere. If it contains a whole step, inference must be
// nearly as good as for a whole run.
TEST(Infer, IsAccurateWhenRecordingIsCutLate) {
  for (const char* run : {"gpt2-adamw", "gpt2-sgd", "basics-medium", "qwen2-0.5b-adamw-loop"}) {
    for (const Variant& variant : kVariants) {
      for (const double cut : {0.55, 0.65, 0.75, 0.85}) {
        SCOPED_TRACE(fmt::format("{} {} cut at {}", run, variant.name, cut));
        const Stripped truth = Strip(*Golden(run), {.frames = variant.frames,
                                                    .annotations = variant.annotations,
                                                    .first_step = variant.older ? 1 : -1,
                                                    .cut = cut});
        const Labels labels = Infer(truth.recording, truth.history);
        const Confusion confusion = Compare(truth, labels);
        SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
        EXPECT_GE(Confusion::Right(confusion.peak), 0.97);
        EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
      }
    }
  }
}

// If a recording may end in its first step, only a part of the bytes must be right.
TEST(Infer, PeakIsMostlyRightWhenRecordingIsCutEarly) {
  std::vector<const char*> runs(std::begin(kRuns), std::end(kRuns));
  runs.push_back("gpt2-zero-grad-zero");
  for (const char* run : runs) {
    // Autocast makes 16-bit copies of the weights. If the peak is in a forward pass, inference does
    // not recognize them.
    const double from_start = std::string(run).find("amp") == std::string::npos ? 0.95 : 0.69;
    // If no backward pass was recorded, momentum and gradients that are kept look like parameters.
    const bool alike = std::string(run) == "gpt2-sgd" || std::string(run) == "gpt2-zero-grad-zero";
    for (const Frames frames : {Frames::kPythonCpp, Frames::kNone}) {
      for (const bool older : {false, true}) {
        for (const double cut : {0.05, 0.15, 0.3, 0.5}) {
          SCOPED_TRACE(fmt::format("{} {} {} cut at {}", run,
                                   frames == Frames::kNone ? "nothing" : "stacks",
                                   older ? "from the second step" : "from the start", cut));
          const Stripped truth =
              Strip(*Golden(run), {.frames = frames, .first_step = older ? 1 : -1, .cut = cut});
          const Labels labels = Infer(truth.recording, truth.history);
          const Confusion confusion = Compare(truth, labels);
          EXPECT_GE(Confusion::Right(confusion.peak), !older  ? from_start
                                                      : alike ? 0.63
                                                              : 0.85)
              << "MiB at the peak:\n"
              << Confusion::Table(confusion.peak);
        }
      }
    }
  }
}

// The recording begins within the last backward pass, so its peak is at its
// beginning.
TEST(Infer, PeakIsMostlyRightWhenRecordingStartsInLastBackward) {
  for (const char* run : {"gpt2-sgd", "qwen2-0.5b-adamw-loop", "qwen2-0.5b-amp-fused",
                          "llama-3.2-1b-lora", "basics-medium"}) {
    const Stripped truth = Strip(*Golden(run), {.frames = Frames::kNone, .skip = 0.8});
    const Labels labels = Infer(truth.recording, truth.history);
    const Confusion confusion = Compare(truth, labels);
    EXPECT_GE(Confusion::Right(confusion.peak), 0.85) << run << "\n"
                                                      << Confusion::Table(confusion.peak);
  }
}

// A full ring buffer loses the first entries, so the recording may begin anywhere in a step.
TEST(Infer, PeakIsMostlyRightWhenFirstEntriesAreMissing) {
  std::vector<const char*> runs(std::begin(kRuns), std::end(kRuns));
  runs.push_back("gpt2-zero-grad-zero");
  for (const char* run : runs) {
    for (const Frames frames : {Frames::kPythonCpp, Frames::kNone}) {
      for (const double skip : {0.02, 0.1, 0.2, 0.3}) {
        SCOPED_TRACE(fmt::format("{} {} without its first {}", run,
                                 frames == Frames::kNone ? "nothing" : "stacks", skip));
        const Stripped truth = Strip(*Golden(run), {.frames = frames, .skip = skip});
        const Labels labels = Infer(truth.recording, truth.history);
        const Confusion confusion = Compare(truth, labels);
        EXPECT_GE(Confusion::Right(confusion.peak), frames == Frames::kNone ? 0.65 : 0.81)
            << "MiB at the peak:\n"
            << Confusion::Table(confusion.peak);
        ExpectWellFormed(labels, truth.recording, truth.history);
      }
    }
  }
}

// Gradients that are set to zero are not freed, so only repetition shows where a step ends.
TEST(Infer, FindsGradientsThatAreNeverFreed) {
  const auto trace = Golden("gpt2-zero-grad-zero");
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.name);
    const Stripped truth = Strip(*trace, {.frames = variant.frames,
                                          .annotations = variant.annotations,
                                          .first_step = variant.older ? 1 : -1});
    const Labels labels = Infer(truth.recording, truth.history);
    const Confusion confusion = Compare(truth, labels);
    SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
    EXPECT_EQ(labels.steps.size(), variant.older ? 2u : 3u);
    EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
    EXPECT_GE(Confusion::Right(confusion.peak), 0.99);
    EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kOptimizerState));
    EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kGradient));
  }
}

// If the replay of the first step does not give the recorded addresses, inference can tell how many
// gradients there are, but not which blocks they are.
TEST(Infer, CountsUnfreedGradientsWithoutStartSegments) {
  Stripped truth = Strip(*Golden("gpt2-zero-grad-zero"), {.first_step = 1});
  truth.history.start_segments.clear();
  const Labels labels = Infer(truth.recording, truth.history);
  const Confusion confusion = Compare(truth, labels);
  SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
  for (const Category c : {Category::kGradient, Category::kOptimizerState}) {
    double true_bytes = 0, inferred_bytes = 0;
    for (size_t other = 0; other < trace::kCategoryCount; ++other) {
      true_bytes += confusion.peak[static_cast<size_t>(c)][other];
      inferred_bytes += confusion.peak[other][static_cast<size_t>(c)];
    }
    EXPECT_NEAR(inferred_bytes, true_bytes, 0.01 * true_bytes) << trace::Name(c);
  }
}

TEST(Infer, DoesNotReplayFirstStepInInvalidSegments) {
  Stripped truth = Strip(*Golden("gpt2-zero-grad-zero"), {.first_step = 1});
  const auto segments = truth.history.start_segments;
  ASSERT_GT(segments.size(), 3u);
  for (int damage = 0; damage < 5; ++damage) {
    SCOPED_TRACE(damage);
    auto& s = truth.history.start_segments = segments;
    if (damage == 0) s[1] = s[0];
    if (damage == 1) s.back().address = ~uint64_t{0} - 512;
    if (damage == 2) s[2].bytes = 0;
    if (damage == 3) s[0].bytes = ~uint64_t{0};
    if (damage == 4) s.resize(1);
    const Labels labels = Infer(truth.recording, truth.history);
    ExpectWellFormed(labels, truth.recording, truth.history);
    EXPECT_THAT(labels.rule, ::testing::Not(::testing::Contains(kPersistentFirstStep)));
  }
}

TEST(Infer, EveryLabelNamesItsRule) {
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

TEST(Infer, EveryRuleHasAName) {
  for (int rule = 1; rule < kRuleCount; ++rule) {
    EXPECT_NE(RuleName(static_cast<uint8_t>(rule)), "") << rule;
  }
  EXPECT_EQ(RuleName(kStatedByProducer), "");
  EXPECT_EQ(RuleName(kRuleCount), "");
  EXPECT_EQ(RuleName(255), "");
}

TEST(Infer, LabelsOfGoldenRunsAreWellFormed) {
  for (const char* run : kRuns) {
    for (const Variant& variant : kVariants) {
      SCOPED_TRACE(std::string(run) + " " + variant.name);
      const Stripped truth = Strip(*Golden(run), {.frames = variant.frames,
                                                  .annotations = variant.annotations,
                                                  .first_step = variant.older ? 1 : -1,
                                                  .cut = 0.7});
      ExpectWellFormed(Infer(truth.recording, truth.history), truth.recording, truth.history);
    }
  }
}

// The recordings contain allocations, frees, stacks and annotations in random order.
TEST(Infer, LabelsOfRandomRecordingsAreWellFormed) {
  std::mt19937 random(11);
  const auto one_of = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const std::vector<std::string> functions = {"forward",
                                              "backward",
                                              "step",
                                              "zero_grad",
                                              "_apply",
                                              "cross_entropy",
                                              "MmBackward0",
                                              "at::_ops::mm::call(x)",
                                              "torch::autograd::Engine::thread_main(x)",
                                              "aten::mm",
                                              "::",
                                              "",
                                              "(",
                                              "at::_ops::",
                                              "Backward0",
                                              "train",
                                              "recompute_fn",
                                              "update",
                                              "_backward_impl",
                                              "capture_model",
                                              "get_workspace",
                                              "__init__"};
  const std::vector<std::string> files = {"",
                                          "??",
                                          ".py",
                                          "a.py",
                                          "/usr/torch/optim/adam.py",
                                          "/usr/torch/nn/modules/module.py",
                                          "/usr/torch/utils/checkpoint.py",
                                          "C:\\torch\\nn\\functional.py",
                                          "/v/transformers/cache_utils.py",
                                          "/usr/torch/_inductor/utils.py",
                                          "/usr/torch/nn/parallel/replicate.py",
                                          "/v/megatron/param_and_grad_buffer.py",
                                          "model.layers.0"};
  const std::vector<std::string> names = {"ProfilerStep#3",
                                          "## forward ##",
                                          "backward",
                                          "#",
                                          "step 99999999999",
                                          "Optimizer.step#AdamW.step",
                                          "step"};
  for (int round = 0; round < 300; ++round) {
    recording::Recording r;
    recording::History h;
    const auto intern = [&](const std::string& text) -> trace::StringId {
      r.strings.push_back(text);
      return {static_cast<uint32_t>(r.strings.size() - 1)};
    };
    const uint32_t stacks = one_of(20);
    for (uint32_t s = 0; s < stacks; ++s) {
      const uint32_t depth = one_of(5);
      for (uint32_t i = 0; i < depth; ++i) {
        r.stacks.frames.push_back(r.stacks.frame_count());
        r.stacks.function.push_back(intern(functions[one_of(functions.size())]));
        r.stacks.file.push_back(intern(files[one_of(files.size())]));
        r.stacks.line.push_back(one_of(3));
      }
      r.stacks.first.push_back(static_cast<uint32_t>(r.stacks.frames.size()));
    }
    std::vector<uint32_t> alive;
    const uint32_t devices = 1 + one_of(3);
    const auto add = [&](recording::EntryIndex entry) {
      auto& a = h.allocations;
      alive.push_back(a.size());
      a.alloc.push_back(entry);
      a.free_requested.push_back(recording::kNoEntry);
      a.free_completed.push_back(recording::kNoEntry);
      a.address.push_back(a.size() * 512);
      a.requested.push_back(one_of(4) == 0 ? 4 : 512 * one_of(6));
      a.bytes.push_back(a.requested.back());
      a.stream.push_back(0);
      a.device.push_back(static_cast<uint8_t>(one_of(devices)));
      a.pool.push_back(trace::Pool::kSmall);
      a.stack.push_back({one_of(r.stacks.size())});
      a.bytes_known.push_back(true);
    };
    h.older = one_of(3) == 0 ? 0 : one_of(20);
    for (uint32_t i = 0; i < h.older; ++i) add(recording::kNoEntry);
    const uint32_t entries = one_of(600), bias = 1 + one_of(4);
    for (uint32_t i = 0; i < entries; ++i) {
      const bool alloc = alive.empty() || one_of(bias + 1) == 0 || (i / 60) % 2 == 0;
      uint32_t row = h.allocations.size();
      if (alloc) {
        add(i);
      } else {
        const size_t which = one_of(2) == 0 ? alive.size() - 1 : one_of(alive.size());
        row = alive[which];
        alive.erase(alive.begin() + static_cast<ptrdiff_t>(which));
        h.allocations.free_completed[row] = i;
      }
      r.entries.action.push_back(alloc ? recording::Action::kAlloc
                                       : recording::Action::kFreeCompleted);
      r.entries.address.push_back(h.allocations.address[row]);
      r.entries.bytes.push_back(h.allocations.requested[row]);
      r.entries.time_ns.push_back(i / 3);
      r.entries.stack.push_back({one_of(r.stacks.size())});
      r.entries.stream.push_back(0);
      r.entries.device.push_back(h.allocations.device[row]);
      h.allocation_of_entry.push_back(row);
    }
    for (uint32_t i = one_of(6); i > 0; --i) {
      const int64_t begin = one_of(200), end = begin + one_of(100) - 20;
      r.annotations.push_back(
          {intern(names[one_of(names.size())]), begin, end, static_cast<uint8_t>(one_of(devices))});
    }
    SCOPED_TRACE(round);
    ExpectWellFormed(Infer(r, h), r, h);
    if (HasFailure()) return;
  }
}

// Inference must only use the order of entries: in files without times, the times are numbers.
TEST(Infer, LabelsDoNotDependOnTimestamps) {
  for (const Frames frames : {Frames::kPythonCpp, Frames::kNone}) {
    Stripped run = Strip(*Golden("gpt2-adamw"), {.frames = frames});
    const Labels timed = Infer(run.recording, run.history);
    for (recording::EntryIndex i = 0; i < run.recording.entries.size(); ++i) {
      run.recording.entries.time_ns[i] = i;
    }
    const Labels counted = Infer(run.recording, run.history);
    EXPECT_EQ(counted.category, timed.category);
    EXPECT_EQ(counted.rule, timed.rule);
    EXPECT_EQ(counted.steps.size(), timed.steps.size());
    EXPECT_EQ(counted.phases.size(), timed.phases.size());
  }
}

TEST(Infer, EmptyRecordingGivesNoLabels) {
  const Labels labels = Infer({}, {});
  EXPECT_TRUE(labels.category.empty());
  EXPECT_TRUE(labels.steps.empty());
}

TEST(Infer, ReadsOperatorsAndModulesFromStacks) {
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
