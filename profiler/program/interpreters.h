// Finds the Python interpreters with which a user may want to run a script, and their PyTorch.
// The facts are read from files. No interpreter is started, because importing torch takes
// seconds.
//
//   for (const Interpreter& i : FindInterpreters("/home/me/project/train.py", OwnPlaces()))
//     Offer(i.path, i.where, TorchText(i));
//
// Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

enum class TorchBuild {
  kUnknown,  // torch exists, but nothing more is known
  kNone,
  kCuda,
  kProcessor,  // built without CUDA
  kRocm,
};

struct Interpreter {
  std::string path;         // the program to start; a virtual environment's symlink
                            // is not resolved
  std::string where;        // "VIRTUAL_ENV", ".venv next to the script", "python3 on PATH"
  std::string python = {};  // version, as far as known: "3.11.2", "3.11", ""
  TorchBuild build = TorchBuild::kNone;
  std::string torch = {};     // "2.11.0+cu130"
  std::string cuda = {};      // "13.0"
  std::string packages = {};  // the folder that contains torch
};

// Where to search, from the environment of this process or as set by a test.
struct Places {
  std::string virtual_env, conda_prefix, home, path, python_path, pyenv_version;
};
Places OwnPlaces();

// Returns interpreters, without duplicates, in this order: those of the active virtual environment
// and conda environment; of .venv, venv, env and .env next to the script and in folders above it;
// of other conda environments; python3 and python from PATH (pyenv shims are resolved). `script`
// may be empty or a folder.
std::vector<Interpreter> FindInterpreters(const std::string& script, const Places& places);

// Returns the facts about an interpreter that the user named.
Interpreter InspectInterpreter(const std::string& path, const std::string& where,
                               const Places& places);

// Returns the folders of the NVIDIA libraries that PyTorch's wheels install, sorted:
// site-packages/nvidia/*/lib.
std::vector<std::string> CudaLibraryFolders(const Interpreter& interpreter);

std::string TorchText(const Interpreter& interpreter);  // "torch 2.11.0+cu130", "no torch"
// Returns why this interpreter cannot plan a program and what to do, or "" if no reason is known.
std::string WhyNot(const Interpreter& interpreter);

}  // namespace vramscope::program
