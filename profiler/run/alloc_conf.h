// The settings of PYTORCH_CUDA_ALLOC_CONF that change decisions of the caching allocator.
//
//   ASSIGN_OR_RETURN(AllocConf c,
//                    ParseAllocConf("max_split_size_mb:128,expandable_segments:True"));
//
// Names, defaults and limits are from c10/core/AllocatorConfig.{h,cpp} and
// c10/cuda/CUDAAllocatorConfig.{h,cpp} of PyTorch 2.11. Plain values; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

struct AllocConf {
  static constexpr uint64_t kNoMaxSplit = std::numeric_limits<uint64_t>::max();
  uint64_t max_split_size = kNoMaxSplit;  // bytes; from max_split_size_mb
  // Bytes; from max_non_split_rounding_mb. The default and the least value are large_segment_size.
  // (This is also the least value of max_split_size.)
  uint64_t max_non_split_rounding = 20ull << 20;
  uint64_t large_segment_size = 20ull << 20;  // bytes; from large_segment_size_mb, at least 11
  double garbage_collection_threshold = 0;    // fraction of the allowed memory; 0: off
  double memory_fraction = 0;                 // per_process_memory_fraction; 0 and 1: no limit
  bool expandable_segments = false;
  // The number of parts of each power of two: [0] for sizes below 2 MiB, [1] for 2 to 4 MiB, ...,
  // [15] for sizes from 32 GiB on. 0 and 1 mean that sizes are only rounded to multiples of 512.
  // The real allocator uses the same indexes.
  static constexpr int kRoundupIntervals = 16;
  std::array<uint32_t, kRoundupIntervals> roundup_power2_divisions{};
  // Keys in the text that PyTorch knows, but that change no allocation ("pinned_use_...").
  std::vector<std::string> ignored;

  friend bool operator==(const AllocConf&, const AllocConf&) = default;
};

// Errors (kInvalidArgument) name the key, the value and the allowed values; for an unknown key they
// suggest the nearest known key. "" means the defaults. The limits of numbers are PyTorch's. The
// syntax is stricter: "128MB", which PyTorch reads as 128, and a missing colon are errors.
absl::StatusOr<AllocConf> ParseAllocConf(std::string_view text);

// Returns the settings in the syntax of PYTORCH_CUDA_ALLOC_CONF, without defaults and ignored keys;
// "" if all are defaults.
std::string ToString(const AllocConf& conf);

}  // namespace vramscope::run
