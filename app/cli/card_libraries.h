// CUDA's libraries of this computer, for a run on its card: LibTorch's wheel brings none.
//
//   const absl::StatusOr<std::vector<std::string>> folders = CardLibraries("");
//   if (folders.ok()) StartWorkerWith(*folders);
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace vramscope::cli {

// Folders that the worker looks into before the system's: those that the PyTorch of `python` came
// with, or, where none is named, of the first interpreter that has one for the same CUDA. Empty:
// the system has them. kFailedPrecondition: no card is there, or no libraries; what to do is said.
absl::StatusOr<std::vector<std::string>> CardLibraries(const std::string& python);

}  // namespace vramscope::cli
