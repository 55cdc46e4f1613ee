#include "profiler/recording/recording.h"

namespace vramscope::recording {

absl::StatusOr<History> Reconstruct(const Recording&) {
  return absl::UnimplementedError("recordings cannot be read yet");
}

}  // namespace vramscope::recording
