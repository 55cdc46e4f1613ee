#include "profiler/exporters/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
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
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
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
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(path, errno);
  }
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

}  // namespace vramscope::exporters
