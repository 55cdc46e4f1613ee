// Which CUDA libraries a process uses must be decided before it loads its first library. So a
// program that plans sets its environment and then executes itself again. A program that only
// starts vramscope-worker sets the environment and executes the worker.
//
//   if (absl::Status status = SetEmulatedEnvironment(build / "emulated"); !status.ok()) ...
//   execv(program, argv);
//
// Does not use LibTorch, because that loads libcudart. Call it before any thread is started.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace vramscope::trainer {

// The number of devices in a process that plans. Each kind of GPU gets a device of its own.
constexpr int kPlannedDevices = 38;
// The key of a status payload, which says that this process has no device number left for the run.
// A new process can execute it.
constexpr char kNeedsNewProcess[] = "vramscope/needs-new-process";

// Sets the environment so that processes executed later take all CUDA libraries from `folder`.
// These processes have kPlannedDevices devices, so that another GPU can be planned without a new
// process. Switches off address randomization, so that addresses, and hashes of them, are the same
// in all runs. Returns kFailedPrecondition if the platform is missing.
absl::Status SetEmulatedEnvironment(const std::string& folder);

}  // namespace vramscope::trainer
