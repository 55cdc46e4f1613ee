// Where the LibTorch is that the embedded loop (vramscope-worker) runs on, found by looking at
// files: nothing of it is loaded or executed.
//
//   const LibTorch torch = FindLibTorch(OwnSetupPlaces());
//   if (torch.found()) Start(LibraryFolder(torch.root)); else Say(torch.why);
//
// Looked for in this order, the first that fits is taken: $VRAMSCOPE_TORCH_ROOT (and then nothing
// else), the build tree's, what `vramscope setup` downloaded, the Python environment that this
// program is installed in, $VIRTUAL_ENV, $CONDA_PREFIX, python3 of $PATH. Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "profiler/program/interpreters.h"

namespace vramscope::setup {

struct SetupPlaces {
  std::string torch_root;      // $VRAMSCOPE_TORCH_ROOT
  std::string program_folder;  // of the program that asks
  std::string download;        // DownloadedTorch()
  program::Places python;
};
SetupPlaces OwnSetupPlaces();

struct LibTorch {
  enum class From { kNowhere, kEnvironment, kBuildTree, kDownload, kPython };
  From from = From::kNowhere;
  std::string root;   // a folder that holds torch/
  std::string where;  // "$VRAMSCOPE_TORCH_ROOT", "the build tree", "python3 of PATH"
  std::string version;
  // Every PyTorch that was seen and does not do, and why: "torch 2.6.0+cu124 in /x: ...".
  std::vector<std::string> others;
  bool found() const { return from != From::kNowhere; }
};
LibTorch FindLibTorch(const SetupPlaces& places);

// What to say where there is none: which were seen and do not do, and what to do.
std::string HowToGetLibTorch(const LibTorch& not_found);

// Whether the worker can run on the torch/ in `packages`: its version and CUDA as torch/version.py
// says, and libraries that are there and are of this processor. kNotFound: no torch;
// kFailedPrecondition: one of another version or build, said with what is needed.
absl::Status CheckTorch(const std::string& packages);

// For the worker's search path.
std::string LibraryFolder(const std::string& root);

// $XDG_DATA_HOME/vramscope, or ~/.local/share/vramscope. "" without either.
std::string DataFolder();
// Where `vramscope setup` puts it: DataFolder()/torch-VERSION. "" without a data folder.
std::string DownloadedTorch();

// Why the wheels cannot work on this computer, whatever is downloaded: "" where they can. Another
// architecture, a C library that is not glibc.
std::string WhyNoLibTorchHere();
// `machine` as uname says it, `c_library` as confstr does: "glibc 2.36"; "": it does not say.
std::string WhyNoLibTorchOn(const std::string& machine, const std::string& c_library);

}  // namespace vramscope::setup
