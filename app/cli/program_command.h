// `plan` and `record` of anybody's program: what stands behind "--" on the command line.
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
  std::vector<std::string> toggles;   // NAME or NAME=VALUE, switched on from outside
  std::string warm, serve, modules;   // LaunchOptions'
  bool all_toggles = false;           // say of all of them whether they apply
  bool operators = false;             // of kernels, in a recording: a plan has them
  program::Remote remote;             // no host: here
  bool stream = false;                // this is the other side of somebody's --host
  bool watch = false;                 // plan again when a file is saved
  std::string keep;                   // folder that gets what the hooks wrote
  std::string from;                   // folder that has it: nothing is started
  // File that gets program::OutcomeJson; then nothing else is read, said or written.
  std::string outcome;
  uint64_t memory_bytes = 0;  // of the card that is planned for; 0: what the device table says
  std::optional<uint64_t>
      context_bytes;  // of that memory, beside the allocator; what the table says
};
// Those that say nothing where there is no program.
inline constexpr const char* kProgramOptionNames[] = {
    "--ranks",        "--as-rank",    "--devices",  "--steps",  "--keep",  "--isolation",
    "--no-isolation", "--no-network", "--writable", "--toggle", "--watch", "--with"};

void AddProgramOptions(CLI::App& command, ProgramOptions& options, bool planned);

// What follows from a program that has ended: done, the answer is no, or why it failed.
ExitCode Verdict(const program::Program& seen, const program::Outcome& outcome, bool out_of_memory);

// In place of writing its trace and saying what was seen; there is at least one run.
using SeenProgram = std::function<ExitCode(program::Program& seen, const program::Outcome&)>;

// Runs `program`, writes its trace, says what was seen.
ExitCode RunProgram(const std::vector<std::string>& program, const ProgramOptions& options,
                    const RunOutput& output, bool planned, const SeenProgram& use = {});

}  // namespace vramscope::cli
