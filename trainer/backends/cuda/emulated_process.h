// Which CUDA libraries a process has is settled before its first library is loaded. So a program
// that plans says it in its environment and starts once more; one that only starts another
// (vramscope-worker) says it and starts that.
//
//   if (absl::Status status = SetEmulatedEnvironment(build / "emulated"); !status.ok()) ...
//   execv(program, argv);
//
// Free of LibTorch, which wants libcudart already. Before there are threads.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace vramscope::trainer {

// Devices of a process that plans: each kind of GPU that it plans for has a number of its own.
constexpr int kPlannedDevices = 38;
// Payload of a status: this process has planned for as many kinds as it can, another one can make
// the run.
constexpr char kNeedsNewProcess[] = "vramscope/needs-new-process";

// What a process started from here inherits: every library of CUDA's comes from `folder`, there are
// kPlannedDevices devices (planning for another GPU needs no new process), and addresses are the
// same every time (orders that come of hashes of them, too).
// kFailedPrecondition: the platform is not there.
absl::Status SetEmulatedEnvironment(const std::string& folder);

}  // namespace vramscope::trainer
