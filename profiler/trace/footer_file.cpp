#include "profiler/trace/footer_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace vramscope::trace {

FooterFile::FooterFile(const std::string& path) {
  if (path == "-") return;
  struct stat info {};
  // This is checked before the file is opened, because opening a pipe waits for its writer.
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ >= 0) bytes_ = static_cast<uint64_t>(info.st_size);
}

FooterFile::~FooterFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<Frame> FooterFile::At(uint64_t offset) const {
  if (offset > bytes_ || bytes_ - offset < kEnvelopeBytes) return std::nullopt;
  const auto read = [&](std::string& bytes, size_t size) {
    const size_t had = bytes.size();
    bytes.resize(had + size);
    return ::pread(fd_, bytes.data() + had, size, static_cast<off_t>(offset + had)) ==
           static_cast<ssize_t>(size);
  };
  std::string bytes;
  if (!read(bytes, kEnvelopeBytes)) return std::nullopt;
  uint32_t stored = 0;
  for (size_t i = 0; i < 4; ++i) stored |= uint32_t{static_cast<uint8_t>(bytes[8 + i])} << (8 * i);
  if (stored > std::min<uint64_t>(kMaxPayload, bytes_ - offset - kEnvelopeBytes))
    return std::nullopt;
  if (!read(bytes, stored)) return std::nullopt;
  FrameDecoder decoder(offset);
  decoder.Append(bytes);
  absl::StatusOr<std::optional<Frame>> frame = decoder.Next();
  if (!frame.ok()) return std::nullopt;
  return *std::move(frame);
}

size_t FooterFile::Read(uint64_t offset, char* out, size_t size) const {
  if (offset >= bytes_) return 0;
  const ssize_t n = ::pread(fd_, out, size, static_cast<off_t>(offset));
  return n < 0 ? 0 : static_cast<size_t>(n);
}

std::optional<Footer> FooterFile::FindFooter() const {
  constexpr size_t kEndFrame = kEnvelopeBytes + kEndPayloadBytes;
  if (bytes_ < kEndFrame) return std::nullopt;
  const std::optional<Frame> end = At(bytes_ - kEndFrame);
  if (!end.has_value() || end->type != FrameType::kEnd) return std::nullopt;
  const absl::StatusOr<uint64_t> offset = DecodeEnd(end->payload);
  if (!offset.ok()) return std::nullopt;
  const std::optional<Frame> frame = At(*offset);
  if (!frame.has_value() || frame->type != FrameType::kFooter) return std::nullopt;
  absl::StatusOr<Footer> footer = DecodeFooter(frame->payload);
  if (!footer.ok()) return std::nullopt;
  return *std::move(footer);
}

}  // namespace vramscope::trace
