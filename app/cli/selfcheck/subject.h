// One device of the file that is checked, and the checks, one function a group of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/selfcheck/commands.h"
#include "app/cli/selfcheck/report.h"
#include "profiler/analysis/analysis.h"
#include "profiler/run/run_config.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli::selfcheck {

struct Subject {
  Commands& commands;
  Report& report;
  std::string file;
  std::vector<std::string> device;            // "--device", "1"; empty: there is only one
  std::string suffix;                         // " of cuda:1", behind a group's name
  std::shared_ptr<const trace::Trace> trace;  // of the device
  analysis::MemoryCurves curves;
  analysis::Peak peak;
  Json info;       // of the whole file
  Json of_device;  // its entry of info's `peaks`

  // Whether segments were recorded, and not how much is reserved in all.
  bool has_segments() const {
    return trace::SegmentRecordOf(*trace) == trace::SegmentRecord::kEach &&
           trace->segments.size() > 0;
  }
  void Begin(const std::string& group) const { report.Begin(group + suffix); }
  Answer Ask(const std::string& command, std::vector<std::string> options) const;
};

// memory_checks.cpp: what is in memory adds up at the peak and at events spread over the file, and
// `peak`, `explain` and the curves agree there.
void CheckMemory(const Subject& subject);
void CheckGroups(const Subject& subject);  // peak --by of everything
// agreement_checks.cpp: one figure by several commands.
void CheckAgreement(const Subject& subject);
void CheckBudget(const Subject& subject);
void CheckRequests(const Subject& subject);
void CheckKernels(const Subject& subject);
void CheckDiff(const Subject& subject);     // diff_checks.cpp: with itself
void CheckExports(const Subject& subject);  // export_checks.cpp: written, read again
// Saved as a .trace (of all devices), and read again.
void CheckSaved(const Subject& subject, const std::shared_ptr<const trace::Trace>& whole);
void CheckReplay(const Subject& subject);  // replay_checks.cpp

// run_checks.cpp: plans the run twice, and leaves its trace in `file`. The first plan's answer:
// where that is not ok() nothing was compared.
Answer CheckRun(Commands& commands, Report& report, const std::vector<std::string>& run_arguments,
                const std::string& file);

}  // namespace vramscope::cli::selfcheck
