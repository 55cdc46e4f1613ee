// Reads the part of Python's pickle format (protocols 2 to 5) that a memory snapshot needs:
// numbers, strings, dicts, lists, tuples, the memo. Opcodes that import, call or build an object
// are rejected; the message contains the opcode's name and the byte. Internal.
#pragma once

#include <absl/status/status.h>

#include "profiler/importers/snapshot_builder.h"
#include "profiler/importers/snapshot_bytes.h"

namespace vramscope::importers {

// The payload type of errors that are caused by opcodes that import, call or build an object.
inline constexpr char kRefusedPayload[] = "vramscope/refused";

struct PickleEnd {
  int protocol = 0;
  bool cut = false;  // the input is truncated
};
// Reads up to STOP and passes the values to the builder.
absl::Status ReadPickle(SnapshotBytes& bytes, SnapshotBuilder& builder, PickleEnd* end);

}  // namespace vramscope::importers
