// The table of steps by both clocks: what the host took for each phase, and how long the card was
// busy with what was launched in it. Without Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/query/device_times.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// PhaseTable (rows.h) and, behind its columns, the four times of the card: `card` has one for each
// step, is empty while that is being found out, and nothing where kernels are not known.
Table PhaseTable(const Digest& digest, int64_t begin_ns, int64_t end_ns,
                 const std::optional<std::vector<query::DeviceTimes>>& card);

}  // namespace vramscope::ui
