#include "profiler/trace/frame.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/crc32c.h"

namespace vramscope::trace {
namespace {

// Envelope, little-endian: magic(4) type(2) flags(2) stored(4) payload(4) crc32c(4). The checksum
// covers bytes 4..15 and the stored payload.
constexpr size_t kCheckedFrom = 4;
constexpr size_t kCrcAt = 16;
constexpr uint16_t kFlagZstd = 1;
// Smaller payloads are not compressed, because zstd's frame header takes more than is saved.
constexpr size_t kSmallestCompressed = 64;

void Put16(char* at, uint16_t v) {
  at[0] = static_cast<char>(v);
  at[1] = static_cast<char>(v >> 8);
}
void Put32(char* at, uint32_t v) {
  Put16(at, static_cast<uint16_t>(v));
  Put16(at + 2, static_cast<uint16_t>(v >> 16));
}
uint16_t Get16(const char* at) {
  return static_cast<uint16_t>(static_cast<unsigned char>(at[0]) | static_cast<unsigned char>(at[1])
                                                                       << 8);
}
uint32_t Get32(const char* at) { return Get16(at) | static_cast<uint32_t>(Get16(at + 2)) << 16; }

struct FreeContext {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};

uint32_t FrameCrc(std::string_view checked_envelope, std::string_view stored) {
  return Crc32c(stored, Crc32c(checked_envelope));
}

// The fields of an envelope between its magic and its checksum.
std::array<char, kCrcAt> EnvelopeOf(FrameType type, bool compressed, size_t stored,
                                    size_t payload) {
  std::array<char, kCrcAt> out;
  kFrameMagic.copy(out.data(), kCheckedFrom);
  Put16(out.data() + 4, static_cast<uint16_t>(type));
  Put16(out.data() + 6, compressed ? kFlagZstd : 0);
  Put32(out.data() + 8, static_cast<uint32_t>(stored));
  Put32(out.data() + 12, static_cast<uint32_t>(payload));
  return out;
}
absl::Status WrongChecksum(uint64_t offset) {
  return absl::DataLossError(i18n::Format("frame at byte {}: wrong checksum", offset));
}

}  // namespace

std::string EncodeFrame(FrameType type, std::string_view payload, Compression compression) {
  if (payload.size() > kMaxPayload) {
    std::fputs("EncodeFrame: payload above kMaxPayload\n", stderr);
    std::abort();
  }
  std::string out;
  uint16_t flags = 0;
  size_t stored = payload.size();
  if (compression != Compression::kNone && payload.size() >= kSmallestCompressed) {
    thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context;
    if (context == nullptr) context.reset(ZSTD_createCCtx());
    if (context == nullptr) throw std::bad_alloc();
    const size_t bound = ZSTD_compressBound(payload.size());
    out.resize(kEnvelopeBytes + bound);
    const int level = compression == Compression::kFast ? 1 : 3;
    const size_t got = ZSTD_compressCCtx(context.get(), out.data() + kEnvelopeBytes, bound,
                                         payload.data(), payload.size(), level);
    if (!ZSTD_isError(got) && got < payload.size()) {
      flags = kFlagZstd;
      stored = got;
    }
  }
  out.resize(kEnvelopeBytes + stored);
  if (flags == 0) payload.copy(out.data() + kEnvelopeBytes, stored);
  std::ranges::copy(EnvelopeOf(type, flags != 0, stored, payload.size()), out.begin());
  const std::string_view all(out);
  Put32(out.data() + kCrcAt,
        FrameCrc(all.substr(kCheckedFrom, kCrcAt - kCheckedFrom), all.substr(kEnvelopeBytes)));
  return out;
}

absl::StatusOr<Frame> Uncompress(RawFrame&& raw) {
  if (!raw.verified) {
    const auto envelope = EnvelopeOf(raw.type, raw.compressed, raw.stored.size(), raw.payload_size);
    const std::string_view checked(envelope.data(), envelope.size());
    if (FrameCrc(checked.substr(kCheckedFrom), raw.stored) != raw.checksum)
      return WrongChecksum(raw.offset);
  }
  Frame frame{raw.type, {}, raw.offset, raw.end_offset};
  if (!raw.compressed) {
    frame.payload = std::move(raw.stored);
    return frame;
  }
  if (ZSTD_getFrameContentSize(raw.stored.data(), raw.stored.size()) != raw.payload_size)
    return absl::DataLossError(i18n::Format(
        "frame at byte {}: the compressed data does not have the stated size", raw.offset));
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context;
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  if (context == nullptr)
    return absl::ResourceExhaustedError(
        i18n::Format("frame at byte {}: not enough host memory to decompress it", raw.offset));
  frame.payload.resize(raw.payload_size);
  const size_t got = ZSTD_decompressDCtx(context.get(), frame.payload.data(), frame.payload.size(),
                                         raw.stored.data(), raw.stored.size());
  if (ZSTD_isError(got) || got != raw.payload_size)
    return absl::DataLossError(i18n::Format("frame at byte {}: {}", raw.offset,
                                            ZSTD_isError(got)
                                                ? ZSTD_getErrorName(got)
                                                : i18n::Text("the compressed data is too short")));
  return frame;
}

void FrameDecoder::Append(std::string_view bytes) {
  if (start_ > 0 && (start_ == buffer_.size() || start_ > buffer_.size() / 2)) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  buffer_.append(bytes);
}

absl::StatusOr<std::optional<RawFrame>> FrameDecoder::NextRaw() { return Cut(true); }
absl::StatusOr<std::optional<RawFrame>> FrameDecoder::NextUnverified() { return Cut(false); }

absl::StatusOr<std::optional<RawFrame>> FrameDecoder::Cut(bool verify) {
  const std::string_view bytes = std::string_view(buffer_).substr(start_);
  const std::string_view magic = bytes.substr(0, kFrameMagic.size());
  if (magic != kFrameMagic.substr(0, magic.size()))
    return absl::DataLossError(i18n::Format("no frame begins at byte {}", offset_));
  if (bytes.size() < kEnvelopeBytes) return std::nullopt;
  const uint16_t flags = Get16(bytes.data() + 6);
  const uint32_t stored = Get32(bytes.data() + 8);
  const uint32_t payload = Get32(bytes.data() + 12);
  if ((flags & ~kFlagZstd) != 0)
    return absl::DataLossError(
        i18n::Format("frame at byte {}: unknown flags {:#x}", offset_, flags));
  if (stored > kMaxPayload || payload > kMaxPayload)
    return absl::DataLossError(
        i18n::Format("frame at byte {}: according to its header, it has {} bytes ({} bytes "
                     "decompressed). Neither size may exceed {} bytes",
                     offset_, stored, payload, kMaxPayload));
  const bool compressed = (flags & kFlagZstd) != 0;
  if (!compressed && stored != payload)
    return absl::DataLossError(i18n::Format("frame at byte {}: its two sizes differ", offset_));
  if (bytes.size() - kEnvelopeBytes < stored) return std::nullopt;
  const std::string_view body = bytes.substr(kEnvelopeBytes, stored);
  const uint32_t checksum = Get32(bytes.data() + kCrcAt);
  if (verify && FrameCrc(bytes.substr(kCheckedFrom, kCrcAt - kCheckedFrom), body) != checksum)
    return WrongChecksum(offset_);
  RawFrame raw{static_cast<FrameType>(Get16(bytes.data() + 4)),
               compressed,
               std::string(body),
               payload,
               verify,
               checksum,
               offset_,
               offset_ + kEnvelopeBytes + stored};
  start_ += kEnvelopeBytes + stored;
  offset_ = raw.end_offset;
  return raw;
}

absl::StatusOr<std::optional<Frame>> FrameDecoder::Next() {
  const size_t start = start_;
  const uint64_t offset = offset_;
  absl::StatusOr<std::optional<RawFrame>> raw = NextRaw();
  if (!raw.ok()) return raw.status();
  if (!raw->has_value()) return std::nullopt;
  absl::StatusOr<Frame> frame = Uncompress(std::move(**raw));
  if (!frame.ok()) {
    start_ = start;
    offset_ = offset;
    return frame.status();
  }
  return *std::move(frame);
}

}  // namespace vramscope::trace
