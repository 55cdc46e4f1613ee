// The CUDA libraries of a process must be chosen before its first library is loaded. So a program
// that plans sets its own environment and then executes itself again. A program that only starts
// vramscope-worker sets the environment and executes the worker.
//
//   if (absl::Status status = SetEmulatedEnvironment(build / "emulated"); !status.ok()) ...
//   execv(program, argv);
//
// Does not use LibTorch, which loads libcudart. Call it before any thread is started.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace vramscope::trainer {

// Number of devices in a planning process. Each kind of planned GPU gets its own number.
constexpr int kPlannedDevices = 38;
// Payload key of a status: this process has used all its device numbers, but a new process can
// execute the run.
constexpr char kNeedsNewProcess[] = "vramscope/needs-new-process";

// Sets the environment for child processes: all CUDA libraries come from `folder`, and there are
// kPlannedDevices devices, so that planning for another GPU needs no new process. Address
// randomization is off, so every run has the same addresses and the same hashes of them. Returns
// kFailedPrecondition if the platform is missing.
absl::Status SetEmulatedEnvironment(const std::string& folder);

}  // namespace vramscope::trainer
