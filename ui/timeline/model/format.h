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

// Uses binary units, with three decimals from MiB on. `trim` drops zeros at the end.
std::string FormatBytes(uint64_t bytes, bool trim = false);
// Like FormatBytes, with fewer decimals, for narrow places: "8.48 GiB", "1.20 TiB".
std::string FormatBytesShort(uint64_t bytes, int decimals = 2);
// Examples: "+1.000 MiB", "−2.5 GiB" (with a minus sign, not a hyphen).
std::string FormatSignedBytes(int64_t bytes);
std::string FormatBytesExact(uint64_t bytes);
std::string FormatCount(uint64_t value);       // "66,792"
std::string FormatParameters(uint64_t count);  // "494 M", "2.61 B"
// Uses three significant digits in ns, µs, ms or s, and minutes from 120 s on.
std::string FormatDuration(int64_t ns);
// For traces that count entries instead of time. Examples: "entry 1,204", "312 entries".
std::string FormatEntry(int64_t entry);
// Formats a duration or, if `times` is false, a number of entries.
std::string FormatLength(int64_t ns, bool times);
// Formats a time since the trace's begin with the precision of `resolution_ns`. The unit suits
// `magnitude_ns`, such as the end of the axis, or the time itself if that is 0.
std::string FormatTime(int64_t ns, int64_t resolution_ns, int64_t magnitude_ns = 0);

}  // namespace vramscope::ui::timeline
