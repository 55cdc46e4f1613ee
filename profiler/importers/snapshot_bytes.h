// The decompressed bytes of an input, with lookahead, for this folder's readers. Internal.
//
//   while (true) {
//     RETURN_IF_ERROR(bytes.Want(32));     // 32 bytes of lookahead unless the input ends
//     ... read at bytes.p, bounded by bytes.end (followed by kPadding zeroes) ...
//   }
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "profiler/trace/input.h"

namespace vramscope::importers {

class SnapshotBytes {
 public:
  // The number of zeros after `end`. They allow reading an item of fixed size that begins before
  // `end` without a check. If the item ends after `end`, it is truncated.
  static constexpr size_t kPadding = 64;

  // `tick` is called after every read.
  SnapshotBytes(trace::InputStream& input, std::string_view head,
                std::function<absl::Status()> tick);

  const uint8_t* p = nullptr;
  const uint8_t* end = nullptr;

  // Ensures at least `n` bytes at p unless the input ends. Changes p and end.
  absl::Status Want(size_t n) {
    if (static_cast<size_t>(end - p) >= n || ended_) return absl::OkStatus();
    return Refill(n);
  }
  uint64_t Offset(const uint8_t* at) const { return base_ + static_cast<uint64_t>(at - data_); }
  uint64_t offset() const { return Offset(p); }
  bool ended() const { return ended_; }  // no more bytes follow `end`

 private:
  absl::Status Refill(size_t n);

  trace::InputStream& input_;
  std::function<absl::Status()> tick_;
  std::vector<uint8_t> buffer_;
  const uint8_t* data_ = nullptr;
  uint64_t base_ = 0;  // offset of data_[0]
  bool ended_ = false;
};

}  // namespace vramscope::importers
