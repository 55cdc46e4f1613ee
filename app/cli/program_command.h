// `plan` and `record` of anybody's program: what stands behind "--" on the command line.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "app/cli/plan.h"
#include "profiler/program/isolation.h"
#include "profiler/program/remote.h"

namespace vramscope::cli {

struct ProgramOptions {
  std::string device;      // as --device has it; "": the one that runs are planned for
  std::string gpu_memory;  // in place of its own
  uint32_t ranks = 1;
  uint32_t devices = 0;  // that a process finds; 0: as many as ranks
  int64_t as_rank = -1;
  uint32_t steps = 2;
  bool no_skip_init = false;
  bool cpp_stacks = false;
  bool no_activities = false;
  program::IsolationMode isolation = program::IsolationMode::kAuto;
  bool no_isolation = false;  // IsolationMode::kNone
  bool no_network = false;
  std::vector<std::string> writable;  // paths that an isolated program really writes to
  bool operators = false;             // of kernels, in a recording: a plan has them
  program::Remote remote;             // no host: here
  bool stream = false;                // this is the other side of somebody's --host
  std::string keep;                   // folder that gets what the hooks wrote
  std::string from;                   // folder that has it: nothing is started
  // File that gets program::OutcomeJson; then nothing else is read, said or written.
  std::string outcome;
};

void AddProgramOptions(CLI::App& command, ProgramOptions& options, bool planned);

// Runs `program`, writes its trace, says what was seen.
ExitCode RunProgram(const std::vector<std::string>& program, const ProgramOptions& options,
                    const RunOutput& output, bool planned);

}  // namespace vramscope::cli
