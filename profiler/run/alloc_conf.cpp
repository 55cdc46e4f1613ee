#include "profiler/run/alloc_conf.h"

namespace vramscope::run {

absl::StatusOr<AllocConf> ParseAllocConf(std::string_view text) {
  if (text.empty()) return AllocConf{};
  return absl::UnimplementedError("allocator settings cannot be read yet");
}

std::string ToString(const AllocConf&) { return ""; }

}  // namespace vramscope::run
