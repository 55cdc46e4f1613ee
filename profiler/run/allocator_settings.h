// What the caching allocator of a run is set to: the text `alloc_conf`, and the settings "alloc.*",
// which are single settings of PYTORCH_CUDA_ALLOC_CONF under their own names and win over the text.
//
//   ASSIGN_OR_RETURN(AllocConf conf, ParseAllocConf(AllocConfOf(config)));
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "profiler/run/run_config.h"

namespace vramscope::run {

// As PYTORCH_CUDA_ALLOC_CONF; "": PyTorch's defaults.
std::string AllocConfOf(const RunConfig& config);

// "alloc.max_split_size_mb" of "max_split_size_mb".
inline constexpr std::string_view kAllocatorKeys = "alloc.";

}  // namespace vramscope::run
