// Removes the categories of a run and measures how well inference restores them.
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
  kOurs,       // operator and module, as in vramscope's own snapshots
  kPython,     // as PyTorch records with stacks="python": no frames on autograd's thread
  kPythonCpp,  // stacks="all"
};

struct StripOptions {
  Frames frames = Frames::kNone;
  bool annotations = false;  // ProfilerStep#N, ## forward ##
  int first_step = -1;       // the recording begins with this step; earlier blocks are older
  int last_step = -1;        // the recording ends with this step
  double skip = 0;           // share of the entries that is cut off at the begin
  double cut = 1;            // share of the entries after `skip` that is kept
  bool teardown = false;     // includes the frees after training
};

// A recording, together with the true category of each allocation at each entry.
struct Stripped {
  recording::Recording recording;
  recording::History history;
  // The category of each allocation at its begin, or at the recording's begin if it is older.
  std::vector<trace::Category> birth;
  std::vector<recording::Labels::Retag> retags;  // sorted by `at`
  std::vector<trace::Phase> phase;               // indexed by entry
  std::vector<int> step;                         // indexed by entry; -1: outside of steps
};

Stripped Strip(const trace::Trace& trace, const StripOptions& options);

// Indexed by [truth][inferred]: bytes at the peak, and bytes x seconds over the whole recording.
struct Confusion {
  using Matrix = std::array<std::array<double, trace::kCategoryCount>, trace::kCategoryCount>;
  Matrix peak{}, time{};
  static double Total(const Matrix& m);
  static double Right(const Matrix& m);  // share of the total that is on the diagonal
  static bool Exact(const Matrix& m, trace::Category category);
  // A table in MiB of the categories that occur. Rows are true and columns inferred categories.
  static std::string Table(const Matrix& m);
};

Confusion Compare(const Stripped& truth, const recording::Labels& labels);

// Returns the share of right inferred phases, over all entries whose true phase is known.
double PhasesRight(const Stripped& truth, const recording::Labels& labels);

}  // namespace vramscope::testing
