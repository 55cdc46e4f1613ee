#include "profiler/program/interpreters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "profiler/base/i18n.h"
#include "profiler/program/folder_entries.h"
#include "profiler/trace/input.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFile = 64 << 10;  // limit for the small text files read here
constexpr int kMaxFoldersUp = 16;
constexpr size_t kMaxFound = 32;

bool Executable(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0;
}

std::string ReadSmall(const fs::path& path) {
  const absl::StatusOr<std::string> text = trace::ReadWholeInput(path.string(), kMaxFile);
  return text.ok() ? *text : std::string();
}

// Returns the value of `key` in text with lines "KEY = VALUE", such as pyvenv.cfg.
std::string Setting(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto trimmed = [](std::string_view part) {
      while (!part.empty() && std::string_view(" \t\r").find(part.front()) != part.npos)
        part.remove_prefix(1);
      while (!part.empty() && std::string_view(" \t\r").find(part.back()) != part.npos)
        part.remove_suffix(1);
      return part;
    };
    if (trimmed(line.substr(0, equals)) == key)
      return std::string(trimmed(line.substr(equals + 1)));
  }
  return "";
}

// Returns the quoted value of NAME in torch/version.py, or "" if it is None or not there.
std::string Given(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with(name)) continue;
    const char after = line.size() > name.size() ? line[name.size()] : '\0';
    const size_t equals = line.find('=');
    if ((after != ' ' && after != ':' && after != '=') || equals == line.npos) continue;
    const size_t open = line.find_first_of("'\"", equals);
    if (open == line.npos) return "";
    const size_t close = line.find(line[open], open + 1);
    if (close == line.npos) return "";
    return std::string(line.substr(open + 1, std::min<size_t>(close - open - 1, 64)));
  }
  return "";
}

// Returns whether the folder of packages contains torch, and writes its version and build to `of`.
bool LookForTorch(const fs::path& packages, Interpreter& of) {
  std::error_code none;
  if (!fs::is_regular_file(packages / "torch/__init__.py", none)) return false;
  const std::string version = ReadSmall(packages / "torch/version.py");
  of.torch = Given(version, "__version__");
  of.cuda = Given(version, "cuda");
  of.packages = packages.string();
  of.build = of.torch.empty()                 ? TorchBuild::kUnknown
             : !of.cuda.empty()               ? TorchBuild::kCuda
             : !Given(version, "hip").empty() ? TorchBuild::kRocm
                                              : TorchBuild::kProcessor;
  return true;
}

// Returns "3.11" for a folder or program with the name python3.11.
std::string VersionInName(const std::string& name) {
  constexpr std::string_view kPython = "python";
  if (!name.starts_with(kPython)) return "";
  const std::string version = name.substr(kPython.size());
  const bool numbers = version.find('.') != version.npos && version.size() > 2 &&
                       version.find_first_not_of("0123456789.") == version.npos;
  return numbers ? version : "";
}

// Returns the package folders below a prefix for the given Python version, or for all versions if
// it is unknown.
std::vector<fs::path> PackagesOf(const fs::path& prefix, const std::string& version) {
  std::vector<fs::path> folders;
  for (const char* lib : {"lib", "lib64"}) {
    ForEachEntry(prefix / lib, [&](const fs::directory_entry& entry) {
      const std::string found = VersionInName(entry.path().filename().string());
      const bool same = version.empty() || found == version || version.starts_with(found + ".");
      if (found.empty() || !same || folders.size() > kMaxFound) return;
      folders.push_back(entry.path() / "site-packages");
      folders.push_back(entry.path() / "dist-packages");
    });
    folders.push_back(prefix / lib / "python3/dist-packages");
  }
  return folders;
}

class Inspector {
 public:
  Inspector(const Places& places, Interpreter& of) : places_(places), of_(of) {}

  void Inspect() {
    for (std::string_view rest = places_.python_path; !rest.empty();) {
      const size_t end = rest.find(':');
      if (const std::string_view folder = rest.substr(0, end);
          !folder.empty() && LookForTorch(folder, of_))
        return;
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    const fs::path program(of_.path);
    const fs::path prefix = program.parent_path().parent_path();
    const std::string venv = ReadSmall(prefix / "pyvenv.cfg");
    if (venv.empty()) {
      Base(program);
      return;
    }
    of_.python = Setting(venv, "version");
    if (of_.python.empty()) of_.python = Setting(venv, "version_info");
    if (Found(PackagesOf(prefix, ""))) return;
    const std::string home = Setting(venv, "home");
    if (Setting(venv, "include-system-site-packages") == "true" && !home.empty())
      Base(fs::path(home) / "python3");
  }

 private:
  // Searches the installation of an interpreter that is not in a virtual environment.
  void Base(const fs::path& program) {
    std::error_code none;
    fs::path real = fs::canonical(program, none);
    if (none) real = program;
    const fs::path prefix = real.parent_path().parent_path();
    std::string version = VersionInName(real.filename().string());
    if (of_.python.empty()) of_.python = version;
    if (Found(PackagesOf(prefix, version))) return;
    if (prefix == "/usr" && Found(PackagesOf("/usr/local", version))) return;
    if (!places_.home.empty()) Found(PackagesOf(fs::path(places_.home) / ".local", version));
  }

  bool Found(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      if (!LookForTorch(folder, of_)) continue;
      if (of_.python.empty()) of_.python = VersionInName(folder.parent_path().filename().string());
      return true;
    }
    return false;
  }

  const Places& places_;
  Interpreter& of_;
};

class Finder {
 public:
  explicit Finder(const Places& places) : places_(places) {}

  void Environment(const fs::path& prefix, const std::string& where) {
    for (const char* name : {"bin/python", "bin/python3"})
      if (Add(prefix / name, where)) return;
  }
  bool Add(const fs::path& program, const std::string& where) {
    if (!Executable(program)) return false;
    const std::string path = fs::absolute(program).lexically_normal().string();
    for (const Interpreter& other : found_)
      if (other.path == path) return true;
    if (found_.size() < kMaxFound) found_.push_back(InspectInterpreter(path, where, places_));
    return true;
  }
  std::vector<Interpreter> Take() { return std::move(found_); }

 private:
  const Places& places_;
  std::vector<Interpreter> found_;
};

std::string FirstLine(const fs::path& path) {
  const std::string text = ReadSmall(path);
  return text.substr(0, text.find_first_of("\r\n"));
}

// Resolves a pyenv shim to the interpreter that it starts in `folder`. Other programs are returned
// as they are.
fs::path BehindShim(const fs::path& program, const fs::path& folder, const Places& places) {
  const fs::path root = program.parent_path().parent_path();
  std::error_code none;
  if (program.parent_path().filename() != "shims" || !fs::is_directory(root / "versions", none))
    return program;
  std::string version = places.pyenv_version;
  for (fs::path at = folder; version.empty() && !at.empty(); at = at.parent_path()) {
    version = FirstLine(at / ".python-version");
    if (at == at.parent_path()) break;
  }
  if (version.empty()) version = FirstLine(root / "version");
  const fs::path found = root / "versions" / version / "bin" / program.filename();
  const bool inside = !version.empty() && version.find("..") == version.npos;
  return inside && Executable(found) ? found : program;
}

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Places OwnPlaces() {
  return {.virtual_env = EnvironmentVariable("VIRTUAL_ENV"),
          .conda_prefix = EnvironmentVariable("CONDA_PREFIX"),
          .home = EnvironmentVariable("HOME"),
          .path = EnvironmentVariable("PATH"),
          .python_path = EnvironmentVariable("PYTHONPATH"),
          .pyenv_version = EnvironmentVariable("PYENV_VERSION")};
}

Interpreter InspectInterpreter(const std::string& path, const std::string& where,
                               const Places& places) {
  Interpreter interpreter{.path = path, .where = where};
  Inspector(places, interpreter).Inspect();
  return interpreter;
}

std::vector<Interpreter> FindInterpreters(const std::string& script, const Places& places) {
  Finder finder(places);
  std::error_code none;
  fs::path folder = script.empty() ? fs::path() : fs::absolute(script, none).lexically_normal();
  if (!folder.empty() && !fs::is_directory(folder, none)) folder = folder.parent_path();
  // An environment next to the script is probably meant for it, even if another one is active.
  fs::path beside = folder;
  for (int up = 0; up < kMaxFoldersUp && !beside.empty(); ++up) {
    for (const char* name : {".venv", "venv", "env", ".env"})
      if (fs::is_directory(beside / name, none))
        finder.Environment(beside / name,
                           up == 0 ? i18n::Format("{} next to the script", name)
                                   : i18n::Format("{} in {}", name, beside.filename().string()));
    if (beside == beside.parent_path()) break;
    beside = beside.parent_path();
  }
  if (!places.virtual_env.empty()) finder.Environment(places.virtual_env, "VIRTUAL_ENV");
  if (!places.conda_prefix.empty())
    finder.Environment(places.conda_prefix,
                       "conda " + fs::path(places.conda_prefix).filename().string());
  if (!places.home.empty()) {
    std::string environments = ReadSmall(fs::path(places.home) / ".conda/environments.txt");
    for (std::string_view rest = environments; !rest.empty();) {
      const size_t end = rest.find('\n');
      if (const fs::path prefix(rest.substr(0, end)); prefix.is_absolute())
        finder.Environment(prefix, "conda " + prefix.filename().string());
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }
  for (const char* name : {"python3", "python"}) {
    for (std::string_view rest = places.path; !rest.empty();) {
      const size_t end = rest.find(':');
      const fs::path at = fs::path(rest.substr(0, end)) / name;
      if (at.is_absolute() &&
          finder.Add(BehindShim(at, folder, places), i18n::Format("{} on PATH", name)))
        break;
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }
  return finder.Take();
}

std::vector<std::string> CudaLibraryFolders(const Interpreter& interpreter) {
  std::vector<std::string> folders;
  if (interpreter.packages.empty()) return folders;
  ForEachEntry(fs::path(interpreter.packages) / "nvidia", [&](const fs::directory_entry& entry) {
    std::error_code none;
    if (fs::is_directory(entry.path() / "lib", none) && folders.size() < kMaxFound)
      folders.push_back(entry.path() / "lib");
  });
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string TorchText(const Interpreter& interpreter) {
  switch (interpreter.build) {
    case TorchBuild::kNone:
      return i18n::Text("no torch");
    case TorchBuild::kUnknown:
      return i18n::Text("torch of an unknown version");
    case TorchBuild::kProcessor:
      return interpreter.torch.ends_with("cpu")
                 ? i18n::Text("torch ") + interpreter.torch
                 : i18n::Format("torch {}, without CUDA", interpreter.torch);
    case TorchBuild::kRocm:
      return i18n::Format("torch {}, for ROCm", interpreter.torch);
    case TorchBuild::kCuda:
      break;
  }
  return i18n::Text("torch ") + interpreter.torch;
}

std::string WhyNot(const Interpreter& interpreter) {
  switch (interpreter.build) {
    case TorchBuild::kNone:
      return i18n::Text(
          "torch is not installed: choose another interpreter, or install torch (pip install "
          "torch), which needs no GPU");
    case TorchBuild::kProcessor:
      return i18n::Text(
          "torch is built for the CPU only: install the build for CUDA (pip install torch), which "
          "needs no GPU");
    case TorchBuild::kRocm:
      return i18n::Text(
          "torch is built for ROCm: install the build for CUDA (pip install torch), which needs no "
          "GPU");
    case TorchBuild::kUnknown:
    case TorchBuild::kCuda:
      break;
  }
  int major = 0;
  const std::string& version = interpreter.torch;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (!version.empty() && major < 2)
    return i18n::Text("torch is older than 2.0, the first version that records a memory history");
  return "";
}

}  // namespace vramscope::program
