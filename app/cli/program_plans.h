// Many plans of one program, each by this program's own `plan` in a process of its own, a few side
// by side: what `fit` and `--vary` are made of. What was planned once is not planned again. The
// first plan tells what the program imports; a process that has imported that becomes the later
// ones (profiler/program/warm.h), where it can.
//
//   ProgramPlans plans(options, budget, toggles);
//   ASSIGN_OR_RETURN(std::vector<ProgramPlan> done, plans.All({{command, {"bf16"}}, ...}));
//
// Blocks; its callbacks come on the caller's thread.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/program_command.h"
#include "app/cli/program_server.h"
#include "profiler/fit/fit.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/program/toggles.h"

namespace vramscope::cli {

// One question: the program's words, and what is switched on.
struct ProgramQuestion {
  std::vector<std::string> command;
  std::vector<std::string> toggles;  // NAME or NAME=VALUE
  friend auto operator<=>(const ProgramQuestion&, const ProgramQuestion&) = default;
};

struct ProgramPlan {
  fit::Planned planned;  // its error: why there is no plan, or why it says nothing of the question
  std::map<std::string, uint64_t> categories;  // at the peak
  std::string peak_phase;                      // "backward"
  std::string device, model;
  std::vector<program::ToggleReport> toggles;  // all of them
  Json assumptions = Json::array();
  std::string cold;  // why it did not begin with what was imported; "": it did, or was not to
  double seconds = 0;
};

class ProgramPlans {
 public:
  // On a card with room for all of it; what may fit into `budget` (0: none) by giving back what is
  // cached is planned with that, too. `all`: the catalogue.
  ProgramPlans(const ProgramOptions& options, uint64_t budget,
               const std::vector<program::Toggle>& all);
  ProgramPlans(const ProgramPlans&) = delete;
  ProgramPlans& operator=(const ProgramPlans&) = delete;

  static constexpr unsigned kMostSideBySide = 4;
  // How many are made side by side.
  static size_t SideBySide();

  // In their order. An error: the program cannot be started.
  absl::StatusOr<std::vector<ProgramPlan>> All(const std::vector<ProgramQuestion>& questions);

  std::function<void(size_t done, size_t all)> progress = {};  // several times a second
  int plans() const { return plans_; }  // that were made, those with less memory among them
  // Why plans began cold; "": all but the first began warm, or there was the first alone.
  const std::string& cold() const { return cold_; }
  // What the process that plans begin with holds of this computer's memory; 0: there is none.
  uint64_t ServerBytes() const { return server_.ResidentBytes(); }

 private:
  // `first`: a folder that keeps what it writes; "": none does.
  absl::StatusOr<ProgramPlan> One(const ProgramQuestion& question, const std::string& first);
  absl::StatusOr<ProgramPlan> Run(const ProgramQuestion& question,
                                  const std::vector<std::string>& more);
  // Starts the process that later plans begin with as soon as the first one has said what it
  // imports, which is long before it ends; waits until that process is ready.
  void StartServer(const std::vector<std::string>& command);
  void AwaitServer();

  std::vector<std::string> words_;           // of `plan`, before "--"
  std::set<std::string> reads_environment_;  // toggles: PyTorch reads them when it is imported
  std::map<ProgramQuestion, ProgramPlan> known_;
  const uint64_t budget_;
  const bool may_serve_;
  std::unique_ptr<program::ScratchFolder> scratch_;
  bool asked_ = false, awaited_ = false;
  std::atomic<int> plans_{0};
  std::string cold_;
  ProgramServer server_;
};

// Of `plan --json --all-toggles`, what a program's plans have in common: all but the card's memory,
// toggles and where it begins.
std::vector<std::string> PlanWords(const ProgramOptions& options);

// A plan's JSON, as `plan --json --all-toggles` prints it.
absl::StatusOr<ProgramPlan> PlanOf(const Json& json);

// What plans are compared by.
struct PlanFigures {
  uint64_t peak = 0, reserved = 0, needed = 0;
  std::map<std::string, uint64_t> categories;
};
PlanFigures PlanFiguresOf(const Json& json, const ProgramPlan& plan);

int64_t ByteDifference(uint64_t before, uint64_t now);
// The names whose bytes are others, the largest difference first.
std::vector<std::pair<std::string, int64_t>> ChangedBytes(
    const std::map<std::string, uint64_t>& before, const std::map<std::string, uint64_t>& now);
inline std::vector<std::pair<std::string, int64_t>> ChangedCategories(const PlanFigures& before,
                                                                      const PlanFigures& now) {
  return ChangedBytes(before.categories, now.categories);
}

}  // namespace vramscope::cli
