// Tests that inference recognises generation, saving and loading by the Python frames in stacks.
// The recordings are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/inference/infer.h"
#include "tests/profiler/inference/made.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::MadeFrame;
using testing::MadeStack;
using testing::Program;
using testing::Stripped;
using trace::Category;
using trace::Phase;

const std::string kSite = "/venv/lib/python3.12/site-packages/";
const MadeFrame kCall = {"_call_impl", kSite + "torch/nn/modules/module.py", 1784};
const MadeFrame kLinear = {"forward", kSite + "torch/nn/modules/linear.py", 125};
const MadeFrame kScript = {"<module>", "/home/someone/train.py", 12};
const MadeFrame kGenerate = {"generate", kSite + "transformers/generation/utils.py", 2600};

// Returns the phases in order. Merges consecutive ranges of the same phase.
std::vector<Phase> PhasesOf(const Labels& labels) {
  std::vector<Phase> phases;
  for (const Labels::PhaseRange& range : labels.phases)
    if (phases.empty() || phases.back() != range.phase) phases.push_back(range.phase);
  return phases;
}

// A made-up program with a model of three layers, and what it can do with the model.
class Job {
 public:
  Job() {
    p_.Enter(Phase::kSetup);
    const uint32_t move = p_.Stack({{"convert", kSite + "torch/nn/modules/module.py", 1369},
                                    {"_apply", kSite + "torch/nn/modules/module.py", 957},
                                    kScript});
    for (int layer = 0; layer < 3; ++layer) p_.Alloc(kWeight, Category::kParameter, move);
  }
  void Step() {
    const uint32_t forward = p_.Stack({kLinear, kCall, kScript});
    const uint32_t backward = p_.Stack({{"torch::autograd::Engine::thread_main(x)"}});
    const uint32_t optimizer = p_.Stack({{"step", kSite + "torch/optim/adamw.py", 243}, kScript});
    std::vector<uint32_t> saved, gradients;
    p_.Enter(Phase::kForward);
    p_.In(forward);
    for (int i = 0; i < 6; ++i) saved.push_back(p_.Alloc(70'000, Category::kActivation, forward));
    p_.Enter(Phase::kBackward);
    p_.In(backward);
    for (int i = 0; i < 3; ++i) {
      gradients.push_back(p_.Alloc(kWeight, Category::kGradient, backward));
      for (int k = 0; k < 2; ++k) {
        p_.Free(saved.back());
        saved.pop_back();
      }
    }
    p_.Enter(Phase::kOptimizer);
    p_.In(optimizer);
    for (int i = 0; i < 3; ++i) p_.Free(p_.Alloc(kWeight, Category::kTemporary, optimizer));
    for (const uint32_t gradient : gradients) p_.Free(gradient);
  }
  void Generate() {
    p_.Enter(Phase::kGeneration);
    const uint32_t inside = p_.Stack({kLinear, kCall, kGenerate, kScript});
    p_.In(inside);
    for (int token = 0; token < 20; ++token) p_.Free(p_.Alloc(4096, Category::kTemporary, inside));
  }
  // Saves a sharded model: gathers one part after the other.
  void Save() {
    p_.Enter(Phase::kSave);
    const uint32_t gather = p_.Stack({{"state_dict", kSite + "torch/nn/modules/module.py", 2200},
                                      {"_save_checkpoint", kSite + "transformers/trainer.py", 3200},
                                      kScript});
    p_.In(gather);
    for (int i = 0; i < 3; ++i) p_.Free(p_.Alloc(kWeight, Category::kTemporary, gather));
  }
  void Load() {
    p_.Enter(Phase::kLoad);
    const uint32_t load = p_.Stack({{"restore_location", kSite + "torch/serialization.py", 1900},
                                    {"load", kSite + "torch/serialization.py", 1500},
                                    kScript});
    std::vector<uint32_t> parts;
    p_.In(load);
    for (int i = 0; i < 3; ++i) parts.push_back(p_.Alloc(kWeight, Category::kTemporary, load));
    for (const uint32_t part : parts) p_.Free(part);
  }
  Labels Infer() const {
    const Stripped made = p_.Take({});
    return inference::Infer(made.recording, made.history);
  }

 private:
  static constexpr uint64_t kWeight = 1 << 20;
  Program p_;
};

TEST(Phases, FindsLoadGenerationAndSaveOfATrainingRun) {
  Job job;
  job.Load();
  for (int round = 0; round < 2; ++round) {
    job.Step();
    job.Step();
    job.Generate();
    job.Save();
  }
  const Labels labels = job.Infer();
  std::vector<Phase> expected = {Phase::kSetup, Phase::kLoad};
  for (int round = 0; round < 2; ++round) {
    for (int step = 0; step < 2; ++step)
      expected.insert(expected.end(), {Phase::kForward, Phase::kBackward, Phase::kOptimizer});
    expected.insert(expected.end(), {Phase::kGeneration, Phase::kSave});
  }
  EXPECT_EQ(PhasesOf(labels), expected);
  EXPECT_EQ(labels.steps.size(), 4u);
  // Only the parameters are left: the blocks for loading, saving and generation were freed.
  EXPECT_THAT(labels.category, Contains(Category::kParameter).Times(3));
  EXPECT_THAT(labels.category, ::testing::Not(Contains(Category::kUnknown)));
}

TEST(Phases, GenerationAloneHasNoTrainingPhases) {
  Job job;
  job.Generate();
  EXPECT_THAT(PhasesOf(job.Infer()), ElementsAre(Phase::kSetup, Phase::kGeneration));
}

// A function named generate() whose result is trained is an ordinary forward pass.
TEST(Phases, TrainedGenerateFunctionIsForward) {
  Program p;
  const MadeStack inside = {kLinear, kCall, {"generate", "/home/someone/gan.py", 40}, kScript};
  const uint32_t forward = p.Stack(inside);
  const uint32_t backward = p.Stack({{"torch::autograd::Engine::thread_main(x)"}});
  for (int step = 0; step < 3; ++step) {
    std::vector<uint32_t> saved;
    p.Enter(Phase::kForward);
    for (int i = 0; i < 6; ++i) saved.push_back(p.Alloc(70'000, Category::kActivation, forward));
    p.Enter(Phase::kBackward);
    p.In(backward);
    while (!saved.empty()) {
      p.Free(p.Alloc(4096, Category::kTemporary, backward));
      p.Free(saved.back());
      saved.pop_back();
    }
  }
  const Stripped made = p.Take({});
  const std::vector<Phase> phases = PhasesOf(Infer(made.recording, made.history));
  EXPECT_THAT(phases, Contains(Phase::kForward));
  EXPECT_THAT(phases, ::testing::Not(Contains(Phase::kGeneration)));
}

}  // namespace
}  // namespace vramscope::inference
