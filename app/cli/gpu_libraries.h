// Finds this computer's CUDA libraries for a run on its GPU, because LibTorch's wheel contains
// none. Example:
//
//   const absl::StatusOr<std::vector<std::string>> folders = GpuLibraries("");
//   if (folders.ok()) StartWorkerWith(*folders);
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace vramscope::cli {

// Returns the folders that the worker searches before the system's folders. They belong to the
// PyTorch of `python`. An empty `python` selects the first interpreter whose PyTorch is for the
// same CUDA version. The list is empty if the libraries are installed on the system. Returns
// kFailedPrecondition if there is no GPU or if libraries are missing; the message says what to do.
absl::StatusOr<std::vector<std::string>> GpuLibraries(const std::string& python);

}  // namespace vramscope::cli
