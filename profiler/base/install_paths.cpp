#include "profiler/base/install_paths.h"

#include <cstdlib>
#include <string>

namespace vramscope::base {

namespace fs = std::filesystem;

InstallPaths PathsOf(const fs::path& program) {
  const fs::path folder = program.parent_path();
  std::error_code none;
  fs::path root;
  if (folder.filename() == "vramscope" && folder.parent_path().filename() == "lib") {
    root = folder.parent_path().parent_path();
  } else if (fs::is_directory(folder.parent_path() / "lib/vramscope", none)) {
    root = folder.parent_path();
  }
  if (!root.empty()) {
    const fs::path own = root / "lib/vramscope";
    return {.installed = true,
            .vramscope = root / "bin/vramscope",
            .worker = own / "vramscope-worker",
            .worker_loop = own / "vramscope-worker-loop",
            .torch_cuda = own / "libvramscope_torch_cuda.so",
            .emulated = own / "emulated",
            .share = root / "share"};
  }
  root = folder.parent_path();
  return {.vramscope = folder / "vramscope",
          .worker = folder / "vramscope-worker",
          .worker_loop = folder / "vramscope-worker-loop",
          .torch_cuda = root / "lib/libvramscope_torch_cuda.so",
          .emulated = root / "emulated"};
}

const InstallPaths& OwnPaths() {
  static const auto* own = [] {
    std::error_code none;
    return new InstallPaths(PathsOf(fs::read_symlink("/proc/self/exe", none)));
  }();
  return *own;
}

void RestoreLibraryPath() {
  const char* before = std::getenv("VRAMSCOPE_LIBRARY_PATH_BEFORE");
  if (before == nullptr) return;
  const std::string path = before;
  unsetenv("VRAMSCOPE_LIBRARY_PATH_BEFORE");
  if (path.empty()) {
    unsetenv("LD_LIBRARY_PATH");
  } else {
    setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  }
}

}  // namespace vramscope::base
