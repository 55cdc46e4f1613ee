// Python interpreters that a script is likely to be meant for, each with the PyTorch that it has:
// read from the files of its environment, without starting it (importing torch takes seconds).
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
  kUnknown,  // there is one, of which no more is known
  kNone,
  kCuda,
  kProcessor,  // built without CUDA
  kRocm,
};

struct Interpreter {
  std::string path;         // to be started, as it was found: links of virtual environments are not
                            // followed
  std::string where;        // "VIRTUAL_ENV", ".venv beside the script", "python3 of PATH"
  std::string python = {};  // version, as far as it is known: "3.11.2", "3.11"; or ""
  TorchBuild build = TorchBuild::kNone;
  std::string torch = {};     // "2.11.0+cu130"
  std::string cuda = {};      // "13.0"
  std::string packages = {};  // the folder that has torch
};

// Where to look; from the environment of this process, or a test's.
struct Places {
  std::string virtual_env, conda_prefix, home, path, python_path, pyenv_version;
};
Places OwnPlaces();

// Virtual environment and conda environment that are active; .venv, venv, env and .env beside the
// script and in the folders above; conda's others; python3 and python of PATH (a shim of pyenv is
// what it would start). Each once. `script` may be empty or a folder.
std::vector<Interpreter> FindInterpreters(const std::string& script, const Places& places);

// One that the user named.
Interpreter InspectInterpreter(const std::string& path, const std::string& where,
                               const Places& places);

// Where the wheels of that PyTorch keep NVIDIA's libraries: site-packages/nvidia/*/lib, sorted.
std::vector<std::string> CudaLibraryFolders(const Interpreter& interpreter);

std::string TorchText(const Interpreter& interpreter);  // "torch 2.11.0+cu130", "no torch"
// Why a program of it cannot be planned, and what to do; "": nothing is known against it.
std::string WhyNot(const Interpreter& interpreter);

}  // namespace vramscope::program
