#include "profiler/trace/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace vramscope::trace {
namespace {

// A call that is interrupted so often, without anything in between that worked, is given up.
constexpr int kMostInterruptions = 100;

// `call` again while a signal interrupts it.
template <class Call>
auto Uninterrupted(Call call) {
  auto result = call();
  for (int i = 0; result < 0 && errno == EINTR && i < kMostInterruptions; ++i) result = call();
  return result;
}

std::atomic<const char*> unfinished = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);  // read by a signal handler

void Finished(const std::string& temporary) {
  const char* its = temporary.c_str();
  unfinished.compare_exchange_strong(its, nullptr);
}

// A new name is on the disk when its folder is. Folders that may not be read and file systems that
// know no such thing are left as they are.
int SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  const int error = Uninterrupted([fd] { return ::fsync(fd); }) == 0 ? 0 : errno;
  ::close(fd);
  return error == EINVAL || error == ENOSYS || error == EROFS ? 0 : error;
}

}  // namespace

const char* OutputFile::Unfinished() { return unfinished; }

absl::Status OutputFile::Error(int error, std::string_view what) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  std::string text = fmt::format("cannot {} '{}': {}", what, path_, std::strerror(error));
  if (full)
    text += fmt::format(" (after {} bytes). Free some space or save to another place", written_);
  struct stat info {};
  if (!temporary_.empty() && ::stat(target_.c_str(), &info) == 0)
    text += "; the file that was there is unchanged";
  if (full) return absl::ResourceExhaustedError(text);
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM || error == EROFS) return absl::PermissionDeniedError(text);
  if (error == EISDIR) return absl::InvalidArgumentError(text);
  return absl::UnavailableError(text);
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  std::unique_ptr<OutputFile> file(new OutputFile);
  if (path == "-") {
    file->path_ = "standard output";
    file->fd_ = STDOUT_FILENO;
    file->owns_fd_ = false;
    return file;
  }
  file->path_ = file->target_ = path;
  mode_t mode = 0666;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return file->Error(EISDIR, "write");
    if (!S_ISREG(info.st_mode)) {
      file->fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file->fd_ < 0) return file->Error(errno, "write");
      return file;
    }
    // A rename would put the file in the place of the link.
    if (char* real = ::realpath(path.c_str(), nullptr); real != nullptr) {
      file->target_ = real;
      std::free(real);
    }
    if (::access(file->target_.c_str(), W_OK) != 0) return file->Error(errno, "write");
    mode = info.st_mode & 0777;
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name =
        fmt::format("{}.{}-{}.part", file->target_, static_cast<long>(::getpid()), attempt);
    file->fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file->fd_ >= 0) {
      file->temporary_ = std::move(name);  // without an allocation that could leave the file behind
      unfinished = file->temporary_.c_str();
      return file;
    }
    if (errno != EEXIST) break;
  }
  return file->Error(errno, "write");
}

OutputFile::~OutputFile() {
  if (owns_fd_ && fd_ >= 0) ::close(fd_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  Finished(temporary_);
}

absl::Status OutputFile::Write(std::string_view bytes) {
  if (!status_.ok()) return status_;
  while (!bytes.empty()) {
    // In pieces, because a single write is capped at 2 GiB.
    const ssize_t n = Uninterrupted(
        [&] { return ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30)); });
    if (n < 0) return status_ = Error(errno, "write");
    written_ += static_cast<uint64_t>(n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (!status_.ok()) return status_;
  if (!owns_fd_) return absl::OkStatus();
  // Some file systems report a full disk only here.
  if (!temporary_.empty() && Uninterrupted([this] { return ::fdatasync(fd_); }) != 0 &&
      errno != EINVAL && errno != ENOSYS)
    return status_ = Error(errno, "write");
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) return status_ = Error(errno, "write");
  if (temporary_.empty()) return absl::OkStatus();
  // Behind the rename nothing may fail that is not said by Error: the file is in its place.
  const size_t slash = target_.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return status_ = Error(errno, "replace");
  Finished(temporary_);
  temporary_.clear();
  if (const int error = SyncFolder(folder); error != 0) return status_ = Error(error, "keep");
  return absl::OkStatus();
}

}  // namespace vramscope::trace
