// Names of the counters (ActivityKind::kCounter) of a GPU's memory, of which several processes may
// use parts. Counters that were read together have the same begin. explain/device_memory.h
// evaluates them.
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

// The suffix of names of byte counters, because Chrome traces have no field for the unit.
inline constexpr std::string_view kBytesSuffix = " (bytes)";
inline bool CountsBytes(std::string_view counter) { return counter.ends_with(kBytesSuffix); }
// Returns the name without the suffix: "memory used by all".
inline std::string_view WithoutUnit(std::string_view counter) {
  if (CountsBytes(counter)) counter.remove_suffix(kBytesSuffix.size());
  return counter;
}

}  // namespace vramscope::trace
