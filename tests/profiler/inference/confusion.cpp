// Prints confusion matrices of inference for runs whose categories are known. For recordings whose
// categories are not known, prints the inferred categories.
//
//   inference_confusion [--tables] [--rules] [--cut=0.7] [--skip=0.1] RUN.trace...
//                       RECORDED.pickle.zst...
//   inference_confusion [--rules] --cuts RUN.trace...
//
// --cuts prints the percentage of the peak that is inferred correctly in recordings with missing
// entries. A recording ends after a share of all entries, or after a share of the entries from the
// second step on, or begins after a share of all entries.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <string>

#include "profiler/inference/infer.h"
#include "profiler/inference/rules.h"
#include "profiler/trace/reader.h"
#include "tests/profiler/inference/recorded.h"
#include "tests/profiler/inference/stripped.h"

using namespace vramscope;

namespace {

// For each rule, how many blocks, changes, ranges and steps it decided, in all inputs.
std::array<uint64_t, inference::kRuleCount> decided{};

recording::Labels Infer(const recording::Recording& r, const recording::History& h) {
  recording::Labels labels = inference::Infer(r, h);
  for (const uint8_t rule : labels.rule) ++decided[rule];
  for (const auto& change : labels.retags) ++decided[change.rule];
  for (const auto& range : labels.phases) ++decided[range.rule];
  for (const auto& step : labels.steps) ++decided[step.rule];
  return labels;
}

// Prints the requested MiB of each inferred category, for a recording with unknown categories.
int Recorded(const std::string& path, const std::string& name) {
  auto recorded = testing::ReadRecorded(path);
  if (!recorded.ok()) {
    fmt::print(stderr, "{}: {}\n", path, std::string(recorded.status().message()));
    return 3;
  }
  for (const bool stacks : {true, false}) {
    if (!stacks) testing::WithoutStacks(*recorded);
    const std::clock_t begin = std::clock();  // CPU time, because other processes may be busy, too
    const recording::Labels labels = Infer(recorded->recording, recorded->history);
    const double took = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const testing::Totals totals = testing::InferredTotals(*recorded, labels);
    fmt::print("{} {}\n{} entries, {:.0f} ms\n  {:<18}{:>14}{:>14}\n", name,
               stacks ? "as it is" : "without stacks", recorded->recording.entries.size(), took,
               "MiB asked for", "at the peak", "at the end");
    for (int c = 0; c < trace::kCategoryCount; ++c) {
      const auto row = static_cast<size_t>(c);
      if (totals.at_peak[row] == 0 && totals.at_end[row] == 0) continue;
      fmt::print("  {:<18}{:>14.3f}{:>14.3f}\n", trace::Name(static_cast<trace::Category>(c)),
                 static_cast<double>(totals.at_peak[row]) / (1 << 20),
                 static_cast<double>(totals.at_end[row]) / (1 << 20));
    }
    for (const auto& s : labels.steps) {
      fmt::print("  step {}: entries {}..{} ({})\n", s.number, s.begin, s.end,
                 inference::RuleName(s.rule));
    }
    if (stacks) {
      std::map<std::string, int> names;
      const auto text = [&](trace::StringId id) -> std::string {
        const auto& file = recorded->recording.strings;
        return id.value < file.size() ? file[id.value] : labels.strings[id.value - file.size()];
      };
      for (uint32_t a = recorded->history.older; a < labels.op.size(); ++a) {
        ++names["op " + text(labels.op[a])];
        ++names["module " + text(labels.module[a])];
      }
      for (const auto& [name, count] : names) fmt::print("  {} x {}\n", count, name);
    }
    size_t shown = 0;
    for (const auto& p : labels.phases) {
      if (++shown > 20) break;
      fmt::print("    {} {}..{} ({})\n", trace::Name(p.phase), p.begin, p.end,
                 inference::RuleName(p.rule));
    }
  }
  return 0;
}

// Prints the percentage of the peak that is inferred correctly if the last or the first entries are
// missing.
void Cuts(const trace::Trace& trace, const std::string& name) {
  using testing::Frames;
  constexpr double kShares[] = {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8};
  const auto row = [&](const char* what, testing::StripOptions options, bool end) {
    fmt::print("{:<37}{:<12}{:<14}", name, options.frames == Frames::kNone ? "nothing" : "stacks",
               what);
    for (const double share : kShares) {
      (end ? options.cut : options.skip) = share;
      const testing::Stripped truth = testing::Strip(trace, options);
      const recording::Labels labels = Infer(truth.recording, truth.history);
      fmt::print("{:>8.2f}", 100 * testing::Confusion::Right(testing::Compare(truth, labels).peak));
    }
    fmt::print("\n");
  };
  for (const Frames frames : {Frames::kPythonCpp, Frames::kNone}) {
    row("ends", {.frames = frames}, true);
    row("from 1, ends", {.frames = frames, .first_step = 1}, true);
    row("begins", {.frames = frames}, false);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using testing::Confusion;
  using testing::Frames;
  bool tables = false, cuts = false, rules = false;
  double cut = 1, skip = 0;
  testing::Confusion sums[2];
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
  fmt::print("{:<37}{:<18}{:<7}{:>8}{:>8}{:>8}{:>7}{:>7}{:>7}{:>9}{:>7}\n", "run", "has", "from",
             "peak%", "time%", "phase%", "param", "state", "steps", "entries", "ms");
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--cut=", 6) == 0) {
      cut = std::stod(argv[i] + 6);
      continue;
    }
    if (std::strncmp(argv[i], "--skip=", 7) == 0) {
      skip = std::stod(argv[i] + 7);
      continue;
    }
    if (std::strcmp(argv[i], "--rules") == 0) {
      rules = true;
      continue;
    }
    if (std::strcmp(argv[i], "--cuts") == 0) {
      cuts = true;
      continue;
    }
    if (std::strcmp(argv[i], "--tables") == 0) {
      tables = true;
      continue;
    }
    std::string name = argv[i];
    name = name.substr(name.rfind('/') + 1);
    if (name.find(".pickle") != std::string::npos) {
      if (const int status = Recorded(argv[i], name); status != 0) return status;
      continue;
    }
    auto trace = trace::ReadTraceFile(argv[i], {});
    if (!trace.ok()) {
      fmt::print(stderr, "{}: {}\n", argv[i], std::string(trace.status().message()));
      return 3;
    }
    if (cuts) {
      Cuts(**trace, name);
      continue;
    }
    for (const auto& variant : kVariants) {
      for (const int first : {-1, 1}) {
        const testing::Stripped truth = testing::Strip(**trace, {.frames = variant.frames,
                                                                 .annotations = variant.annotations,
                                                                 .first_step = first,
                                                                 .skip = skip,
                                                                 .cut = cut});
        const auto begin = std::chrono::steady_clock::now();
        const recording::Labels labels = Infer(truth.recording, truth.history);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        const testing::Confusion c = testing::Compare(truth, labels);
        const auto exact = [&](trace::Category category) {
          return Confusion::Exact(c.peak, category) ? "exact" : "-";
        };
        fmt::print("{:<37}{:<18}{:<7}{:>8.2f}{:>8.2f}{:>8.2f}{:>7}{:>7}{:>7}{:>9}{:>7.1f}\n", name,
                   variant.name, first < 0 ? "start" : "step 1", 100 * Confusion::Right(c.peak),
                   100 * Confusion::Right(c.time), 100 * PhasesRight(truth, labels),
                   exact(trace::Category::kParameter), exact(trace::Category::kOptimizerState),
                   labels.steps.size(), truth.recording.entries.size(), took.count());
        testing::Confusion& sum = sums[variant.frames == Frames::kNone && !variant.annotations];
        for (int t = 0; t < trace::kCategoryCount; ++t) {
          for (int i = 0; i < trace::kCategoryCount; ++i) {
            sum.peak[t][i] += c.peak[t][i];
            sum.time[t][i] += c.time[t][i];
          }
        }
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
  if (rules) {
    for (uint8_t rule = 1; rule < inference::kRuleCount; ++rule) {
      fmt::print("{:>4} {:>10}  {}\n", rule, decided[rule], inference::RuleName(rule));
    }
  }
  for (const int nothing : {0, 1}) {
    if (Confusion::Total(sums[nothing].peak) == 0) continue;
    fmt::print("\nsum of those with {}, at the peak, MiB\n{}\nover time, MiB s\n{}",
               nothing ? "nothing" : "marks", Confusion::Table(sums[nothing].peak),
               Confusion::Table(sums[nothing].time));
  }
}
