// The CUDA libraries of a process must be chosen before its first library is loaded. So a program
// that plans sets its environment and executes itself again. A program that only starts another one
// (vramscope-worker) sets the environment and executes that program.
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
// Payload key of a status. It means that this process has used all its device numbers, and that a
// new process can execute the run.
constexpr char kNeedsNewProcess[] = "vramscope/needs-new-process";

// Sets the environment for child processes: all CUDA libraries come from `folder`, and there are
// kPlannedDevices devices, so that planning for another GPU needs no new process. Addresses are the
// same in every run, and so are orders that depend on hashes of addresses. Returns
// kFailedPrecondition if the platform is missing.
absl::Status SetEmulatedEnvironment(const std::string& folder);

}  // namespace vramscope::trainer
