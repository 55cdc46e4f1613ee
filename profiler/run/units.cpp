#include "profiler/run/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"
#include "profiler/run/messages.h"

namespace vramscope::run {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Returns the factor of a unit, or 0 if there is no such unit.
double UnitFactor(std::string_view unit) {
  struct Row {
    std::string_view name;
    double factor;
  };
  static constexpr Row kUnits[] = {
      {"", 1},
      {"b", 1},
      {"kb", 1e3},
      {"mb", 1e6},
      {"gb", 1e9},
      {"tb", 1e12},
      {"kib", 1024.0},
      {"mib", 1048576.0},
      {"gib", 1073741824.0},
      {"tib", 1099511627776.0},
  };
  const std::string lower = Lower(unit);
  for (const Row& row : kUnits) {
    if (row.name == lower) return row.factor;
  }
  return 0;
}

// Counts 1 for each insertion, deletion and replacement. A swap of neighbours, a common typing
// error, also counts 1.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(std::string_view text) {
  const std::string_view trimmed = base::Trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  const std::string_view unit =
      base::Trimmed(trimmed.substr(static_cast<size_t>(end - trimmed.data())));
  const double factor = UnitFactor(unit);
  if (error != std::errc() || factor == 0 || !std::isfinite(value) || value < 0) {
    return absl::InvalidArgumentError(
        i18n::Format("{} is not a size: write bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, "
                     "GiB or TiB (\"24GiB\")",
                     Quoted(text)));
  }
  const double bytes = value * factor;
  constexpr double kMost = 1152921504606846976.0;  // 2^60
  if (bytes > kMost) {
    return absl::InvalidArgumentError(
        i18n::Format("{} is too large; a size can be at most 1 EiB", Quoted(text)));
  }
  return static_cast<uint64_t>(std::llround(bytes));
}

absl::StatusOr<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || error != std::errc() || end != last) {
    return absl::InvalidArgumentError(i18n::Format("{} is not a whole number", Quoted(text)));
  }
  return value;
}

absl::StatusOr<double> ParseNumber(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || error != std::errc() || end != last || !std::isfinite(value)) {
    return absl::InvalidArgumentError(i18n::Format("{} is not a number", Quoted(text)));
  }
  return value;
}

std::string_view Nearest(std::string_view text, const std::string_view* begin,
                         const std::string_view* end) {
  std::string_view best;
  const std::string lower = Lower(text.substr(0, 200));
  if (lower.size() >= 3) {  // prefixes first: "rtx-3060" means "rtx-3060-12gb" and not "rtx-3070"
    for (const std::string_view* candidate = begin; candidate != end; ++candidate) {
      const bool shorter = best.empty() || candidate->size() < best.size();
      if (shorter && Lower(*candidate).starts_with(lower)) best = *candidate;
    }
    if (!best.empty()) return best;
  }
  size_t best_distance = std::max<size_t>(2, lower.size() / 3) + 1;
  for (const std::string_view* candidate = begin; candidate != end; ++candidate) {
    const size_t distance = EditDistance(lower, Lower(*candidate));
    if (distance < best_distance) {
      best = *candidate;
      best_distance = distance;
    }
  }
  if (best.empty() && lower.size() >= 3) {  // "rank" for "lora.rank", "4090" for "rtx-4090"
    for (const std::string_view* candidate = begin; candidate != end; ++candidate) {
      if (Lower(*candidate).find(lower) != std::string::npos) return *candidate;
    }
  }
  return best;
}

std::string FormatBytes(uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < (1u << 20)) return fmt::format("{:.2f} KiB", value / 1024.0);
  if (bytes < (1u << 30)) return fmt::format("{:.2f} MiB", value / 1048576.0);
  return fmt::format("{:.2f} GiB", value / 1073741824.0);
}

}  // namespace vramscope::run
