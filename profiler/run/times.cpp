#include "profiler/run/times.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "profiler/base/i18n.h"

namespace vramscope::run {

std::string FormatMilliseconds(double ms) {
  const double size = std::abs(ms);
  if (size >= 1000) return fmt::format("{:.2f} s", ms / 1000);
  if (size >= 1 || size == 0) return fmt::format("{:.2f} ms", ms);
  return fmt::format("{:.1f} us", ms * 1000);
}

absl::StatusOr<int64_t> ParseTime(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const double factor = unit.empty() || unit == "ns" ? 1
                        : unit == "us"               ? 1e3
                        : unit == "ms"               ? 1e6
                        : unit == "s"                ? 1e9
                                                     : 0;
  if (error != std::errc() || factor == 0 || !(std::abs(value * factor) < 9e18)) {
    return absl::InvalidArgumentError(i18n::Format(
        "\"{}\" is not a time; write a number with ns, us, ms or s (\"12.5ms\")", text));
  }
  return std::llround(value * factor);
}

}  // namespace vramscope::run
