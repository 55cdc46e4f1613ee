// The folder that LibTorch is downloaded into (find_libtorch.h: DataFolder()): parts of downloads
// that can be gone on with, what is unpacked, and who may write there now.
//
//   ASSIGN_OR_RETURN(auto folder, InstallFolder::Lock(DataFolder()));   // one process at a time
//   ... fill folder.PartOf(wheel) ...
//   RETURN_IF_ERROR(folder.Install({wheel}, progress, &cancel));
//
// Whatever ends the process, DataFolder()/torch-VERSION is whole or not there, and parts stay.
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
  // Makes the folder where there is none. kUnavailable: another process is at it;
  // kPermissionDenied, kResourceExhausted, ...: as the system says, with the folder.
  static absl::StatusOr<InstallFolder> Lock(const std::string& data_folder);
  InstallFolder(InstallFolder&& other) noexcept;
  InstallFolder& operator=(InstallFolder&&) = delete;
  ~InstallFolder();

  const std::string& path() const { return path_; }
  std::string TorchPath() const;
  std::string PartOf(const Wheel& wheel) const;  // the file that it is downloaded into
  uint64_t BytesOf(const Wheel& wheel) const;    // that are there of it

  // kResourceExhausted where the disk has no room for what is still to come of these wheels and for
  // what they unpack to.
  absl::Status CheckRoom(const std::vector<Wheel>& wheels, uint64_t unpacked) const;

  using Progress = std::function<void(uint64_t done, uint64_t total)>;
  // Unpacks the libraries of whole, checked wheels beside their place, looks whether they can be
  // used (CheckTorch), and moves them there in one go. Then the parts are deleted. kCancelled.
  absl::Status Install(const std::vector<Wheel>& wheels, const Progress& progress,
                       const std::atomic<bool>* cancel) const;
  // Everything that was downloaded or unpacked, and the lock: nothing can be done with this folder
  // after it. How many bytes it had.
  absl::StatusOr<uint64_t> Remove() const;

 private:
  InstallFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

// About what the libraries take unpacked, for what is said before anything is there.
inline constexpr uint64_t kUnpackedBytes = uint64_t{970} << 20;

// Whether a file of a wheel is unpacked: libraries that the embedded loop loads, and what says
// which version and under which licence they are.
bool IsUnpacked(std::string_view name);

// What lies below a folder, without following links.
uint64_t BytesBelow(const std::string& folder);

}  // namespace vramscope::setup
