#include "ui/timeline/model/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "profiler/base/i18n.h"

namespace vramscope::ui::timeline {
namespace {

struct Unit {
  std::string_view name;
  double size;
};
constexpr Unit kByteUnits[] = {
    {"TiB", 1099511627776.0}, {"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0}};
constexpr Unit kTimeUnits[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};

std::string TrimZeros(std::string s) {
  if (s.find('.') == std::string::npos) return s;
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s;
}

}  // namespace

std::string FormatBytes(uint64_t bytes, bool trim) {
  for (const Unit& unit : kByteUnits) {
    if (static_cast<double>(bytes) < unit.size) continue;
    double value = static_cast<double>(bytes) / unit.size;
    std::string number = fmt::format("{:.{}f}", value, unit.name == "KiB" ? 1 : 3);
    return fmt::format("{} {}", trim ? TrimZeros(number) : number, unit.name);
  }
  return fmt::format("{} B", bytes);
}

std::string FormatBytesShort(uint64_t bytes, int decimals) {
  for (const Unit& unit : kByteUnits) {
    // Use GiB from 0.1 GiB on, because the memory of GPUs is usually given in GiB.
    const double from = unit.name == "GiB" ? unit.size / 10 : unit.size;
    if (static_cast<double>(bytes) >= from)
      return fmt::format("{:.{}f} {}", static_cast<double>(bytes) / unit.size, decimals, unit.name);
  }
  return fmt::format("{} B", bytes);
}

std::string FormatSignedBytes(int64_t bytes) {
  if (bytes == 0) return "0 B";
  uint64_t size = bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : bytes;
  return (bytes < 0 ? "\u2212" : "+") + FormatBytes(size);
}

std::string FormatCount(uint64_t value) {
  std::string digits = std::to_string(value), out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string FormatParameters(uint64_t count) {
  const auto value = static_cast<double>(count);
  if (count >= 1'000'000'000) return fmt::format("{:.2f} B", value / 1e9);
  if (count >= 1'000'000) return fmt::format("{} M", std::lround(value / 1e6));
  return std::to_string(count);
}

std::string FormatBytesExact(uint64_t bytes) { return FormatCount(bytes) + " B"; }

std::string FormatDuration(int64_t ns) {
  if (ns < 0) return "\u2212" + FormatDuration(-ns);
  if (ns >= 120'000'000'000) {
    int64_t seconds = ns / 1'000'000'000;
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  for (const Unit& unit : kTimeUnits) {
    if (static_cast<double>(ns) < unit.size && unit.size > 1) continue;
    if (unit.size == 1) break;
    double value = static_cast<double>(ns) / unit.size;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit.name);
  }
  return fmt::format("{} ns", ns);
}

std::string FormatEntry(int64_t entry) {
  return i18n::Text("entry ") + (entry < 0 ? "\u2212" + FormatCount(static_cast<uint64_t>(-entry))
                                           : FormatCount(static_cast<uint64_t>(entry)));
}

std::string FormatLength(int64_t ns, bool times) {
  if (times) return FormatDuration(ns);
  const std::string count = FormatCount(static_cast<uint64_t>(std::abs(ns)));
  return fmt::format("{}{} {}", ns < 0 ? "\u2212" : "", count,
                     ns == 1 || ns == -1 ? i18n::Text("entry") : i18n::Text("entries"));
}

std::string FormatTime(int64_t ns, int64_t resolution_ns, int64_t magnitude_ns) {
  double magnitude = std::abs(static_cast<double>(magnitude_ns ? magnitude_ns : ns));
  const Unit* unit = &kTimeUnits[3];
  // Use milliseconds up to ten seconds, because they are usual for training steps.
  if (magnitude >= 1e10) {
    unit = &kTimeUnits[0];
  } else if (magnitude >= 1e6 || resolution_ns >= 1'000'000) {
    unit = &kTimeUnits[1];
  } else if (magnitude >= 1e3 || resolution_ns >= 1'000) {
    unit = &kTimeUnits[2];
  }
  int decimals = 0;
  double resolution = static_cast<double>(std::max<int64_t>(resolution_ns, 1));
  for (double s = unit->size; s > resolution * 1.0001 && decimals < 9; s /= 10) ++decimals;
  std::string s = fmt::format("{:.{}f}", static_cast<double>(ns) / unit->size, decimals);
  if (s.starts_with('-')) s = "\u2212" + s.substr(1);
  return fmt::format("{} {}", s, unit->name);
}

}  // namespace vramscope::ui::timeline
