// Environments with another version of a package, for `plan --with`: folders that come first on
// PYTHONPATH. Each holds what the program's own environment lacks of that version and of what it
// requires, but never PyTorch, which is the program's own. pip makes them, with the user's
// settings, and they are kept in $XDG_CACHE_HOME/vramscope/environments; into the user's own
// environment nothing is installed.
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
  bool kept = false;                  // it was there: pip was not started
  std::vector<std::string> packages;  // "transformers==4.51.0"; none: the program has them itself
};

class ProgramEnvironments {
 public:
  // Of the Python that the command starts. Errors: it starts none, or it does not answer.
  static absl::StatusOr<ProgramEnvironments> Of(const std::vector<std::string>& command);

  const std::string& python() const { return python_; }
  // Where that version's is, whether or not it has been made.
  std::string FolderOf(const std::string& package, const std::string& version) const;
  // Makes it where it is not there. Errors: pip's last words, and what to do.
  absl::StatusOr<ProgramEnvironment> Get(const std::string& package,
                                         const std::string& version) const;

 private:
  absl::Status Make(const std::string& requirement, const std::string& folder) const;

  std::string python_, parent_;
  std::string key_;                 // of the interpreter and what is installed in it
  std::vector<std::string> torch_;  // "torch==2.9.0+cu130", ...: what has to stay
};

// Those that are kept, of whatever Python.
struct StoredEnvironment {
  std::string name;  // "transformers==4.51.0-cpython-311-0123456789ab"
  std::string folder;
  uint64_t bytes = 0;
};
std::string EnvironmentsFolder();  // "": there is no place for one
std::vector<StoredEnvironment> StoredEnvironments();
// Deletes them, and what interrupted ones have left. Bytes that were there.
absl::StatusOr<uint64_t> RemoveEnvironments();

}  // namespace vramscope::cli
