#include "app/cli/gpu_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "nvml/gpu_probe.h"
#include "profiler/base/i18n.h"
#include "profiler/program/interpreters.h"

namespace vramscope::cli {
namespace {

// LibTorch 2.11's wheel (which ./vramscope installs) is built for CUDA 13.
constexpr std::string_view kCuda = "13.";
constexpr const char* kRuntime = "libcudart.so.13";

std::vector<std::string> FoldersWithRuntime(const program::Interpreter& interpreter) {
  if (!interpreter.cuda.starts_with(kCuda)) return {};
  std::vector<std::string> folders = program::CudaLibraryFolders(interpreter);
  for (const std::string& folder : folders) {
    std::error_code none;
    if (std::filesystem::exists(std::filesystem::path(folder) / kRuntime, none)) return folders;
  }
  return {};
}

}  // namespace

absl::StatusOr<std::vector<std::string>> GpuLibraries(const std::string& python) {
  const nvml::GpuProbe probe = nvml::ProbeGpu(false);
  if (!probe.initialised) {
    return absl::FailedPreconditionError(i18n::Format(
        "backend=cuda needs a GPU in this computer: {}. To predict the run without a GPU, use "
        "`vramscope plan`; to compute the run on the CPU, use `vramscope run --backend cpu`",
        i18n::Shown(probe.error)));
  }
  const program::Places places = program::OwnPlaces();
  if (!python.empty()) {
    const program::Interpreter named = program::InspectInterpreter(python, "--python", places);
    std::vector<std::string> folders = FoldersWithRuntime(named);
    if (!folders.empty()) return folders;
    return absl::FailedPreconditionError(
        i18n::Format("--python {}: this Python has {}, but it has no libraries of CUDA {}x; "
                     "install these libraries with `pip install torch`",
                     python, program::TorchText(named), kCuda));
  }
  for (const program::Interpreter& found : program::FindInterpreters("", places)) {
    std::vector<std::string> folders = FoldersWithRuntime(found);
    if (!folders.empty()) return folders;
  }
  if (void* system = dlopen(kRuntime, RTLD_LAZY | RTLD_LOCAL); system != nullptr) {
    dlclose(system);
    return std::vector<std::string>();
  }
  return absl::FailedPreconditionError(i18n::Format(
      "backend=cuda: {} and other CUDA libraries were not found. Run `pip install torch` in a "
      "virtual environment, and pass its Python with --python VENV/bin/python",
      kRuntime));
}

}  // namespace vramscope::cli
