#include "profiler/importers/snapshot_json.h"

namespace vramscope::importers {

absl::Status ReadSnapshotJson(SnapshotBytes&, SnapshotBuilder&) {
  return absl::UnimplementedError("snapshots in JSON cannot be read yet");
}

}  // namespace vramscope::importers
