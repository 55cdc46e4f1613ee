// Formats numbers for the canvas, its tooltips and the shell's tables.
//
//   FormatBytes(9107567411)      "8.482 GiB"
//   FormatBytesExact(16777216)   "16,777,216 B"
//   FormatDuration(85506000)     "85.5 ms"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::ui::timeline {

// Uses binary units, with three decimals from MiB on. `trim` removes zeros at the end.
std::string FormatBytes(uint64_t bytes, bool trim = false);
// Like FormatBytes(), but with fewer decimals, for narrow places: "8.48 GiB", "1.20 TiB".
std::string FormatBytesShort(uint64_t bytes, int decimals = 2);
// Returns a text such as "+1.000 MiB" or "−2.5 GiB" (with a minus sign, not a hyphen).
std::string FormatSignedBytes(int64_t bytes);
std::string FormatBytesExact(uint64_t bytes);
std::string FormatCount(uint64_t value);       // "66,792"
std::string FormatParameters(uint64_t count);  // "494 M", "2.61 B"
// Uses three significant digits in ns, µs, ms or s. From 120 s on, uses minutes.
std::string FormatDuration(int64_t ns);
// Returns a text such as "entry 1,204" or "312 entries", for traces that count entries instead of
// time.
std::string FormatEntry(int64_t entry);
// Formats a duration or, if `times` is false, a number of entries.
std::string FormatLength(int64_t ns, bool times);
// Formats a time since the trace's begin with the precision of `resolution_ns`. The unit is chosen
// for `magnitude_ns`, such as the end of the axis. If `magnitude_ns` is 0, it is chosen for the
// time itself.
std::string FormatTime(int64_t ns, int64_t resolution_ns, int64_t magnitude_ns = 0);

}  // namespace vramscope::ui::timeline
