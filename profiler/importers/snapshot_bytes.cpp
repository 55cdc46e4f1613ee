#include "profiler/importers/snapshot_bytes.h"

#include <absl/status/statusor.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace vramscope::importers {
namespace {

constexpr size_t kChunk = size_t{256} << 10;  // fits into the level-2 cache

}  // namespace

SnapshotBytes::SnapshotBytes(trace::InputStream& input, std::string_view head,
                             std::function<absl::Status()> tick)
    : input_(input), tick_(std::move(tick)) {
  buffer_.assign(std::max(kChunk, head.size()) + kPadding, 0);
  std::copy(head.begin(), head.end(), buffer_.begin());
  data_ = p = buffer_.data();
  end = p + head.size();
}

absl::Status SnapshotBytes::Refill(size_t n) {
  const size_t left = static_cast<size_t>(end - p);
  base_ += static_cast<uint64_t>(p - data_);
  std::memmove(buffer_.data(), p, left);
  size_t have = left;
  absl::Status status;
  while (have < n && !ended_) {
    // The buffer grows as bytes arrive, because the length stated in a file may be wrong.
    if (buffer_.size() - kPadding - have < kChunk / 2)
      buffer_.resize(std::min(std::max(buffer_.size() * 2, 2 * kChunk), have + n + kChunk) +
                     kPadding);
    absl::StatusOr<size_t> got = input_.Read(reinterpret_cast<char*>(buffer_.data()) + have,
                                             buffer_.size() - kPadding - have);
    if (!got.ok()) status = got.status();
    const size_t n_read = got.ok() ? *got : 0;
    ended_ = n_read == 0;
    have += n_read;
  }
  data_ = p = buffer_.data();
  end = p + have;
  std::memset(buffer_.data() + have, 0, kPadding);
  if (!status.ok()) return status;
  return tick_ ? tick_() : absl::OkStatus();
}

}  // namespace vramscope::importers
