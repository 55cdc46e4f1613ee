// Makes environments with another version of a package for `plan --with`. An environment is a
// folder that comes first on PYTHONPATH. The folder contains that version, and its requirements if
// the program's own environment lacks them. It never contains PyTorch. pip makes the environments
// with the user's settings. The environments are kept in $XDG_CACHE_HOME/vramscope/environments.
// The user's own environment is not changed.
//
//   ASSIGN_OR_RETURN(ProgramEnvironments all, ProgramEnvironments::Of(command));
//   ASSIGN_OR_RETURN(ProgramEnvironment one, all.Get("transformers", "4.51.0"));
//
// Blocks.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::cli {

struct ProgramEnvironment {
  std::string folder;
  bool existed = false;               // it already existed: pip was not started
  std::vector<std::string> packages;  // "transformers==4.51.0"; empty: the program already has them
};

class ProgramEnvironments {
 public:
  // Uses the Python that the command starts. Fails if the command starts none, or if Python fails.
  static absl::StatusOr<ProgramEnvironments> Of(const std::vector<std::string>& command);

  const std::string& python() const { return python_; }
  // Returns the folder for the environment of that version. The folder need not exist.
  std::string FolderOf(const std::string& package, const std::string& version) const;
  // Makes the environment if it does not exist. Errors contain pip's last lines and a hint.
  absl::StatusOr<ProgramEnvironment> Get(const std::string& package,
                                         const std::string& version) const;

 private:
  absl::Status Make(const std::string& requirement, const std::string& folder) const;

  std::string python_, parent_;
  std::string key_;  // identifies the interpreter and its packages
  // packages that must not change, such as "torch==2.9.0+cu130"
  std::vector<std::string> torch_;
};

// An existing environment, for any Python.
struct StoredEnvironment {
  std::string name;  // "transformers==4.51.0-cpython-311-0123456789ab"
  std::string folder;
  uint64_t bytes = 0;
};
std::string EnvironmentsFolder();  // "": no folder is available
std::vector<StoredEnvironment> StoredEnvironments();
// Deletes all environments, and the leftovers of interrupted installations. Returns the bytes
// freed.
absl::StatusOr<uint64_t> RemoveEnvironments();

}  // namespace vramscope::cli
