// Makes the table of steps, with two times for each phase: how long the host took, and how long the
// GPU was busy with the work that the phase launched. Does not use Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/query/device_times.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// Returns the PhaseTable() of rows.h with four more columns for GPU times. `gpu` has an element for
// each step. It is an empty vector while the times are being computed, and nullopt if no kernels
// are known.
Table PhaseTable(const Digest& digest, int64_t begin_ns, int64_t end_ns,
                 const std::optional<std::vector<query::DeviceTimes>>& gpu);

}  // namespace vramscope::ui
