// Names of the counters (ActivityKind::kCounter) that tell a card's memory, whoever has it: those
// of one moment have one begin. What reckons with them is explain/device_memory.h.
#pragma once

#include <array>
#include <string_view>

namespace vramscope::trace {

inline constexpr std::string_view kCounterTotal = "memory of the card (bytes)";
inline constexpr std::string_view kCounterUsed = "memory used by all (bytes)";
inline constexpr std::string_view kCounterDriver = "memory kept by the driver (bytes)";
inline constexpr std::string_view kCounterProcess = "memory used by this process (bytes)";
inline constexpr std::array kMemoryCounters = {kCounterTotal, kCounterUsed, kCounterDriver,
                                               kCounterProcess};

}  // namespace vramscope::trace
