// Starts a program with vramscope's hooks, on the emulated platform or with the real libraries.
// Waits for its end: when Launch returns, every process of the program has ended.
//
//   ASSIGN_OR_RETURN(Platform platform, FindPlatform(true));
//   const Outcome outcome = Launch(platform, {.command = {"python", "train.py"}, .device = device,
//                                             .output = folder});
//   ASSIGN_OR_RETURN(Program program, ReadProgram(folder, ...));
//
// Blocks. A process may make only one call at a time, because the call reaps all of its children.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "profiler/program/isolation.h"
#include "profiler/run/device_profile.h"

namespace vramscope::program {

// The locations of the emulated platform's libraries and of the hooks. They are in
// $VRAMSCOPE_EMULATED or, if that is not set, in the path from profiler/base/install_paths.h.
struct Platform {
  std::string libraries;  // folder of libvramscope-audit.so and the libraries that it redirects to
  std::string hooks;      // folder of sitecustomize.py
  std::string activities = {};  // the library that records CUPTI's activities; "": there is none
};
// kNotFound: the message lists the searched places. `planned`: requires the emulated libraries,
// too.
absl::StatusOr<Platform> FindPlatform(bool planned);

struct Progress {
  double seconds = 0;  // since the start
  uint64_t steps = 0;  // steps of the lowest rank
  uint64_t bytes = 0;  // bytes of the history written so far
};

Progress ProgressOf(const std::string& folder);

struct LaunchOptions {
  std::vector<std::string> command;
  bool planned = true;        // false: the real libraries, with hooks only
  run::DeviceProfile device;  // the emulated GPU of every rank
  uint32_t ranks = 1;         // number of processes, each started as torchrun would
  uint32_t devices = 0;       // GPUs visible to a process; 0: as many as ranks
  int64_t as_rank = -1;       // >= 0: only this rank of `ranks` is started
  uint32_t steps = 2;         // ends the program after this number of optimizer steps; 0: never
  bool skip_init = true;
  bool cpp_stacks = false;
  bool activities = true;    // record kernels, memcpys and API calls with CUPTI
  bool operators = false;    // also record which operator launched a kernel (takes time)
  std::string toggles = {};  // ToggleVariable(): toggles to apply or to look for; "": none
  // The socket of a process that has already imported the program's modules (warm.h). A fork of
  // that process becomes the program. If this is "" or nothing answers, the program starts cold.
  std::string warm = {};
  // If not "", starts the process for `warm` instead of the program. That process imports the
  // modules listed in the file `modules` and waits at the socket `serve` until it is ended.
  std::string serve = {}, modules = {};
  std::string output;  // existing folder to which the hooks write
  // If this process is killed, the keeper (keeper.h) ends the program and runs this command. Then,
  // if `output_goes` is true, it removes `output`.
  std::vector<std::string> if_killed = {};
  bool output_goes = false;
  bool stdout_to_stderr = false;  // the program's standard output goes to standard error
  // Keeps the program from changing the user's files; null: changes are real. Must outlive Launch.
  const Isolation* isolation = nullptr;
  std::function<void(const Progress&)> progress = {};
  // The program is ended if, after `steps`, it waits for this long without doing anything (idle.h).
  std::chrono::milliseconds most_idle = std::chrono::seconds(10);
  // How often the user has interrupted the program. 1 has the effect of Ctrl-C. A higher number
  // ends the program immediately. May be set by a signal handler.
  const std::atomic<int>* interrupts = nullptr;
};

struct Outcome {
  absl::Status started;  // kNotFound, kPermissionDenied, ...: the program could not be started
  int exit_status = 0;   // the first nonzero exit status of a rank
  int signal = 0;        // signal that ended the program; 0: none
  bool interrupted = false;
  bool idle = false;        // was ended because it did nothing after LaunchOptions::steps
  std::string isolation;    // "overlay", "copy" or "none"; "": a recording
  std::string cold;         // why LaunchOptions::warm was not used; "": it was used
  std::string write_error;  // the system's error if the hooks could no longer write
  double seconds = 0;
};
Outcome Launch(const Platform& platform, const LaunchOptions& options);

}  // namespace vramscope::program
