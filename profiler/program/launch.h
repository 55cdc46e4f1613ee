// Starts a program under the watcher's hooks, on the emulated platform or on the real libraries,
// and sees it to its end: every process that it started is gone when Launch returns.
//
//   ASSIGN_OR_RETURN(Platform platform, FindPlatform(true));
//   const Outcome outcome = Launch(platform, {.command = {"python", "train.py"}, .device = card,
//                                             .output = folder});
//   ASSIGN_OR_RETURN(Program program, ReadProgram(folder, ...));
//
// Blocks; one at a time in a process (it reaps that process's children).
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "profiler/program/isolation.h"
#include "profiler/run/device_profile.h"

namespace vramscope::program {

// Where the emulated platform's libraries and the hooks are: in $VRAMSCOPE_EMULATED, else
// where profiler/base/install_paths.h says.
struct Platform {
  std::string libraries;        // folder of libvramscope-audit.so and of what it redirects to
  std::string hooks;            // folder of sitecustomize.py
  std::string activities = {};  // the library that listens to CUPTI; "": there is none
};
// kNotFound says where it was looked for; `planned`: with the libraries, too.
absl::StatusOr<Platform> FindPlatform(bool planned);

struct Progress {
  double seconds = 0;  // since it was started
  uint64_t steps = 0;  // of the lowest rank
  uint64_t bytes = 0;  // of history written
};

Progress ProgressOf(const std::string& folder);

struct LaunchOptions {
  std::vector<std::string> command;
  bool planned = true;        // false: the real libraries, the hooks alone
  run::DeviceProfile device;  // that every rank finds
  uint32_t ranks = 1;         // so many processes, each as torchrun would start it
  uint32_t devices = 0;       // cards that a process finds; 0: as many as ranks
  int64_t as_rank = -1;       // >= 0: one process, which is this one of `ranks`
  uint32_t steps = 2;         // the program is ended after so many optimizer steps; 0: never
  bool skip_init = true;
  bool cpp_stacks = false;
  bool activities = true;    // kernels, copies and calls, as CUPTI tells them
  bool operators = false;    // and which of PyTorch's operators launched them: costs time
  std::string toggles = {};  // ToggleVariable(): what is switched, or looked for; "": nothing is
  // Where a process waits that has imported what the program imports (warm.h): it becomes it. "":
  // the program begins cold, as it does where nobody answers.
  std::string warm = {};
  // The other side: the program waits there, with the modules of this file imported, until it is
  // ended. "": it runs.
  std::string serve = {}, modules = {};
  std::string output;  // folder that exists; the hooks write there
  // Should this process be killed (keeper.h): a command that is run when the program is ended, and
  // whether `output` goes after it.
  std::vector<std::string> if_killed = {};
  bool output_goes = false;
  bool stdout_to_stderr = false;  // what the program prints
  // Keeps the program's changes from the user's files; null: they are real. Outlives Launch.
  const Isolation* isolation = nullptr;
  std::function<void(const Progress&)> progress = {};
  // How often the user wants it to end: 1 as Ctrl-C, more at once. May be set by a signal handler.
  const std::atomic<int>* interrupts = nullptr;
};

struct Outcome {
  absl::Status started;  // kNotFound, kPermissionDenied, ...: there is no such program
  int exit_status = 0;   // the first that is not 0
  int signal = 0;        // that ended it; 0: none did
  bool interrupted = false;
  std::string isolation;    // "overlay", "copy" or "none"; "": of a recording
  std::string cold;         // why it did not begin where LaunchOptions::warm says; "": it did
  std::string write_error;  // the hooks could not write any more: what the system said
  double seconds = 0;
};
Outcome Launch(const Platform& platform, const LaunchOptions& options);

}  // namespace vramscope::program
