#include "profiler/setup/find_libtorch.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
#include "profiler/setup/wheels.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;

// The major version of the CUDA libraries that the emulated platform and the worker use.
constexpr std::string_view kCudaMajor = "13.";
constexpr const char* kLibraries[] = {
    "libc10.so",        "libc10_cuda.so",          "libtorch_cpu.so",
    "libtorch_cuda.so", "libtorch_cuda_linalg.so", "libtorch_nvshmem.so"};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Whether the file begins like a shared library for x86-64.
bool IsLibrary(const fs::path& path) {
  Elf64_Ehdr header{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  return file.gcount() == sizeof header &&
         std::memcmp(static_cast<const unsigned char*>(header.e_ident), ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN &&
         header.e_machine == EM_X86_64;
}

// For a program in a build tree, returns VRAMSCOPE_TORCH_ROOT from the CMakeCache.txt in the parent
// of `program_folder`; "" for other programs.
fs::path BuildTreeTorch(const fs::path& program_folder) {
  if (program_folder.empty()) return {};
  std::ifstream cache(program_folder.parent_path() / "CMakeCache.txt");
  constexpr std::string_view kKey = "VRAMSCOPE_TORCH_ROOT:PATH=";
  for (std::string line; std::getline(cache, line);)
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  return {};
}

// Finds the interpreter of the Python environment in which the program is installed, or else an
// interpreter next to the program.
std::vector<program::Interpreter> OwnPython(const fs::path& program_folder,
                                            const program::Places& places) {
  constexpr const char* kOwn = TEXT_MARK("the Python that vramscope is installed in");
  std::vector<program::Interpreter> out;
  for (fs::path at = program_folder; !at.empty() && at != at.parent_path(); at = at.parent_path()) {
    const std::string name = at.filename().string();
    if (name != "site-packages" && name != "dist-packages") continue;
    program::Places only;  // searches only this folder and no active environments
    only.python_path = at.string();
    out.push_back(
        program::InspectInterpreter((at / "../../../bin/python3").lexically_normal(), kOwn, only));
  }
  std::error_code none;
  if (fs::exists(program_folder / "python3", none) &&
      fs::exists(program_folder / "../pyvenv.cfg", none))
    out.push_back(program::InspectInterpreter(program_folder / "python3", kOwn, places));
  return out;
}

std::vector<program::Interpreter> ActivePythons(const program::Places& places) {
  std::vector<program::Interpreter> out;
  std::error_code none;
  const auto add = [&](const fs::path& program, const char* where) {
    if (!program.is_absolute() || !fs::exists(program, none)) return false;
    out.push_back(program::InspectInterpreter(program.string(), where, places));
    return true;
  };
  if (!places.virtual_env.empty())
    add(fs::path(places.virtual_env) / "bin/python3", TEXT_MARK("the environment of $VIRTUAL_ENV"));
  if (!places.conda_prefix.empty())
    add(fs::path(places.conda_prefix) / "bin/python3",
        TEXT_MARK("the environment of $CONDA_PREFIX"));
  for (std::string_view rest = places.path; !rest.empty();) {
    const size_t end = rest.find(':');
    if (add(fs::path(rest.substr(0, end)) / "python3", TEXT_MARK("python3 on PATH"))) break;
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return out;
}

}  // namespace

SetupPlaces OwnSetupPlaces() {
  std::error_code none;
  return {.torch_root = Environment("VRAMSCOPE_TORCH_ROOT"),
          .program_folder = fs::read_symlink("/proc/self/exe", none).parent_path().string(),
          .download = DownloadedTorch(),
          .python = program::OwnPlaces()};
}

absl::Status CheckTorch(const std::string& packages) {
  program::Places only;
  only.python_path = packages;
  const program::Interpreter found = program::InspectInterpreter("", "", only);
  if (found.build == program::TorchBuild::kNone)
    return absl::NotFoundError(i18n::Format("there is no torch/ folder in {}", packages));
  const std::string version = found.torch.substr(0, found.torch.find('+'));
  if (version != TorchVersion() || found.build != program::TorchBuild::kCuda ||
      !found.cuda.starts_with(kCudaMajor)) {
    return absl::FailedPreconditionError(
        i18n::Format("found {}{} in {}, but built-in models need torch {} built for CUDA 13",
                     program::TorchText(found),
                     found.cuda.empty() ? "" : i18n::Format(" for CUDA {}", found.cuda), packages,
                     TorchVersion()));
  }
  for (const char* library : kLibraries) {
    if (IsLibrary(fs::path(LibraryFolder(packages)) / library)) continue;
    return absl::FailedPreconditionError(
        i18n::Format("torch {} in {} has no usable {}", found.torch, packages, library));
  }
  return absl::OkStatus();
}

LibTorch FindLibTorch(const SetupPlaces& places) {
  LibTorch out;
  const auto take = [&](const std::string& root, LibTorch::From from, const std::string& where) {
    const absl::Status status = CheckTorch(root);
    if (!status.ok()) {
      if (!absl::IsNotFound(status)) out.rejected.emplace_back(status.message());
      return false;
    }
    out.from = from;
    out.root = root;
    out.where = where;
    out.version = TorchVersion();
    return true;
  };
  if (!places.torch_root.empty()) {
    if (!take(places.torch_root, LibTorch::From::kEnvironment, "$VRAMSCOPE_TORCH_ROOT") &&
        out.rejected.empty())
      out.rejected.push_back(
          i18n::Format("$VRAMSCOPE_TORCH_ROOT is {}, which contains no torch/", places.torch_root));
    return out;
  }
  if (const fs::path built = BuildTreeTorch(places.program_folder);
      !built.empty() &&
      take(built.string(), LibTorch::From::kBuildTree, TEXT_MARK("the build tree")))
    return out;
  if (!places.download.empty() &&
      take(places.download, LibTorch::From::kDownload, "vramscope setup"))
    return out;
  std::vector<program::Interpreter> pythons = OwnPython(places.program_folder, places.python);
  for (program::Interpreter& active : ActivePythons(places.python))
    pythons.push_back(std::move(active));
  std::vector<std::string> seen;
  for (const program::Interpreter& python : pythons) {
    const std::string& packages = python.packages;
    if (packages.empty() || std::find(seen.begin(), seen.end(), packages) != seen.end()) continue;
    seen.push_back(packages);
    if (take(packages, LibTorch::From::kPython, python.where)) return out;
  }
  return out;
}

std::string HowToGetLibTorch(const LibTorch& not_found) {
  uint64_t bytes = 0;
  for (const Wheel& wheel : WheelsFor("run")) bytes += wheel.bytes;
  std::string text = i18n::Format(
      "plans of built-in models need LibTorch {}, which is not installed; `vramscope setup` "
      "downloads it ({})",
      TorchVersion(), run::FormatBytes(bytes));
  for (const std::string& other : not_found.rejected) text += "; " + other;
  if (const std::string never = WhyNoLibTorchHere(); !never.empty()) text = never;
  return text;
}

std::string LibraryFolder(const std::string& root) { return (fs::path(root) / "torch/lib"); }

std::string DataFolder() {
  // A relative path is invalid by the XDG specification, so it is ignored.
  if (const std::string xdg = Environment("XDG_DATA_HOME"); xdg.starts_with('/'))
    return fs::path(xdg) / "vramscope";
  const std::string home = Environment("HOME");
  return home.starts_with('/') ? (fs::path(home) / ".local/share/vramscope").string() : "";
}

std::string DownloadedTorch() {
  const std::string data = DataFolder();
  return data.empty() ? "" : (fs::path(data) / ("torch-" + TorchVersion())).string();
}

std::string WhyNoLibTorchOn(const std::string& machine, const std::string& c_library) {
  if (machine != "x86_64")
    return i18n::Format(
        "LibTorch {} with CUDA 13 is only available for x86-64, and this computer is {}",
        TorchVersion(), machine);
  // The wheels need glibc 2.28: their tag is manylinux_2_28.
  constexpr int kLeast = 28;
  int major = 0, minor = 0;
  if (std::sscanf(c_library.c_str(), "glibc %d.%d", &major, &minor) != 2)
    return i18n::Format("PyTorch's wheels need the GNU C library, and this computer has {}",
                        c_library.empty() ? i18n::Text("another one (musl?)") : c_library);
  if (major < 2 || (major == 2 && minor < kLeast))
    return i18n::Format("PyTorch's wheels need glibc 2.{}, and this computer has {}", kLeast,
                        c_library);
  return "";
}

std::string WhyNoLibTorchHere() {
  utsname system{};
  const std::string machine = uname(&system) == 0 ? system.machine : "x86_64";
  std::string c_library;
#ifdef _CS_GNU_LIBC_VERSION
  constexpr size_t kLength = 64;
  char version[kLength] = "";
  if (confstr(_CS_GNU_LIBC_VERSION, version, sizeof version) > 0) c_library = version;
#endif
  return WhyNoLibTorchOn(machine, c_library);
}

}  // namespace vramscope::setup
