// Prints confusion matrices of inference against runs whose categories are known.
//
//   confusion [--all] RUN.trace...
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "profiler/inference/infer.h"
#include "profiler/inference/rules.h"
#include "profiler/trace/reader.h"
#include "tests/profiler/inference/stripped.h"

using namespace vramscope;

int main(int argc, char** argv) {
  using testing::Frames;
  bool tables = false;
  const struct {
    const char* name;
    Frames frames;
    bool annotations;
  } kVariants[] = {{"ours+annotations", Frames::kOurs, true},
                   {"python+c++", Frames::kPythonCpp, false},
                   {"python", Frames::kPython, false},
                   {"annotations", Frames::kNone, true},
                   {"ours", Frames::kOurs, false},
                   {"nothing", Frames::kNone, false}};
  fmt::print("{:<28}{:<18}{:<7}{:>8}{:>8}{:>8}{:>7}{:>7}{:>7}\n", "run", "has", "from", "peak%",
             "time%", "phase%", "param", "state", "steps");
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tables") == 0) {
      tables = true;
      continue;
    }
    auto trace = trace::ReadTraceFile(argv[i], {});
    if (!trace.ok()) {
      fmt::print(stderr, "{}: {}\n", argv[i], std::string(trace.status().message()));
      return 3;
    }
    std::string name = argv[i];
    name = name.substr(name.rfind('/') + 1);
    for (const auto& variant : kVariants) {
      for (const int first : {-1, 1}) {
        const testing::Stripped truth = testing::Strip(
            **trace,
            {.frames = variant.frames, .annotations = variant.annotations, .first_step = first});
        const recording::Labels labels = inference::Infer(truth.recording, truth.history);
        const testing::Confusion c = testing::Compare(truth, labels);
        using testing::Confusion;
        const auto exact = [&](trace::Category category) {
          return Confusion::Exact(c.peak, category) ? "exact" : "-";
        };
        fmt::print("{:<28}{:<18}{:<7}{:>8.2f}{:>8.2f}{:>8.2f}{:>7}{:>7}{:>7}\n", name, variant.name,
                   first < 0 ? "start" : "step 1", 100 * Confusion::Right(c.peak),
                   100 * Confusion::Right(c.time), 100 * PhasesRight(truth, labels),
                   exact(trace::Category::kParameter), exact(trace::Category::kOptimizerState),
                   labels.steps.size());
        if (!tables) continue;
        fmt::print("MiB at the peak\n{}\nMiB s\n{}", Confusion::Table(c.peak),
                   Confusion::Table(c.time));
        for (const auto& s : labels.steps) {
          fmt::print("step {}: entries {}..{} ({})\n", s.number, s.begin, s.end,
                     inference::RuleName(s.rule));
        }
        size_t shown = 0;
        for (const auto& p : labels.phases) {
          if (++shown > 40) break;
          fmt::print("  {} {}..{} truth at its middle: {} ({})\n", trace::Name(p.phase), p.begin,
                     p.end, trace::Name(truth.phase[(p.begin + p.end) / 2]),
                     inference::RuleName(p.rule));
        }
      }
    }
  }
}
