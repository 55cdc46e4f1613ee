// A snapshot as JSON: the same dicts and lists as in the pickle, no memo. Internal.
#pragma once

#include <absl/status/status.h>

#include "profiler/importers/snapshot_builder.h"
#include "profiler/importers/snapshot_bytes.h"

namespace vramscope::importers {

absl::Status ReadSnapshotJson(SnapshotBytes& bytes, SnapshotBuilder& builder);

}  // namespace vramscope::importers
