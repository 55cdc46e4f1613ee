#include "profiler/trace/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"

namespace vramscope::trace {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kChunk = size_t{1} << 20;
// No known recording unpacks to more than 80 times its compressed size. A file over this limit
// contains only repetitions, and it could take hours to read.
constexpr uint64_t kMostUnpacked = 256;
constexpr uint64_t kUnpackedFloor = uint64_t{256} << 20;
constexpr std::string_view kGzipMagic = "\x1f\x8b"sv;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd"sv;

absl::Status SystemError(int error, const std::string& text) {
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  if (error == EISDIR) return absl::InvalidArgumentError(text);
  return absl::UnavailableError(text);
}

absl::Status CannotOpen(int error, const std::string& path) {
  return SystemError(error, i18n::Format("cannot open '{}': {}", path, i18n::ErrnoText(error)));
}
absl::Status CannotRead(int error, const std::string& path) {
  return SystemError(error, i18n::Format("cannot read '{}': {}", path, i18n::ErrnoText(error)));
}

// Reads the file's raw bytes. The next bytes can be inspected before they are consumed.
class RawInput {
 public:
  RawInput(int fd, std::string name, uint64_t total)
      : fd_(fd), name_(std::move(name)), total_(total) {}
  ~RawInput() { ::close(fd_); }
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;

  // Returns the next bytes without consuming them; empty at the end.
  absl::StatusOr<std::string_view> Peek() {
    if (at_ == have_.size()) {
      have_.resize(kChunk);
      at_ = 0;
      absl::StatusOr<size_t> n = ReadFd(have_.data(), have_.size());
      have_.resize(n.ok() ? *n : 0);
      if (!n.ok()) return n.status();
    }
    return std::string_view(have_).substr(at_);
  }
  // Like Peek, but returns at least `n` bytes unless the file ends before.
  absl::StatusOr<std::string_view> PeekAtLeast(size_t n) {
    while (have_.size() - at_ < n) {
      char more[64];
      absl::StatusOr<size_t> got = ReadFd(more, std::min(n, sizeof(more)));
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      have_.append(more, *got);
    }
    return std::string_view(have_).substr(at_);
  }
  void Consume(size_t n) {
    at_ += n;
    consumed_ += n;
  }
  // Returns the bytes that Peek has read, and then reads directly into the caller's buffer.
  absl::StatusOr<size_t> Read(char* out, size_t size) {
    if (at_ < have_.size()) {
      const size_t n = std::min(size, have_.size() - at_);
      std::memcpy(out, have_.data() + at_, n);
      Consume(n);
      return n;
    }
    absl::StatusOr<size_t> n = ReadFd(out, size);
    if (n.ok()) consumed_ += *n;
    return n;
  }
  uint64_t consumed() const { return consumed_; }
  uint64_t total() const { return total_; }
  const std::string& name() const { return name_; }

 private:
  absl::StatusOr<size_t> ReadFd(char* out, size_t size) {
    while (true) {
      const ssize_t n = ::read(fd_, out, size);
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) return CannotRead(errno, name_);
    }
  }

  int fd_;
  std::string name_;
  uint64_t total_;
  std::string have_;
  size_t at_ = 0;
  uint64_t consumed_ = 0;
};

class PlainStream : public InputStream {
 public:
  explicit PlainStream(std::unique_ptr<RawInput> raw) : raw_(std::move(raw)) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override { return raw_->Read(out, size); }
  uint64_t consumed() const override { return raw_->consumed(); }
  uint64_t total() const override { return raw_->total(); }
  bool compressed() const override { return false; }

 protected:
  absl::Status Damaged(std::string_view format, std::string_view what) const {
    return absl::DataLossError(
        i18n::Format("'{}': the {} data is damaged or cut off near byte {}{}{}", raw_->name(),
                     format, raw_->consumed(), what.empty() ? "" : ": ", what));
  }
  // Counts `n` more unpacked bytes. Returns an error if they are too many for the file's size.
  absl::StatusOr<size_t> Unpacked(size_t n) {
    unpacked_ += n;
    const uint64_t stored = std::max(raw_->total(), raw_->consumed());
    if (unpacked_ <= kUnpackedFloor || unpacked_ / kMostUnpacked <= stored) return n;
    return absl::ResourceExhaustedError(
        i18n::Format("'{}' has {} bytes, but unpacks to more than {} bytes ({} times its size). If "
                     "it really is a recording, unpack the file and open the result",
                     raw_->name(), stored, unpacked_, unpacked_ / std::max<uint64_t>(stored, 1)));
  }
  std::unique_ptr<RawInput> raw_;

 private:
  uint64_t unpacked_ = 0;
};

class GzipStream : public PlainStream {
 public:
  explicit GzipStream(std::unique_ptr<RawInput> raw) : PlainStream(std::move(raw)) {
    ready_ = inflateInit2(&zlib_, 15 + 16) == Z_OK;  // 16: a gzip header
  }
  ~GzipStream() override { inflateEnd(&zlib_); }
  bool compressed() const override { return true; }
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (!ready_) return absl::ResourceExhaustedError(i18n::Text("gzip: not enough host memory"));
    size = std::min<size_t>(size, UINT32_MAX);
    zlib_.next_out = reinterpret_cast<Bytef*>(out);
    zlib_.avail_out = static_cast<uInt>(size);
    while (zlib_.avail_out == size) {
      absl::StatusOr<std::string_view> in = raw_->Peek();
      if (!in.ok()) return in.status();
      if (in->empty()) {
        if (between_members_) break;
        return Damaged("gzip", i18n::Text("it ends too early"));
      }
      if (between_members_) {
        // Skips padding with zeros after the last member, which is common (tape blocks).
        if (in->front() == 0) {
          raw_->Consume(1);
          continue;
        }
        inflateReset(&zlib_);
        between_members_ = false;
      }
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in->data()));
      zlib_.avail_in = static_cast<uInt>(in->size());
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      raw_->Consume(in->size() - zlib_.avail_in);
      if (result == Z_STREAM_END)
        between_members_ = true;
      else if (result != Z_OK && result != Z_BUF_ERROR)
        return Damaged("gzip", zlib_.msg != nullptr ? zlib_.msg : "");
    }
    return Unpacked(size - zlib_.avail_out);
  }

 private:
  z_stream zlib_{};
  bool ready_ = false;
  bool between_members_ = false;
};

class ZstdStream : public PlainStream {
 public:
  explicit ZstdStream(std::unique_ptr<RawInput> raw) : PlainStream(std::move(raw)) {
    // 2^27 bytes is the largest window that the zstd program accepts by default, also for `--long`.
    if (zstd_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(zstd_, ZSTD_d_windowLogMax, 27);
  }
  ~ZstdStream() override { ZSTD_freeDStream(zstd_); }
  bool compressed() const override { return true; }
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    ZSTD_outBuffer to{out, size, 0};
    while (to.pos == 0) {
      absl::StatusOr<std::string_view> in = raw_->Peek();
      if (!in.ok()) return in.status();
      ZSTD_inBuffer from{in->data(), in->size(), 0};
      const size_t more = ZSTD_decompressStream(zstd_, &to, &from);
      raw_->Consume(from.pos);
      if (ZSTD_isError(more)) return Damaged("zstd", ZSTD_getErrorName(more));
      if (in->empty() && to.pos == 0) {
        if (!inside_) break;
        return Damaged("zstd", i18n::Text("it ends too early"));
      }
      inside_ = more != 0;
    }
    return Unpacked(to.pos);
  }

 private:
  ZSTD_DStream* zstd_ = ZSTD_createDStream();
  bool inside_ = false;  // whether a frame is being read
};

}  // namespace

std::string DisplayName(const std::string& path) { return path == "-" ? "standard input" : path; }

absl::StatusOr<std::unique_ptr<InputStream>> InputStream::Open(const std::string& path) {
  const std::string name = DisplayName(path);
  const int fd = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                             : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CannotOpen(errno, name);
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  auto raw = std::make_unique<RawInput>(
      fd, name, known && S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0);
  if (known && S_ISDIR(info.st_mode))
    return absl::InvalidArgumentError(i18n::Format("'{}' is a folder, not a file", name));
  absl::StatusOr<std::string_view> head = raw->PeekAtLeast(4);
  if (!head.ok()) return head.status();
  if (head->starts_with(kGzipMagic)) return std::make_unique<GzipStream>(std::move(raw));
  if (head->starts_with(kZstdMagic)) return std::make_unique<ZstdStream>(std::move(raw));
  return std::make_unique<PlainStream>(std::move(raw));
}

absl::StatusOr<std::string> ReadWholeInput(const std::string& path, size_t cap) {
  absl::StatusOr<std::unique_ptr<InputStream>> input = InputStream::Open(path);
  if (!input.ok()) return input.status();
  return ReadRest(**input, "", DisplayName(path), cap);
}

absl::StatusOr<std::string> ReadRest(InputStream& input, std::string head, const std::string& name,
                                     size_t cap) {
  const auto too_much = [&] {
    return absl::ResourceExhaustedError(
        i18n::Format("'{}' has more than {} bytes{}, which is the limit for such a file", name, cap,
                     input.compressed() ? i18n::Text(" once decompressed") : ""));
  };
  std::string out = std::move(head);
  if (out.size() > cap) return too_much();
  if (!input.compressed()) out.reserve(std::min<uint64_t>(input.total(), cap));
  std::string chunk(kChunk, '\0');
  while (true) {
    absl::StatusOr<size_t> n = input.Read(chunk.data(), chunk.size());
    if (!n.ok()) return n.status();
    if (*n == 0) return out;
    if (*n > cap - out.size()) return too_much();
    out.append(chunk.data(), *n);
  }
}

std::string LooksLike(std::string_view bytes) {
  if (bytes.empty()) return i18n::Text("an empty file");
  const auto starts = [bytes](std::string_view s) { return bytes.starts_with(s); };
  if (starts("\x89PNG"sv)) return i18n::Text("a PNG picture");
  if (starts("\xff\xd8\xff"sv)) return i18n::Text("a JPEG picture");
  if (starts("%PDF"sv)) return i18n::Text("a PDF document");
  if (starts("\x7f"
             "ELF"sv))
    return i18n::Text("a program or library");
  if (starts("PK\x03\x04"sv)) return i18n::Text("a zip archive (as torch.save writes)");
  if (starts("\x1f\x8b"sv)) return i18n::Text("gzip data");
  if (starts("\x28\xb5\x2f\xfd"sv)) return i18n::Text("zstd data");
  if (starts("SQLite format 3"sv))
    return bytes.find("CUPTI"sv) != std::string_view::npos ||
                   bytes.find("ENUM_NSYS"sv) != std::string_view::npos
               ? i18n::Text(
                     "an SQLite export of Nsight Systems, which `nsys stats` and Nsight Systems "
                     "open")
               : i18n::Text(
                     "an SQLite database (an export of Nsight Systems? `nsys stats` opens those)");
  if (bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return i18n::Text("a Python pickle (a PyTorch memory snapshot?)");
  // A pprof profile begins with a sample type (two varints).
  if (bytes.size() > 4 && bytes[0] == '\x0a' && bytes[1] > 1 && bytes[1] < 8 && bytes[2] == '\x08')
    return i18n::Text(
        "a profile in pprof's format (as jax.profiler.save_device_memory_profile() writes), which "
        "`pprof -http=: FILE` opens");
  if (starts("\x0a"sv) && bytes.size() > 1 && static_cast<unsigned char>(bytes[1]) >= 0x80)
    return i18n::Text("a protobuf message (a Perfetto trace?)");
  const size_t at = bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf"sv);
  if (at != std::string_view::npos && (bytes[at] == '{' || bytes[at] == '['))
    return bytes.find("traceEvents"sv) != std::string_view::npos ||
                   bytes.find("schemaVersion"sv) != std::string_view::npos
               ? i18n::Text("a Chrome or Kineto trace in JSON")
               : i18n::Text("JSON");
  if (at != std::string_view::npos && bytes[at] == '<') return i18n::Text("HTML or XML");
  const bool text = std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x20 || u == '\n' || u == '\r' || u == '\t';
  });
  return text ? i18n::Text("text") : std::string();
}

}  // namespace vramscope::trace
