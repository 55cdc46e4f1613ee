// Finds a LibTorch for the embedded loop (vramscope-worker). It only looks at files: nothing is
// loaded or executed.
//
//   const LibTorch torch = FindLibTorch(OwnSetupPlaces());
//   if (torch.found()) Start(LibraryFolder(torch.root)); else Say(HowToGetLibTorch(torch));
//
// The first usable LibTorch in these places is used: $VRAMSCOPE_TORCH_ROOT (if set, no other place
// is searched), the build tree, the download of `vramscope setup`, the Python environment that
// contains this program, $VIRTUAL_ENV, $CONDA_PREFIX, python3 in $PATH. Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "profiler/program/interpreters.h"

namespace vramscope::setup {

struct SetupPlaces {
  std::string torch_root;      // $VRAMSCOPE_TORCH_ROOT
  std::string program_folder;  // folder of the calling program
  std::string download;        // DownloadedTorch()
  program::Places python;
};
SetupPlaces OwnSetupPlaces();

struct LibTorch {
  enum class From { kNowhere, kEnvironment, kBuildTree, kDownload, kPython };
  From from = From::kNowhere;
  std::string root;   // a folder that contains torch/
  std::string where;  // "$VRAMSCOPE_TORCH_ROOT", "the build tree", "python3 on PATH"
  std::string version;
  // Every PyTorch that was rejected, with the reason: "torch 2.6.0+cu124 in /x: ...".
  std::vector<std::string> rejected;
  bool found() const { return from != From::kNowhere; }
};
LibTorch FindLibTorch(const SetupPlaces& places);

// Returns the message for a failed search: the rejected installations, and how to get LibTorch.
std::string HowToGetLibTorch(const LibTorch& not_found);

// Checks whether the worker can use the torch/ in `packages`. Its versions (in torch/version.py)
// must fit, and its libraries must exist and be for this processor. kNotFound: no torch;
// kFailedPrecondition: a version or build that cannot be used; the message states what is needed.
absl::Status CheckTorch(const std::string& packages);

// Returns the folder to put on the worker's search path.
std::string LibraryFolder(const std::string& root);

// Returns $XDG_DATA_HOME/vramscope or ~/.local/share/vramscope, or "" if no variable is usable.
std::string DataFolder();
// Returns the target folder of `vramscope setup` (DataFolder()/torch-VERSION), or "".
std::string DownloadedTorch();

// Returns why the wheels cannot work on this computer: another architecture, another C library than
// glibc, or an old glibc. Returns "" if they can.
std::string WhyNoLibTorchHere();
// `machine`: from uname. `c_library`: from confstr, such as "glibc 2.36"; "": unknown.
std::string WhyNoLibTorchOn(const std::string& machine, const std::string& c_library);

}  // namespace vramscope::setup
