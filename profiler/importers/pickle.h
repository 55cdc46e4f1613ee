// The part of Python's pickle format (protocols 2 to 5) that a memory snapshot needs: numbers,
// strings, dicts, lists, tuples, the memo. Whatever would import, call or build an object is
// refused by name and byte. Internal.
#pragma once

#include <absl/status/status.h>

#include "profiler/importers/snapshot_builder.h"
#include "profiler/importers/snapshot_bytes.h"

namespace vramscope::importers {

// On errors that something would be imported, called or built.
inline constexpr char kRefusedPayload[] = "vramscope/refused";

struct PickleEnd {
  int protocol = 0;
  bool cut = false;  // the error is that the input ends before its time
};
// Reads up to STOP, into the builder.
absl::Status ReadPickle(SnapshotBytes& bytes, SnapshotBuilder& builder, PickleEnd* end);

}  // namespace vramscope::importers
