// The settings of PYTORCH_CUDA_ALLOC_CONF that change what the caching allocator decides.
//
//   ASSIGN_OR_RETURN(AllocConf c,
//                    ParseAllocConf("max_split_size_mb:128,expandable_segments:True"));
//
// Source of names, defaults and limits: c10/core/AllocatorConfig.{h,cpp} and
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
  // Bytes; from max_non_split_rounding_mb. Like max_split_size, at least large_segment_size, which
  // is also its default.
  uint64_t max_non_split_rounding = 20ull << 20;
  uint64_t large_segment_size = 20ull << 20;  // bytes; from large_segment_size_mb, at least 11
  double garbage_collection_threshold = 0;    // of the allowed memory; 0: off
  double memory_fraction = 0;                 // per_process_memory_fraction; 0 and 1: no limit
  bool expandable_segments = false;
  // Divisions of a power of two by the size's own power, [0]: below 2 MiB, [1]: 2 to 4 MiB ...
  // [15]: 32 GiB and more; 0 and 1: off (rounding to 512 only). As the real allocator indexes it.
  static constexpr int kRoundupIntervals = 16;
  std::array<uint32_t, kRoundupIntervals> roundup_power2_divisions{};
  // Keys that were given, are known, and change no decision of the model ("pinned_use_...").
  std::vector<std::string> ignored;

  friend bool operator==(const AllocConf&, const AllocConf&) = default;
};

// Errors (kInvalidArgument) name the key, the value and what is allowed; an unknown key suggests
// the nearest. "" gives the defaults. Numbers have PyTorch's limits; the form is taken more
// strictly: PyTorch reads "128MB" as 128 and does not miss a colon, here both are errors.
absl::StatusOr<AllocConf> ParseAllocConf(std::string_view text);

// As PYTORCH_CUDA_ALLOC_CONF, defaults and ignored keys left out; "" for all defaults.
std::string ToString(const AllocConf& conf);

}  // namespace vramscope::run
