// Runs `plan` and `record` for any program, which is given after "--" on the command line.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/cli/command.h"
#include "app/cli/plan.h"
#include "profiler/program/isolation.h"
#include "profiler/program/launch.h"
#include "profiler/program/program.h"
#include "profiler/program/remote.h"

namespace vramscope::cli {

struct ProgramOptions {
  std::string device;      // a GPU in the syntax of --device; "": the default GPU of plans
  std::string gpu_memory;  // overrides the memory of the GPU
  uint32_t ranks = 1;
  uint32_t devices = 0;  // number of devices that each process sees; 0: as many as ranks
  int64_t as_rank = -1;
  uint32_t steps = 2;
  bool no_skip_init = false;
  bool cpp_stacks = false;
  bool no_activities = false;
  program::IsolationMode isolation = program::IsolationMode::kAuto;
  bool no_isolation = false;  // use IsolationMode::kNone
  bool no_network = false;
  std::vector<std::string> writable;  // paths that an isolated program may really write to
  std::vector<std::string> toggles;   // NAME or NAME=VALUE
  std::string warm, serve, modules;   // fields of LaunchOptions
  bool all_toggles = false;           // report for each toggle whether it applies
  bool operators = false;             // record the operator of each kernel; a plan always does
  program::Remote remote;             // no host: run on this computer
  bool stream = false;                // this process was started by --host on another computer
  bool watch = false;                 // plan again whenever a file is saved
  std::string keep;                   // folder for the output of the hooks
  std::string from;                   // a folder with the output of an earlier run's hooks; if set,
                                      // no program is started
  // The file to which program::OutcomeJson is written; if set, no trace is read or written.
  std::string outcome;
  uint64_t memory_bytes = 0;  // memory of the planned GPU; 0: as in the device table
  std::optional<uint64_t>
      context_bytes;  // size of the CUDA context in the GPU's memory; unset: as in the device table
};
// The options that have no effect without a program.
inline constexpr const char* kProgramOptionNames[] = {
    "--ranks",     "--as-rank",      "--devices",      "--steps",      "--keep",
    "--isolation", "--no-isolation", "--no-network",   "--writable",   "--toggle",
    "--watch",     "--with",         "--no-skip-init", "--cpp-stacks", "--no-activities"};

void AddProgramOptions(CLI::App& command, ProgramOptions& options, bool planned);

// Returns the exit status for a program that has ended: kDone, kNo, or an error after printing it.
ExitCode Verdict(const program::Program& seen, const program::Outcome& outcome, bool out_of_memory);

// Reports an error and returns its exit status if writing the output would replace the program, a
// file among its arguments or the file of the GPU. Otherwise returns kDone.
ExitCode CheckOutputOf(const std::vector<std::string>& program, const ProgramOptions& options,
                       const std::string& output);

// Called instead of writing the trace and printing the summary. `seen` has at least one run.
using SeenProgram = std::function<ExitCode(program::Program& seen, const program::Outcome&)>;

// Runs `program`, writes its trace, and prints the summary.
ExitCode RunProgram(const std::vector<std::string>& program, const ProgramOptions& options,
                    const RunOutput& output, bool planned, const SeenProgram& use = {});

}  // namespace vramscope::cli
