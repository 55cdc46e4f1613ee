#include "profiler/exporters/file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace vramscope::exporters {
namespace {

absl::Status SystemError(const std::string& path, int error) {
  const std::string message = fmt::format("cannot write {}: {}", path, std::strerror(error));
  if (error == EACCES || error == EPERM || error == EROFS) {
    return absl::PermissionDeniedError(message);
  }
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  return absl::DataLossError(message);
}

}  // namespace

absl::Status WriteFile(const std::string& path,
                       const std::function<absl::Status(std::ostream&)>& write) {
  // A device or a pipe is written to, not replaced by a file; behind a link, its target is
  // replaced.
  struct stat found {};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && S_ISDIR(found.st_mode)) return SystemError(path, EISDIR);
  const bool direct = exists && !S_ISREG(found.st_mode);
  std::string target = path;
  if (char* real = exists ? ::realpath(path.c_str(), nullptr) : nullptr) {
    target = real;
    std::free(real);
  }
  const std::string temporary = direct ? path : fmt::format("{}.{}.tmp", target, ::getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) return SystemError(path, errno);
  errno = 0;
  absl::Status status = write(out);
  out.close();
  if (!out) {
    // The stream's own state keeps no reason; the system's last one is the write that failed.
    status = SystemError(path, errno != 0 ? errno : EIO);
  }
  if (direct) return status;
  if (status.ok() && std::rename(temporary.c_str(), target.c_str()) != 0) {
    status = SystemError(path, errno);
  }
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

}  // namespace vramscope::exporters
