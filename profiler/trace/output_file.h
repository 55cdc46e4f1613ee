// A file that appears completely or not at all, even after a power loss. The contents are written
// to an unnamed file in the folder and synced. Then the file gets a temporary name and is renamed,
// and the folder is synced. If the file system does not support unnamed files, the temporary name
// exists from the start, and a killed process leaves it behind. All code that saves uses this.
//
//   ASSIGN_OR_RETURN(auto file, OutputFile::Create("run.trace"));
//   RETURN_IF_ERROR(file->Write(bytes));
//   RETURN_IF_ERROR(file->Commit()); // otherwise, the old file stays and nothing is left behind
//
// "-" is standard output. Standard output and everything that is not a regular file (pipes,
// devices) is written directly. One object belongs to one thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace vramscope::trace {

class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);
  // Reports in advance the errors that Create() would report, so that nothing is computed in vain.
  // Leaves no file behind, and opens no pipe or device.
  static absl::Status Check(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // kResourceExhausted if the disk is full (or a quota or file size limit is reached); kUnavailable
  // for other system errors.
  absl::Status Write(std::string_view bytes);
  absl::Status Commit();

  // Called by handlers that end the program. Removes the unfinished file that has a temporary name.
  // If there are several, removes only the file that was begun last. Returns whether a file was
  // being written. Async-signal-safe.
  static bool RemoveUnfinished();

 private:
  OutputFile() = default;
  std::string TemporaryName(int attempt) const;
  // Calls `make`, which creates the file under the given name, or returns -1 and sets errno. If the
  // name exists, calls `make` again with another name.
  bool Name(const std::function<int(const char*)>& make);
  void CountAsWriting(bool is);
  enum class Doing { kWriting, kReplacing, kKeeping };
  absl::Status Error(int error, Doing doing = Doing::kWriting) const;

  int fd_ = -1;
  bool owns_fd_ = true;
  std::string path_;       // the path that the user gave, for messages
  std::string target_;     // the path with links resolved
  std::string temporary_;  // "": the file has no temporary name at present
  bool counted_ = false;
  bool direct_ = false;  // not a regular file: a pipe, a device, standard output
  uint64_t written_ = 0;
  absl::Status status_;
};

}  // namespace vramscope::trace
