// The table of steps by two clocks: the time that the host took for each phase, and the time that
// the GPU was busy with the work launched in it. Does not use Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/query/device_times.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// PhaseTable (rows.h) followed by four columns of GPU times. `gpu` has one element for each step.
// `gpu` is empty while the times are being computed, and nullopt if the kernels are unknown.
Table PhaseTable(const Digest& digest, int64_t begin_ns, int64_t end_ns,
                 const std::optional<std::vector<query::DeviceTimes>>& gpu);

}  // namespace vramscope::ui
