// vramscope-worker: chooses the CUDA libraries of the process, then executes vramscope-worker-loop.
// Even LibTorch's CPU library needs libcudart, so this is done before LibTorch is loaded. This
// program itself does not link LibTorch, because loading it takes a quarter of a second. It also
// chooses LibTorch's folder (profiler/setup/find_libtorch.h). The loader searches that folder
// before the folder of the build tree in the loop's rpath.
//
//   --stdio                    libtorch_cuda on the emulated platform (emulated/): plans, and runs
//                              on the CPU
//   --stdio --backend cuda [--cuda-libraries DIR:DIR]
//                              libtorch_cuda on the real libraries, from those folders first, and a
//                              GPU
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/install_paths.h"
#include "profiler/setup/find_libtorch.h"
#include "trainer/backends/cuda/emulated_process.h"

namespace {

namespace setup = vramscope::setup;

// Returns the value of `name`, given as "--name value" or "--name=value", or "" if it is not given.
std::string_view Option(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == name && i + 1 < argc) return argv[i + 1];
    if (argument.size() > name.size() && argument.starts_with(name) &&
        argument[name.size()] == '=') {
      return argument.substr(name.size() + 1);
    }
  }
  return {};
}

void SearchFirst(std::string folders) {
  if (const char* before = getenv("LD_LIBRARY_PATH"); before != nullptr && *before != '\0')
    folders.append(":").append(before);
  setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const setup::LibTorch torch = setup::FindLibTorch(setup::OwnSetupPlaces());
  if (!torch.found()) {
    std::fprintf(stderr, "vramscope-worker: %s\n", setup::HowToGetLibTorch(torch).c_str());
    return 4;
  }
  if (torch.from != setup::LibTorch::From::kBuildTree)
    SearchFirst(setup::LibraryFolder(torch.root));
  if (Option(argc, argv, "--backend") == "cuda") {
    if (std::string folders(Option(argc, argv, "--cuda-libraries")); !folders.empty())
      SearchFirst(std::move(folders));
  } else {
    const absl::Status status =
        vramscope::trainer::SetEmulatedEnvironment(vramscope::base::OwnPaths().emulated);
    if (!status.ok()) {
      std::fprintf(stderr, "vramscope-worker: %s\n", std::string(status.message()).c_str());
      return 4;
    }
  }
  const std::string program = vramscope::base::OwnPaths().worker_loop;
  std::vector<char*> arguments(argv, argv + argc + 1);  // including the final null
  execv(program.c_str(), arguments.data());
  std::fprintf(stderr, "vramscope-worker: can't start %s: %s\n", program.c_str(),
               std::strerror(errno));
  return 4;
}
