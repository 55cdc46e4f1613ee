// The settings of a run's caching allocator are the text `alloc_conf` and the settings "alloc.*".
// The latter are single keys of PYTORCH_CUDA_ALLOC_CONF. They override the text.
//
//   ASSIGN_OR_RETURN(AllocConf conf, ParseAllocConf(AllocConfOf(config)));
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "profiler/run/run_config.h"

namespace vramscope::run {

// Returns the settings in the syntax of PYTORCH_CUDA_ALLOC_CONF; "" means PyTorch's defaults.
std::string AllocConfOf(const RunConfig& config);

// "alloc.max_split_size_mb" for "max_split_size_mb".
inline constexpr std::string_view kAllocatorKeys = "alloc.";

}  // namespace vramscope::run
