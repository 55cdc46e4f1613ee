// Reads the output folder of `vramscope plan -- PROGRAM` or `record -- PROGRAM`: one trace for each
// process that used CUDA. The program can write to the folder, so its contents are untrusted.
//
//   ASSIGN_OR_RETURN(Program program, ReadProgram(folder, {.device = profile}));
//   for (const ProcessRun& run : program.runs) use(*run.trace);
//
// Thread-safe for different folders.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/program/activity_file.h"
#include "profiler/program/marks.h"
#include "profiler/program/toggles.h"
#include "profiler/recording/recording.h"
#include "profiler/run/check_run.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/reported_gpu.h"
#include "profiler/trace/trace.h"

namespace vramscope::program {

struct ReadOptions {
  run::DeviceProfile device;  // the planned GPU; a recording names its GPU itself
  // Whether the program ran on the emulated platform, with a real GPU's sizes and modelled times.
  bool planned = true;
  std::string title;
  const std::atomic<bool>* cancel = nullptr;
};

// Launches of kernels and library calls in a planned process.
struct Launches {
  uint64_t all = 0;
  uint64_t recognised = 0;            // launches that the emulated platform interprets
  std::string most_frequent_unknown;  // mangled name of the kernel; "": none
};

// A process's description of itself (process-PID.json).
struct About {
  int64_t pid = 0;
  uint32_t rank = 0, world_size = 1;
  std::string host;                      // name of the computer
  std::string torch, cuda, hip, python;  // versions; `cuda` is "" in a build without it
  std::string ended;      // "end", "enough", "exception", "exit", "exec"; "": killed or still runs
  int64_t ended_ns = 0;   // wall clock; 0: not known
  std::string exception;  // "OutOfMemoryError: CUDA out of memory. ..."
  std::string package;    // folder of the hooks
  bool virtual_clock = false;
  int64_t begin_ns = 0;  // wall clock
  bool trains = false;   // has created an optimizer
  run::ReportedGpu gpu;  // the first GPU that the process used
  trace::ModelSummary model;
  std::vector<run::Assumption> assumptions;
  std::vector<ToggleReport> toggles;  // empty: toggles were not looked for
  std::vector<std::string> sources;   // the program's own files that it has imported
  uint64_t context_bytes = 0;         // context on the emulated platform, at the end; 0: not known
  Launches launches;                  // launches on the emulated platform
};

struct ProcessRun {
  About about;
  std::shared_ptr<const trace::Trace> trace;
  int64_t begin_ns = 0;  // the trace's time 0, on the clock that all processes share
  // The number that the process's first device gets in JoinRuns(). Its further devices follow.
  uint8_t first_device = 0;
};

// A process on the emulated platform that has neither hooks nor activities: a program without
// Python, run with --no-activities.
struct Unwatched {
  int64_t pid = 0;
  std::string device;            // the GPU on which the process used the most memory
  uint64_t most_used_bytes = 0;  // the process's maximum on that GPU, without the context
  uint64_t memory_bytes = 0, context_bytes = 0;
  uint64_t launches = 0;
};

struct Program {
  std::vector<About> processes;  // all processes that imported torch
  // Runs with a history come first, sorted by rank and process, then processes without Python.
  std::vector<ProcessRun> runs;
  std::vector<Unwatched> unwatched;
  std::vector<std::string> warnings;
  bool python = false;         // an interpreter has run with the hooks, even without torch
  std::string python_failure;  // why the last interpreter without torch failed, or ""
};

// Returns the process that first failed with an exception. (Other processes often fail as a
// consequence.) Null if none failed, or if processes failed only after the first ranks had
// completed enough steps.
const About* FirstFailure(const Program& program);

absl::StatusOr<Program> ReadProgram(const std::string& folder, const ReadOptions& options);

// Reads the folder while the program runs. Every call reads the data that was added since the last
// one and returns everything read so far.
//
//   FolderReader reader(folder, {.device = profile});
//   while (runs) Show(reader.Read(false));
//   Show(reader.Read(true));
//
// If a run has no new data, Read() returns the same trace as before. One thread at a time.
class FolderReader {
 public:
  FolderReader(std::string folder, ReadOptions options);
  ~FolderReader();
  // `ended`: the program has ended. Before that, incomplete traces are no error.
  absl::StatusOr<Program> Read(bool ended);

 private:
  struct Process;
  absl::StatusOr<ProcessRun> ReadProcess(const About& about, bool ended);
  // Reads a process without Python from CUPTI's records.
  absl::StatusOr<ProcessRun> ReadUnhooked(int64_t pid, bool ended);

  const std::string folder_;
  const ReadOptions options_;
  std::map<int64_t, std::unique_ptr<Process>> processes_;  // by pid
};

// Joins all runs to one trace, in which each run has its own devices (trace/processes.h). If there
// is only one run, returns its trace unchanged; if there is none, null. If there are too many
// devices for a trace, uses those of the first ranks and adds a warning to the program.
std::shared_ptr<const trace::Trace> JoinRuns(Program& program);

// Parses the report of one process. kDataLoss: not a JSON object, or nested too deeply.
absl::StatusOr<About> ParseAbout(std::string_view json);
absl::StatusOr<std::shared_ptr<const trace::Trace>> BuildTrace(
    recording::Recording recording, const Marks& marks, const About& about,
    const ReadOptions& options, bool ended = true, const ActivityFile* activities = nullptr,
    std::span<const trace::StringId> operators = {});

}  // namespace vramscope::program
