// A run whose categories are known, as a recording that has none; and how far inference gets back
// to what it was.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/trace/trace.h"

namespace vramscope::testing {

enum class Frames : uint8_t {
  kNone,
  kOurs,       // operator and module, as snapshots of our own have them
  kPython,     // what PyTorch records with stacks="python": none on autograd's thread
  kPythonCpp,  // stacks="all"
};

struct StripOptions {
  Frames frames = Frames::kNone;
  bool annotations = false;  // ProfilerStep#N, ## forward ##
  int first_step = -1;       // the recording begins with this step; what was there before is older
  int last_step = -1;        // and ends with this one
  double skip = 0;           // of the entries, how many are cut off at the begin
  double cut = 1;            // and of the others, how many are left
  bool teardown = false;     // also what is freed after training
};

// One truth for each moment: category of each allocation before each entry.
struct Stripped {
  recording::Recording recording;
  recording::History history;
  std::vector<trace::Category> birth;            // by allocation: at birth, or where it begins
  std::vector<recording::Labels::Retag> retags;  // by `at`
  std::vector<trace::Phase> phase;               // by entry
  std::vector<int> step;                         // by entry; -1: outside
};

Stripped Strip(const trace::Trace& trace, const StripOptions& options);

// [truth][inferred]: bytes of blocks at the peak, and bytes x seconds over the recording.
struct Confusion {
  using Matrix = std::array<std::array<double, trace::kCategoryCount>, trace::kCategoryCount>;
  Matrix peak{}, time{};
  static double Total(const Matrix& m);
  static double Right(const Matrix& m);  // share
  static bool Exact(const Matrix& m, trace::Category category);
  // Rows: truth; columns: inferred; only those that occur. MiB.
  static std::string Table(const Matrix& m);
};

Confusion Compare(const Stripped& truth, const recording::Labels& labels);

// Share of entries whose phase is right, of those that have one in truth.
double PhasesRight(const Stripped& truth, const recording::Labels& labels);

}  // namespace vramscope::testing
