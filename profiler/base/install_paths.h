// Finds vramscope's own files relative to the running program, so that an installed tree can be
// moved. Build trees and installed trees have the same relative paths:
//
//   build/release/bin/vramscope, vramscope-worker, ...    PREFIX/bin/vramscope
//   build/release/lib/libvramscope_torch_cuda.so          PREFIX/lib/vramscope/vramscope-worker
//   build/release/emulated/                               PREFIX/lib/vramscope/emulated/
//                                                         PREFIX/share/
//
// In an installed tree with its own Qt (packaging/), the program in bin/ starts
// lib/vramscope/vramscope.
#pragma once

#include <filesystem>

namespace vramscope::base {

struct InstallPaths {
  bool installed = false;             // false for a build tree
  std::filesystem::path vramscope;    // the program that users start
  std::filesystem::path worker;       // vramscope-worker
  std::filesystem::path worker_loop;  // the program that vramscope-worker executes
  std::filesystem::path torch_cuda;   // the module that links libtorch_cuda
  std::filesystem::path emulated;     // the emulated platform and, in python/, the hooks
  std::filesystem::path share;        // fonts, licences, ...; empty in a build tree
};

// Returns the paths of the tree that contains `program` in bin/ or lib/vramscope/. Does not check
// that the files exist.
InstallPaths PathsOf(const std::filesystem::path& program);

// Returns the paths of the tree that contains the running program.
const InstallPaths& OwnPaths();

// Restores the user's LD_LIBRARY_PATH for the programs that this process starts. In an installed
// tree, the program in bin/ (app/starter) adds folders to it with libraries that this computer
// lacks. Call before any thread is started.
void RestoreLibraryPath();

}  // namespace vramscope::base
