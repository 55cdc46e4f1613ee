#include "profiler/setup/install_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/program/folder_entries.h"
#include "profiler/run/units.h"
#include "profiler/setup/find_libtorch.h"
#include "profiler/setup/zip_reader.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDownloads = "downloads";
constexpr const char* kPartial = "partial.";  // temporary folders for unpacking
constexpr const char* kTorch = "torch-";
constexpr const char* kLock = "setup.lock";
constexpr int kLockTurns = 10;

absl::Status SystemError(int error, const std::string& path) {
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(i18n::Format(
        "{}: the disk is full; make room, or set XDG_DATA_HOME to a folder on another disk", path));
  }
  return absl::ErrnoToStatus(error, path);
}

class OutFile {
 public:
  OutFile(int folder, const std::string& name, mode_t mode)
      : fd_(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   mode)),
        error_(fd_ < 0 ? errno : 0) {}
  ~OutFile() {
    if (fd_ >= 0) close(fd_);
  }
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;
  int error() const { return error_; }
  bool Write(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
      const ssize_t put = write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) error_ = errno;
      if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
    }
    return error_ == 0;
  }
  bool Finish() {
    if (error_ == 0 && fdatasync(fd_) != 0) error_ = errno;
    return error_ == 0;
  }

 private:
  int fd_;
  int error_;
};

// Unpacks into a new folder that no other process uses.
absl::Status Unpack(const ZipReader& zip, const fs::path& folder,
                    const std::function<absl::Status(uint64_t)>& wrote) {
  for (const ZipReader::Entry& entry : zip.entries()) {
    if (!IsUnpacked(entry.name)) continue;
    const fs::path path = folder / entry.name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return SystemError(error.value(), path.parent_path().string());
    OutFile out(AT_FDCWD, path.string(), 0644);
    if (out.error() != 0) return SystemError(out.error(), path.string());
    const absl::Status status = zip.Extract(entry, [&](std::string_view bytes) {
      if (!out.Write(bytes)) return SystemError(out.error(), path.string());
      return wrote(bytes.size());
    });
    if (!status.ok()) return status;
    if (!out.Finish()) return SystemError(out.error(), path.string());
  }
  return absl::OkStatus();
}

bool IsFileAt(int fd, const std::string& path) {
  using Stat = struct stat;
  Stat ours{}, there{};
  return fstat(fd, &ours) == 0 && lstat(path.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino;
}

struct RemovedOnExit {
  fs::path path;
  ~RemovedOnExit() {
    std::error_code none;
    if (!path.empty()) fs::remove_all(path, none);
  }
};

}  // namespace

bool IsUnpacked(std::string_view name) {
  constexpr std::string_view kLib = "torch/lib/";
  if (name == "torch/version.py" || name == "torch/__init__.py") return true;
  const size_t slash = name.find('/');
  if (slash != name.npos && name.substr(0, slash).ends_with(".dist-info")) return true;
  if (!name.starts_with(kLib)) return false;
  name.remove_prefix(kLib.size());
  // vramscope does not use Python, so it does not need the libraries for Python.
  return name.find('/') == name.npos && name.find(".so") != name.npos &&
         !name.starts_with("libtorch_python.") && !name.starts_with("libshm");
}

uint64_t BytesBelow(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  if (fs::is_symlink(folder, error)) return 0;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code none;
    if (at->is_regular_file(none) && !at->is_symlink(none)) bytes += at->file_size(none);
  }
  return bytes;
}

absl::StatusOr<InstallFolder> InstallFolder::Lock(const std::string& data_folder) {
  if (data_folder.empty())
    return absl::FailedPreconditionError(
        i18n::Text("there is no folder to download LibTorch into; set $XDG_DATA_HOME or $HOME"));
  // Tries again if another process removes the folder (see Remove()) while these calls are made.
  for (int turn = 1;; ++turn) {
    std::error_code error;
    fs::create_directories(fs::path(data_folder) / kDownloads, error);
    if (error) return SystemError(error.value(), data_folder);
    const std::string path = fs::path(data_folder) / kLock;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0 && errno == ENOENT && turn < kLockTurns) continue;
    if (fd < 0) return SystemError(errno, path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      close(fd);
      if (why != EWOULDBLOCK) return SystemError(why, path);
      return absl::UnavailableError(
          i18n::Format("another vramscope process is setting up LibTorch in {}; wait until it has "
                       "finished, and try again",
                       data_folder));
    }
    if (IsFileAt(fd, path)) return InstallFolder(data_folder, fd);
    close(fd);  // locking a removed file keeps nobody out
    if (turn == kLockTurns)
      return absl::UnavailableError(
          i18n::Format("another vramscope process is removing LibTorch from {}; wait until it has "
                       "finished, and try again",
                       data_folder));
  }
}

InstallFolder::InstallFolder(InstallFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

InstallFolder::~InstallFolder() {
  if (lock_ >= 0) close(lock_);
}

std::string InstallFolder::TorchPath() const { return fs::path(path_) / (kTorch + TorchVersion()); }

std::string InstallFolder::PartOf(const Wheel& wheel) const {
  return fs::path(path_) / kDownloads / (wheel.file + ".part");
}

uint64_t InstallFolder::BytesOf(const Wheel& wheel) const {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(PartOf(wheel), error);
  return error ? 0 : bytes;
}

absl::Status InstallFolder::CheckRoom(const std::vector<Wheel>& wheels, uint64_t unpacked) const {
  uint64_t needed = unpacked;
  for (const Wheel& wheel : wheels) needed += wheel.bytes - std::min(wheel.bytes, BytesOf(wheel));
  std::error_code error;
  const fs::space_info space = fs::space(path_, error);
  if (error) return SystemError(error.value(), path_);
  if (space.available >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(i18n::Format(
      "{} has {} of free space, but {} are needed; make room, or set XDG_DATA_HOME to a folder "
      "on another disk",
      path_, run::FormatBytes(space.available), run::FormatBytes(needed)));
}

absl::Status InstallFolder::Install(const std::vector<Wheel>& wheels, const Progress& progress,
                                    const std::atomic<bool>* cancel) const {
  // Folders that killed processes have left. Because of the lock, no process uses them.
  std::vector<fs::path> old;
  program::ForEachEntry(path_, [&](const fs::directory_entry& entry) {
    if (entry.path().filename().string().starts_with(kPartial)) old.push_back(entry.path());
  });
  std::error_code error;
  for (const fs::path& folder : old) fs::remove_all(folder, error);

  std::vector<std::unique_ptr<ZipReader>> zips;
  uint64_t total = 0, done = 0;
  for (const Wheel& wheel : wheels) {
    absl::StatusOr<std::unique_ptr<ZipReader>> zip = ZipReader::Open(PartOf(wheel), {});
    if (!zip.ok()) return zip.status();
    for (const ZipReader::Entry& entry : (*zip)->entries())
      if (IsUnpacked(entry.name)) total += entry.bytes;
    zips.push_back(*std::move(zip));
  }
  const fs::space_info space = fs::space(path_, error);
  if (!error && space.available < total) {
    return absl::ResourceExhaustedError(
        i18n::Format("{} has {} of free space, but unpacking LibTorch needs {}; make room, or set "
                     "XDG_DATA_HOME to a folder on another disk",
                     path_, run::FormatBytes(space.available), run::FormatBytes(total)));
  }
  std::string folder = (fs::path(path_) / kPartial).string() + "XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return SystemError(errno, path_);
  RemovedOnExit unfinished{folder};
  for (const std::unique_ptr<ZipReader>& zip : zips) {
    const absl::Status status = Unpack(*zip, folder, [&](uint64_t bytes) {
      done += bytes;
      if (progress) progress(done, total);
      return cancel != nullptr && cancel->load(std::memory_order_relaxed)
                 ? absl::CancelledError(i18n::Text("cancelled"))
                 : absl::OkStatus();
    });
    if (!status.ok()) return status;
  }
  if (absl::Status status = CheckTorch(folder); !status.ok()) {
    return absl::DataLossError(
        i18n::Format("the download cannot be used: {}", std::string(status.message())));
  }
  const fs::path target = TorchPath();
  fs::remove_all(target, error);
  fs::permissions(folder, fs::perms(0755), error);
  fs::rename(folder, target, error);
  if (error) return SystemError(error.value(), target.string());
  unfinished.path.clear();
  zips.clear();
  for (const Wheel& wheel : wheels) fs::remove(PartOf(wheel), error);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> InstallFolder::Remove() const {
  std::vector<fs::path> ours;
  program::ForEachEntry(path_, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kTorch) || name.starts_with(kPartial) || name == kDownloads)
      ours.push_back(entry.path());
  });
  uint64_t bytes = 0;
  for (const fs::path& path : ours) {
    const uint64_t of_it = BytesBelow(path.string());
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return SystemError(error.value(), path.string());
    bytes += of_it;
  }
  // The lock file is removed last, because it keeps other processes out. The folder is removed only
  // if it is empty then.
  std::error_code error;
  fs::remove(fs::path(path_) / kLock, error);
  if (error) return SystemError(error.value(), path_);
  fs::remove(path_, error);
  return bytes;
}

}  // namespace vramscope::setup
