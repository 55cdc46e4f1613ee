// Frames: everything that vramscope writes to a file or a pipe is in frames. A frame has type,
// length, checksum and payload (compressed with zstd if that makes it smaller). proto/FORMAT.md
// describes the bytes. The same decoder reads files and pipes. Input is untrusted: lengths, before
// and after decompression, are checked against kMaxPayload before anything is allocated.
//
//   FrameDecoder d;
//   d.Append(bytes);
//   while (true) { ASSIGN_OR_RETURN(auto frame, d.Next()); if (!frame) break; use(*frame); }
//
// One decoder belongs to one thread; Uncompress may run on any thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::trace {

enum class FrameType : uint16_t {
  kTraceHeader = 1,
  kStrings = 2,
  kEvents = 3,
  kFooter = 4,
  kEnd = 5,  // offset of the footer; the last frame of a file, not used in pipes
  kStacks = 6,
  kActivities = 7,
  // Worker protocol (proto/worker.proto); never in a file.
  kHello = 32,
  kRequest = 33,
  kRunStarted = 34,
  kProgress = 35,
  kRunEnded = 36,
  // A recording sent from another computer (program/folder_stream.h); never in a file.
  kFolder = 48,
  kFilePiece = 49,
  kOutcome = 50,
};

inline constexpr size_t kMaxPayload = size_t{64} << 20;
inline constexpr size_t kEnvelopeBytes = 20;
inline constexpr std::string_view kFrameMagic = "\x89VRT";

struct Frame {
  FrameType type;
  std::string payload;  // decompressed protobuf message
  uint64_t offset = 0;  // offset of the envelope, from the first byte appended
  uint64_t end_offset = 0;
};

enum class Compression : uint8_t {
  kNone,
  kFast,    // for a pipe on the same computer
  kNormal,  // for files
};

// Returns one frame, ready to write. `payload` must be at most kMaxPayload (checked).
std::string EncodeFrame(FrameType type, std::string_view payload,
                        Compression compression = Compression::kNormal);

// A frame whose envelope is valid, not yet decompressed.
struct RawFrame {
  FrameType type;
  bool compressed = false;
  std::string stored;         // bytes as in the file
  uint32_t payload_size = 0;  // size after decompression
  bool verified = false;      // its checksum was checked
  uint32_t checksum = 0;
  uint64_t offset = 0;
  uint64_t end_offset = 0;
};
// kDataLoss: the checksum is wrong (checked unless `verified`), or the stored bytes do not
// decompress to exactly payload_size bytes.
absl::StatusOr<Frame> Uncompress(RawFrame&& raw);

class FrameDecoder {
 public:
  // `offset`: the position in the file of the first byte appended.
  explicit FrameDecoder(uint64_t offset = 0) : offset_(offset) {}
  void Append(std::string_view bytes);
  // Returns nullopt if more bytes are needed. An error (kDataLoss, with the offset) means that the
  // bytes are not a frame, or that the checksum is wrong. The decoder then stays at that offset.
  absl::StatusOr<std::optional<Frame>> Next();
  absl::StatusOr<std::optional<RawFrame>> NextRaw();  // like Next(), without decompression
  // Like NextRaw(), but leaves the check of the checksum to Uncompress, which can run on another
  // thread.
  absl::StatusOr<std::optional<RawFrame>> NextUnverified();
  uint64_t offset() const { return offset_; }  // position of the next frame
  size_t buffered() const { return buffer_.size() - start_; }

 private:
  absl::StatusOr<std::optional<RawFrame>> Cut(bool verify);

  std::string buffer_;
  size_t start_ = 0;
  uint64_t offset_;
};

}  // namespace vramscope::trace
