// What `vramscope plan -- PROGRAM` and `record -- PROGRAM` left in their output folder, as traces:
// one for every process that used CUDA. The folder is the program's, so nothing in it is trusted.
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
#include "profiler/run/card.h"
#include "profiler/run/check_run.h"
#include "profiler/run/device_profile.h"
#include "profiler/trace/trace.h"

namespace vramscope::program {

struct ReadOptions {
  run::DeviceProfile device;  // that was planned for; what was recorded tells its card itself
  bool planned = true;  // on the emulated platform: sizes are what a card would see, times modelled
  std::string title;
  const std::atomic<bool>* cancel = nullptr;
};

// Kernels and calls of libraries that a planned process launched.
struct Launches {
  uint64_t all = 0;
  uint64_t recognised = 0;            // of which the emulated platform knows what they do
  std::string most_frequent_unknown;  // kernel, mangled; "": none
};

// What a process said of itself (process-PID.json).
struct About {
  int64_t pid = 0;
  uint32_t rank = 0, world_size = 1;
  std::string host;                      // the computer's name
  std::string torch, cuda, hip, python;  // versions; `cuda` is "" in a build without it
  std::string ended;      // "end", "enough", "exception", "exit"; "": it was killed, or still runs
  int64_t ended_ns = 0;   // wall clock; 0: not known
  std::string exception;  // "OutOfMemoryError: CUDA out of memory. ..."
  std::string package;    // folder of the hooks
  bool virtual_clock = false;
  int64_t begin_ns = 0;  // wall clock
  run::Card card;        // that it used first
  trace::ModelSummary model;
  std::vector<run::Assumption> assumptions;
  std::vector<ToggleReport> toggles;  // none: nobody looked for them
  std::vector<std::string> sources;   // files of the program's own that it has imported
  uint64_t context_bytes = 0;         // on the emulated platform, when it ended; 0: not known
  Launches launches;                  // likewise
};

struct ProcessRun {
  About about;
  std::shared_ptr<const trace::Trace> trace;
  int64_t begin_ns = 0;      // of the trace's time 0, on the clock that all processes have
  uint8_t first_device = 0;  // its number in JoinRuns(); the process's others follow
};

// A process that used the emulated platform and told nothing: a program without Python, with
// --no-activities.
struct Unwatched {
  int64_t pid = 0;
  std::string device;            // of its cards, the one that it used most of
  uint64_t most_used_bytes = 0;  // of that card at once, beside the context
  uint64_t memory_bytes = 0, context_bytes = 0;
  uint64_t launches = 0;
};

struct Program {
  std::vector<About> processes;  // all that imported torch
  // Those with a history, by rank and process; behind them those without Python.
  std::vector<ProcessRun> runs;
  std::vector<Unwatched> unwatched;
  std::vector<std::string> warnings;
};

// The process that failed first, and by an exception: what it says is why others, and whoever
// started them, fail after it. Null: none did, or the first ones had already seen enough steps.
const About* FirstFailure(const Program& program);

absl::StatusOr<Program> ReadProgram(const std::string& folder, const ReadOptions& options);

// The same while the program runs: every call reads what has come since, and gives all so far.
//
//   FolderReader reader(folder, {.device = profile});
//   while (runs) Show(reader.Read(false));
//   Show(reader.Read(true));
//
// A run of which nothing has come keeps its trace. One thread at a time.
class FolderReader {
 public:
  FolderReader(std::string folder, ReadOptions options);
  ~FolderReader();
  // `ended`: the program is gone; before that its traces are not complete, and nothing is wrong
  // with that.
  absl::StatusOr<Program> Read(bool ended);

 private:
  struct Process;
  absl::StatusOr<ProcessRun> ReadProcess(const About& about, bool ended);
  // Of a process without Python: what CUPTI told of it.
  absl::StatusOr<ProcessRun> ReadUnhooked(int64_t pid, bool ended);

  const std::string folder_;
  const ReadOptions options_;
  std::map<int64_t, std::unique_ptr<Process>> processes_;  // by pid
};

// All runs as one trace, each with devices of its own (trace/processes.h); of one run, its trace.
// Null where there is none. More devices than a trace can have: those of the first ranks, and a
// warning in the program.
std::shared_ptr<const trace::Trace> JoinRuns(Program& program);

// One process from its parts. kDataLoss: no JSON object, or one that is nested too deeply.
absl::StatusOr<About> ParseAbout(std::string_view json);
absl::StatusOr<std::shared_ptr<const trace::Trace>> BuildTrace(
    recording::Recording recording, const Marks& marks, const About& about,
    const ReadOptions& options, bool ended = true, const ActivityFile* activities = nullptr,
    std::span<const trace::StringId> operators = {});

}  // namespace vramscope::program
