// Paths of vramscope's own files, relative to the running program, so that an installed tree can be
// moved. A build tree and an installed tree have the same relative paths:
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

// The paths of the tree that contains `program` (in its bin/ or lib/vramscope/). The caller must
// check that the files exist.
InstallPaths PathsOf(const std::filesystem::path& program);

// The paths of the tree that contains the running program.
const InstallPaths& OwnPaths();

// Restores LD_LIBRARY_PATH to the user's value, for the programs that this process starts. In an
// installed tree, the program in bin/ (app/starter) adds the tree's folders of libraries that this
// computer lacks to the variable. Call before any thread is started.
void RestoreLibraryPath();

}  // namespace vramscope::base
