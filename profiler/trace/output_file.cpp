#include "profiler/trace/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"

namespace vramscope::trace {
namespace {

// The number of consecutive interruptions by signals after which a system call is abandoned.
constexpr int kMostInterruptions = 100;

// Repeats `call` while a signal interrupts it.
template <class Call>
auto Uninterrupted(Call call) {
  auto result = call();
  for (int i = 0; result < 0 && errno == EINTR && i < kMostInterruptions; ++i) result = call();
  return result;
}

std::atomic<const char*> unfinished = nullptr;
std::atomic<int> writing = 0;  // files that are not yet at their final path
// A signal handler reads both variables, so they must be lock-free.
static_assert(std::atomic<const char*>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

void Finished(const std::string& temporary) {
  const char* its = temporary.c_str();
  unfinished.compare_exchange_strong(its, nullptr);
}

// Syncs the folder, which makes a new name in it durable, and returns 0 or errno. A folder that may
// not be read and a file system without this operation are not errors.
int SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  const int error = Uninterrupted([fd] { return ::fsync(fd); }) == 0 ? 0 : errno;
  ::close(fd);
  return error == EINVAL || error == ENOSYS || error == EROFS ? 0 : error;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Returns a path of an unnamed file; link() uses it to give the file a name. Does not allocate
// memory, because that could fail while the file is open.
std::array<char, 32> PathOf(int fd) {
  std::array<char, 32> path{};
  fmt::format_to_n(path.data(), path.size() - 1, "/proc/self/fd/{}", fd);
  return path;
}

// Opens an unnamed file, which disappears when the process ends in any way. Returns -1 if the file
// system does not support this, or if /proc, which is needed to name the file, is missing.
int OpenUnnamed(const std::string& folder, mode_t mode) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) return -1;
  if (::access(PathOf(fd).data(), F_OK) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

bool OutputFile::RemoveUnfinished() {
  if (const char* name = unfinished; name != nullptr) ::unlink(name);
  return writing > 0;
}

absl::Status OutputFile::Error(int error, Doing doing) const {
  const std::string reason = i18n::ErrnoText(error);
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  std::string text =
      doing == Doing::kReplacing ? i18n::Format("cannot replace '{}': {}", path_, reason)
      : doing == Doing::kKeeping
          ? i18n::Format("'{}' was written, but may be lost if the computer fails now: {}", path_,
                         reason)
          : i18n::Format("cannot write '{}': {}", path_, reason);
  if (full)
    text = i18n::Format("{} (after {} bytes); free some space or save to another place", text,
                        written_);
  struct stat info {};
  if (!direct_ && doing != Doing::kKeeping && ::stat(target_.c_str(), &info) == 0)
    text = i18n::Format("{}; the existing file is unchanged", text);
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
    file->direct_ = true;
    return file;
  }
  file->path_ = file->target_ = path;
  mode_t mode = 0666;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return file->Error(EISDIR);
    if (!S_ISREG(info.st_mode)) {
      file->direct_ = true;
      file->fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file->fd_ < 0) return file->Error(errno);
      return file;
    }
    // Resolves `path` if it is a link, because a rename to `path` would replace the link itself.
    if (char* real = ::realpath(path.c_str(), nullptr); real != nullptr) {
      file->target_ = real;
      std::free(real);
    }
    if (::access(file->target_.c_str(), W_OK) != 0) return file->Error(errno);
    mode = info.st_mode & 0777;
  }
  file->fd_ = OpenUnnamed(FolderOf(file->target_), mode);
  if (file->fd_ >= 0) {
    // If the name is too long, reports this here, before anything is written.
    if (::access(file->TemporaryName(0).c_str(), F_OK) != 0 && errno == ENAMETOOLONG)
      return file->Error(ENAMETOOLONG);
    file->CountAsWriting(true);
    return file;
  }
  const bool made = file->Name([&](const char* name) {
    return file->fd_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  });
  if (!made) return file->Error(errno);
  file->CountAsWriting(true);
  return file;
}

absl::Status OutputFile::Check(const std::string& path) {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (path == "-" || (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
    return absl::OkStatus();
  return Create(path).status();
}

void OutputFile::CountAsWriting(bool is) {
  if (counted_ != is) writing += is ? 1 : -1;
  counted_ = is;
}

std::string OutputFile::TemporaryName(int attempt) const {
  return fmt::format("{}.{}-{}.part", target_, static_cast<long>(::getpid()), attempt);
}

bool OutputFile::Name(const std::function<int(const char*)>& make) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = TemporaryName(attempt);
    if (make(name.c_str()) >= 0) {
      // Moves the name. A copy could fail to allocate memory and would leave the file behind.
      temporary_ = std::move(name);
      unfinished = temporary_.c_str();
      return true;
    }
    if (errno != EEXIST) break;
  }
  return false;
}

OutputFile::~OutputFile() {
  if (owns_fd_ && fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    Finished(temporary_);
  }
  CountAsWriting(false);
}

absl::Status OutputFile::Write(std::string_view bytes) {
  if (!status_.ok()) return status_;
  while (!bytes.empty()) {
    // Writes in parts, because a single write is limited to 2 GiB.
    const ssize_t n = Uninterrupted(
        [&] { return ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30)); });
    if (n < 0) return status_ = Error(errno);
    written_ += static_cast<uint64_t>(n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (!status_.ok()) return status_;
  if (!owns_fd_) return absl::OkStatus();
  // Some file systems report a full disk only here.
  if (!direct_ && Uninterrupted([this] { return ::fdatasync(fd_); }) != 0 && errno != EINVAL &&
      errno != ENOSYS)
    return status_ = Error(errno);
  const std::array<char, 32> unnamed = PathOf(fd_);
  const auto link = [&](const char* name) {
    return Uninterrupted(
        [&] { return ::linkat(AT_FDCWD, unnamed.data(), AT_FDCWD, name, AT_SYMLINK_FOLLOW); });
  };
  if (!direct_ && temporary_.empty() && !Name(link)) return status_ = Error(errno);
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) return status_ = Error(errno);
  if (direct_) return absl::OkStatus();
  // FolderOf() may throw, so it is called before the rename. Once the file is in place, all errors
  // must go through Error().
  const std::string folder = FolderOf(target_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    return status_ = Error(errno, Doing::kReplacing);
  Finished(temporary_);
  temporary_.clear();
  CountAsWriting(false);
  if (const int error = SyncFolder(folder); error != 0)
    return status_ = Error(error, Doing::kKeeping);
  return absl::OkStatus();
}

}  // namespace vramscope::trace
