// Finds this computer's CUDA libraries for a run on its GPU, because LibTorch's wheel contains
// none.
//
//   const absl::StatusOr<std::vector<std::string>> folders = GpuLibraries("");
//   if (folders.ok()) StartWorkerWith(*folders);
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace vramscope::cli {

// Returns the folders that the worker searches before the system's folders: those that belong to
// the PyTorch of `python` or, if `python` is empty, to that of the first interpreter whose PyTorch
// is for the same CUDA version. The list is empty if the system itself has the libraries.
// kFailedPrecondition: no GPU or no libraries; the message states what to do.
absl::StatusOr<std::vector<std::string>> GpuLibraries(const std::string& python);

}  // namespace vramscope::cli
