// The part of Python's pickle format (protocols 2 to 5) that a memory snapshot needs: numbers,
// strings, dicts, lists, tuples, the memo. Whatever would import, call or build an object is
// refused by name and byte. Internal.
#pragma once

#include <absl/status/statusor.h>

#include "profiler/importers/snapshot_builder.h"
#include "profiler/importers/snapshot_bytes.h"

namespace vramscope::importers {

// Reads up to STOP, into the builder. Returns the protocol.
absl::StatusOr<int> ReadPickle(SnapshotBytes& bytes, SnapshotBuilder& builder);

}  // namespace vramscope::importers
