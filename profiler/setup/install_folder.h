// The folder for the download of LibTorch (find_libtorch.h: DataFolder()). It contains partial
// downloads, which can be resumed, the unpacked libraries, and the lock of the writing process.
//
//   ASSIGN_OR_RETURN(auto folder, InstallFolder::Lock(DataFolder()));   // excludes other processes
//   ... fill folder.PartOf(wheel) ...
//   RETURN_IF_ERROR(folder.Install({wheel}, progress, &cancel));
//
// If the process is killed, DataFolder()/torch-VERSION is either complete or missing, and partial
// downloads are kept.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/setup/wheels.h"

namespace vramscope::setup {

class InstallFolder {
 public:
  // Creates the folder if it does not exist. kUnavailable: another process holds the lock;
  // kPermissionDenied, kResourceExhausted, ...: errors of the system; the message names the folder.
  static absl::StatusOr<InstallFolder> Lock(const std::string& data_folder);
  InstallFolder(InstallFolder&& other) noexcept;
  InstallFolder& operator=(InstallFolder&&) = delete;
  ~InstallFolder();

  const std::string& path() const { return path_; }
  std::string TorchPath() const;
  std::string PartOf(const Wheel& wheel) const;  // path of the wheel's download
  uint64_t BytesOf(const Wheel& wheel) const;    // bytes downloaded so far

  // kResourceExhausted: the disk has no space for the rest of these downloads and for the
  // unpacked files.
  absl::Status CheckRoom(const std::vector<Wheel>& wheels, uint64_t unpacked) const;

  using Progress = std::function<void(uint64_t done, uint64_t total)>;
  // Unpacks the libraries of complete, checked wheels into a temporary folder, checks them
  // (CheckTorch), and moves them to their place in one step. After that, deletes the downloads.
  // kCancelled: `cancel` was set.
  absl::Status Install(const std::vector<Wheel>& wheels, const Progress& progress,
                       const std::atomic<bool>* cancel) const;
  // Removes everything that was downloaded or unpacked, and the lock. This object cannot be used
  // after that. Returns the number of bytes removed.
  absl::StatusOr<uint64_t> Remove() const;

 private:
  InstallFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

// Approximate size of the unpacked libraries, for messages before the download.
inline constexpr uint64_t kUnpackedBytes = uint64_t{970} << 20;

// Returns whether a file of a wheel is unpacked. These are the libraries that the embedded loop
// loads, and the files with the version and the licenses.
bool IsUnpacked(std::string_view name);

// Returns the bytes of all files below a folder. Does not follow links.
uint64_t BytesBelow(const std::string& folder);

}  // namespace vramscope::setup
