// Reads a snapshot from JSON: the same dicts and lists as in the pickle, without a memo. Internal.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string_view>

#include "profiler/importers/snapshot_builder.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

// Reads one value and passes it to the builder. `head`: bytes already read from the input. `tick`
// is called after every read. Sets `cut` to true if the error is that the input is truncated.
absl::Status ReadSnapshotJson(trace::InputStream& input, std::string_view head,
                              const std::function<absl::Status()>& tick, SnapshotBuilder& builder,
                              bool* cut);

}  // namespace vramscope::importers
