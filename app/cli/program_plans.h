// Plans one program many times for `fit` and `--vary`. Each plan is a separate process of the
// `plan` command, and a few run at the same time. Equal plans are made only once. The first plan
// reports what the program imports. If possible, later plans are forked from a process that has
// already imported these modules (profiler/program/warm.h).
//
//   ProgramPlans plans(options, budget, toggles);
//   ASSIGN_OR_RETURN(std::vector<ProgramPlan> done, plans.All({{command, {"bf16"}}, ...}));
//
// Blocks; its callbacks are called on the caller's thread.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

// What to plan: the program's command line, and the toggles that are on.
struct ProgramQuestion {
  std::vector<std::string> command;
  std::vector<std::string> toggles;  // NAME or NAME=VALUE
  friend auto operator<=>(const ProgramQuestion&, const ProgramQuestion&) = default;
};

struct ProgramPlan {
  // has an error if there is no plan, or if the plan does not match the question
  fit::Planned planned;
  std::map<std::string, uint64_t> categories;  // bytes of each category at the peak
  std::string peak_phase;                      // "backward"
  std::string device, model;
  std::vector<program::ToggleReport> toggles;  // reports of all toggles
  Json assumptions = Json::array();
  // why the plan was not forked from the warm process; "" if it was, or if there is no warm process
  std::string cold;
  double seconds = 0;
};

class ProgramPlans {
 public:
  // Plans on a GPU with enough memory for any program. If the program may fit into `budget` (0:
  // none) once cached memory is released, it is also planned on a GPU of the budget's size. `all`
  // is the catalogue of toggles.
  ProgramPlans(const ProgramOptions& options, uint64_t budget,
               const std::vector<program::Toggle>& all);
  ProgramPlans(const ProgramPlans&) = delete;
  ProgramPlans& operator=(const ProgramPlans&) = delete;

  static constexpr unsigned kMostSideBySide = 4;
  // Returns how many plans are made at the same time.
  static size_t SideBySide();

  // Returns the plans in the order of the questions. An error means that the program cannot be
  // started.
  absl::StatusOr<std::vector<ProgramPlan>> All(const std::vector<ProgramQuestion>& questions);

  std::function<void(size_t done, size_t all)> progress = {};  // called several times a second
  // All() calls `began` when a plan begins, and `arrived` when it is complete. For a plan that was
  // made before, it calls neither.
  std::function<void(const ProgramQuestion&)> began = {};
  std::function<void(const ProgramQuestion&, const ProgramPlan&)> arrived = {};
  int plans() const { return plans_; }  // number of plans made, also on smaller GPUs
  // Returns why plans were not forked from the warm process, or "" if all except the first were
  // forked from it or if there was only one plan.
  const std::string& cold() const { return cold_; }
  // Returns the host memory that the warm process uses, or 0 if there is no warm process.
  uint64_t ServerBytes() const { return server_.ResidentBytes(); }

 private:
  // Keeps the output of the first plan in the folder `first`, or keeps nothing if it is "".
  absl::StatusOr<ProgramPlan> One(const ProgramQuestion& question, const std::string& first);
  absl::StatusOr<ProgramPlan> Run(const ProgramQuestion& question,
                                  const std::vector<std::string>& more);
  std::vector<std::string> Warm() const;  // the arguments for a fork of the warm process, if any
  bool NeedsTooMuch(const ProgramPlan& plan) const;
  // Plans on a GPU of the budget's size. Returns `plan` if that plan does not fit.
  absl::StatusOr<ProgramPlan> AtBudget(const ProgramQuestion& question, const ProgramPlan& plan,
                                       const std::vector<std::string>& warm);
  // Repeats plans that failed only because others ran beside them. Finds out whether the program
  // adapts to the GPU's memory (it reads the free memory, or handles out of memory), and then plans
  // questions that need too much at the budget, too.
  absl::Status PlanAgain(const std::vector<ProgramQuestion>& questions,
                         std::vector<absl::StatusOr<ProgramPlan>>& plans);
  // Starts the warm process as soon as the first plan has reported its imports, which is long
  // before that plan ends. Waits until the process is ready.
  void StartServer(const std::vector<std::string>& command);
  void AwaitServer();

  std::vector<std::string> words_;  // arguments of `plan` before "--"
  // the toggles that set environment variables; some versions of PyTorch read them on import
  std::set<std::string> reads_environment_;
  std::map<ProgramQuestion, ProgramPlan> known_;
  const uint64_t budget_;
  const std::string room_;  // the GPU's memory, unless a plan is made at the budget
  // Whether the program needs less memory on a smaller GPU. Unset until a plan needs too much.
  std::optional<bool> follows_memory_;
  const bool may_serve_;
  std::unique_ptr<program::ScratchFolder> scratch_;
  bool asked_ = false, awaited_ = false;
  std::atomic<int> plans_{0};
  std::string cold_;
  ProgramServer server_;
};

// Returns the arguments that all plans of a program share, after `plan --json --all-toggles`. The
// GPU's memory, the toggles and the warm process differ, so they are not among them.
std::vector<std::string> PlanWords(const ProgramOptions& options);

// Parses the JSON that `plan --json --all-toggles` prints.
absl::StatusOr<ProgramPlan> PlanOf(const Json& json);

// Returns a toggle that was switched on and is not in force, or null. The plan's error then begins
// with the toggle's name.
const program::ToggleReport* NotInForce(const ProgramPlan& plan);

Json FiguresJson(const fit::Planned& planned);

// The figures that are compared between two plans.
struct PlanFigures {
  uint64_t peak = 0, reserved = 0, needed = 0;
  std::map<std::string, uint64_t> categories;
};
PlanFigures PlanFiguresOf(const Json& json, const ProgramPlan& plan);

int64_t ByteDifference(uint64_t before, uint64_t now);
// Returns the names whose bytes differ, largest difference first.
std::vector<std::pair<std::string, int64_t>> ChangedBytes(
    const std::map<std::string, uint64_t>& before, const std::map<std::string, uint64_t>& now);
inline std::vector<std::pair<std::string, int64_t>> ChangedCategories(const PlanFigures& before,
                                                                      const PlanFigures& now) {
  return ChangedBytes(before.categories, now.categories);
}

}  // namespace vramscope::cli
