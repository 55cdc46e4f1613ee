// A file that appears whole or not at all, whatever happens, a loss of power too: written beside
// its place under another name, brought to the disk, renamed, and the folder brought to the disk.
// Used by everything that saves.
//
//   ASSIGN_OR_RETURN(auto file, OutputFile::Create("run.trace"));
//   RETURN_IF_ERROR(file->Write(bytes));
//   RETURN_IF_ERROR(file->Commit());   // without it the old file stays and nothing is left behind
//
// "-" is standard output; that and other things that are not files (pipes, devices) are written
// directly. One object belongs to one thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace vramscope::trace {

class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // kResourceExhausted when the disk (or a quota, or the largest file size) is full; kUnavailable
  // for other things that the system says.
  absl::Status Write(std::string_view bytes);
  absl::Status Commit();

  // The one being written under another name, for a signal handler that ends the program; nullptr:
  // none. Of several at a time, the one that was begun last.
  static const char* Unfinished();

 private:
  OutputFile() = default;
  absl::Status Error(int error, std::string_view what) const;

  int fd_ = -1;
  bool owns_fd_ = true;
  std::string path_;       // as the user gave it, for messages
  std::string target_;     // with links followed
  std::string temporary_;  // "" when written directly
  uint64_t written_ = 0;
  absl::Status status_;
};

}  // namespace vramscope::trace
