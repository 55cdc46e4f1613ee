// A file that appears whole or not at all, whatever happens, a loss of power too: written without a
// name in its folder, brought to the disk, named beside its place, renamed, and the folder brought
// to the disk. Where the file system has no files without a name, it has that other name from the
// start, and a process that is killed leaves it behind. Used by everything that saves.
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
#include <functional>
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

  // For a handler that ends the program: removes what is written under another name at the moment
  // (of several files the one that was begun last). True: a file was being written. Only calls what
  // a signal handler may call.
  static bool RemoveUnfinished();

 private:
  OutputFile() = default;
  std::string TemporaryName(int attempt) const;
  // `make` gives the file a name, or -1 and errno; it is called again where the name is taken.
  bool Name(const std::function<int(const char*)>& make);
  void CountAsWriting(bool is);
  enum class Doing { kWriting, kReplacing, kKeeping };
  absl::Status Error(int error, Doing doing = Doing::kWriting) const;

  int fd_ = -1;
  bool owns_fd_ = true;
  std::string path_;       // as the user gave it, for messages
  std::string target_;     // with links followed
  std::string temporary_;  // "": it has no name yet, or not any more
  bool counted_ = false;
  bool direct_ = false;  // into what is no file: a pipe, a device, standard output
  uint64_t written_ = 0;
  absl::Status status_;
};

}  // namespace vramscope::trace
