// Where vramscope's own files are. Relative to the running program, so that an installed tree can
// be moved anywhere; of a build tree and of an installed one alike:
//
//   build/release/bin/vramscope, vramscope-worker, ...    PREFIX/bin/vramscope
//   build/release/lib/libvramscope_torch_cuda.so          PREFIX/lib/vramscope/vramscope-worker,
//   ... build/release/emulated/                               PREFIX/lib/vramscope/emulated/
//                                                         PREFIX/share/
//
// An installed tree that brings its own Qt (packaging/) has in bin/ a program that starts
// lib/vramscope/vramscope.
#pragma once

#include <filesystem>

namespace vramscope::base {

struct InstallPaths {
  bool installed = false;             // false: a build tree
  std::filesystem::path vramscope;    // what people start
  std::filesystem::path worker;       // vramscope-worker
  std::filesystem::path worker_loop;  // what that becomes
  std::filesystem::path torch_cuda;   // the module that links libtorch_cuda
  std::filesystem::path emulated;     // the emulated platform and, in python/, the hooks
  std::filesystem::path share;        // fonts, licences, ...; a build tree has none: empty
};

// Of the tree that `program` lies in (its bin/ or lib/vramscope/). Whether the files are there is
// for the caller to see.
InstallPaths PathsOf(const std::filesystem::path& program);

// Of the running program.
const InstallPaths& OwnPaths();

// The program in bin/ of an installed tree lets the loader look into folders of the tree for
// libraries that this computer lacks (app/starter). It concerns nothing that is started from here:
// LD_LIBRARY_PATH is again what the user said. Before there are threads.
void RestoreLibraryPath();

}  // namespace vramscope::base
