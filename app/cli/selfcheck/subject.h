// One device of the checked file, and the checks: one function for each group.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/selfcheck/commands.h"
#include "app/cli/selfcheck/report.h"
#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/run/run_config.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli::selfcheck {

struct Subject {
  Commands& commands;
  Report& report;
  std::string file;
  std::vector<std::string> device;            // "--device", "1"; empty: the file has one device
  std::optional<int> of;                      // the device; unset: the file has only one
  std::shared_ptr<const trace::Trace> trace;  // the trace of the device
  analysis::MemoryCurves curves;
  analysis::Peak peak;
  Json info;       // info's output for the whole file
  Json of_device;  // the device's entry in info's `peaks`

  // Returns whether segments were recorded. A file may have only the total of reserved memory.
  bool has_segments() const {
    return trace::SegmentRecordOf(*trace) == trace::SegmentRecord::kEach &&
           trace->segments.size() > 0;
  }
  // `group` is marked with TEXT_MARK.
  void Begin(std::string_view group) const {
    report.Begin(of ? i18n::English("{} (cuda:{})", group, *of) : std::string(group));
  }
  Answer Ask(const std::string& command, std::vector<std::string> options) const;
};

// memory_checks.cpp: checks at the peak and at other events that the parts of memory add up, and
// that `peak`, `explain` and the curves agree.
void CheckMemory(const Subject& subject);
void CheckGroups(const Subject& subject);  // `peak --by` for every grouping
// agreement_checks.cpp: compares figures that several commands print.
void CheckAgreement(const Subject& subject);
void CheckBudget(const Subject& subject);
void CheckRequests(const Subject& subject);
void CheckKernels(const Subject& subject);
void CheckDiff(const Subject& subject);     // diff_checks.cpp: diff of the file with itself
void CheckExports(const Subject& subject);  // export_checks.cpp: exports, read again
// Saves the trace (all devices) as a .trace and reads it again.
void CheckSaved(const Subject& subject, const std::shared_ptr<const trace::Trace>& whole);
void CheckReplay(const Subject& subject);  // replay_checks.cpp

// run_checks.cpp: plans the run twice and leaves its trace in `file`. Returns the output of the
// first plan. If the first plan is not ok(), compares nothing.
Answer CheckRun(Commands& commands, Report& report, const std::vector<std::string>& run_arguments,
                const std::string& file);

}  // namespace vramscope::cli::selfcheck
