#include "app/cli/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace vramscope::cli {
namespace {

constexpr size_t kChunk = size_t{1} << 18;
// A compressed file of a few kilobytes can unpack to anything; no trace is larger than this.
constexpr uint64_t kMaxUnpacked = uint64_t{64} << 30;

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

absl::Status SystemError(const std::string& name, int error) {
  const std::string text = fmt::format("{}: {}", name, std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  if (error == ENOSPC) return absl::ResourceExhaustedError(text);
  return absl::InvalidArgumentError(text);
}

std::string DisplayName(const std::string& path) { return path == "-" ? "standard input" : path; }

// Bytes of one input, with a few of them looked at before they are read.
class Source {
 public:
  Source(int fd, std::string name) : fd_(fd), name_(std::move(name)), buffer_(kChunk) {}

  // The next bytes; empty at the end. Valid until the next call.
  absl::StatusOr<std::string_view> Read() {
    if (start_ < end_) {
      const std::string_view held(buffer_.data() + start_, end_ - start_);
      start_ = end_;
      return held;
    }
    absl::StatusOr<size_t> got = Fill(0);
    if (!got.ok()) return got.status();
    return std::string_view(buffer_.data(), *got);
  }

  absl::StatusOr<std::string_view> Peek(size_t bytes) {
    while (end_ < bytes) {
      absl::StatusOr<size_t> got = Fill(end_);
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      end_ += *got;
    }
    return std::string_view(buffer_.data(), end_);
  }

  const std::string& name() const { return name_; }

 private:
  absl::StatusOr<size_t> Fill(size_t at) {
    ssize_t got = 0;
    do {
      got = read(fd_, buffer_.data() + at, buffer_.size() - at);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return SystemError(name_, errno);
    return static_cast<size_t>(got);
  }

  int fd_;
  std::string name_;
  std::vector<char> buffer_;
  size_t start_ = 0, end_ = 0;
};

using Sink = std::function<absl::Status(std::string_view)>;

absl::Status Damaged(const Source& source, std::string_view format) {
  return absl::DataLossError(
      fmt::format("{}: the {} data is damaged or cut", source.name(), format));
}

absl::Status CopyPlain(Source& source, const Sink& sink) {
  while (true) {
    absl::StatusOr<std::string_view> bytes = source.Read();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return absl::OkStatus();
    if (absl::Status status = sink(*bytes); !status.ok()) return status;
  }
}

absl::Status CopyGzip(Source& source, const Sink& sink) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return absl::InternalError("zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  std::vector<char> out(kChunk);
  bool within_member = false;
  while (true) {
    absl::StatusOr<std::string_view> bytes = source.Read();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return within_member ? Damaged(source, "gzip") : absl::OkStatus();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes->data()));
    stream.avail_in = static_cast<uInt>(bytes->size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      const int code = inflate(&stream, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return Damaged(source, "gzip");
      within_member = code != Z_STREAM_END;
      absl::Status status = sink({out.data(), out.size() - stream.avail_out});
      if (!status.ok()) return status;
      if (code == Z_STREAM_END) inflateReset(&stream);  // members may follow each other
    } while (stream.avail_in > 0 || stream.avail_out == 0);
  }
}

absl::Status CopyZstd(Source& source, const Sink& sink) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  std::vector<char> out(kChunk);
  size_t wanted = 0;  // 0 between frames
  while (true) {
    absl::StatusOr<std::string_view> bytes = source.Read();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return wanted == 0 ? absl::OkStatus() : Damaged(source, "zstd");
    ZSTD_inBuffer in{bytes->data(), bytes->size(), 0};
    bool more = true;
    while (more) {
      ZSTD_outBuffer piece{out.data(), out.size(), 0};
      wanted = ZSTD_decompressStream(stream.get(), &piece, &in);
      if (ZSTD_isError(wanted)) return Damaged(source, "zstd");
      absl::Status status = sink({out.data(), piece.pos});
      if (!status.ok()) return status;
      more = in.pos < in.size || piece.pos == piece.size;
    }
  }
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError("temporary file", errno);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> UnnamedFile() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/vramscope-XXXXXX", folder && *folder ? folder : "/tmp");
  const int fd = mkstemp(path.data());
  if (fd < 0) return SystemError(path, errno);
  unlink(path.c_str());
  return fd;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

absl::StatusOr<std::string> LocalFile(const std::string& path) {
  static auto* known = new std::map<std::string, std::string>;
  static auto* kept = new std::vector<std::unique_ptr<File>>;
  if (const auto found = known->find(path); found != known->end()) return found->second;

  const std::string name = DisplayName(path);
  const int fd = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(name, errno);
  const File file(fd);
  struct stat info {};
  if (fstat(fd, &info) != 0) return SystemError(name, errno);
  if (S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(fmt::format("{}: this is a folder, not a file", name));
  }
  Source source(fd, name);
  absl::StatusOr<std::string_view> head = source.Peek(4);
  if (!head.ok()) return head.status();
  const bool gzip = StartsWith(*head, "\x1f\x8b");
  const bool zstd = StartsWith(*head, "\x28\xb5\x2f\xfd");
  if (S_ISREG(info.st_mode) && path != "-" && !gzip && !zstd) return (*known)[path] = path;

  absl::StatusOr<int> copy = UnnamedFile();
  if (!copy.ok()) return copy.status();
  kept->push_back(std::make_unique<File>(*copy));
  uint64_t total = 0;
  const Sink sink = [&](std::string_view bytes) -> absl::Status {
    total += bytes.size();
    if (total > kMaxUnpacked) {
      return absl::InvalidArgumentError(fmt::format("{}: unpacks to more than 64 GiB", name));
    }
    return WriteAll(*copy, bytes);
  };
  absl::Status status = gzip   ? CopyGzip(source, sink)
                        : zstd ? CopyZstd(source, sink)
                               : CopyPlain(source, sink);
  if (!status.ok()) return status;
  return (*known)[path] = fmt::format("/proc/self/fd/{}", *copy);
}

}  // namespace vramscope::cli
