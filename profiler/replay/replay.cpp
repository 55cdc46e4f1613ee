#include "profiler/replay/replay.h"

namespace vramscope::replay {

absl::StatusOr<Replayed> Replay(const trace::Trace&, const ReplayOptions&) {
  return absl::UnimplementedError("replay is not there yet");
}

}  // namespace vramscope::replay
