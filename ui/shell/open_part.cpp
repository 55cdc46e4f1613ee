#include "ui/shell/open_part.h"

#include <absl/strings/numbers.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "profiler/base/i18n.h"

namespace vramscope::ui {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

// Parses a number that may end with one of `suffixes`. Without a suffix, the number is multiplied
// by `without`. Ignores spaces, commas and underscores.
std::optional<double> Parse(std::string_view text, std::initializer_list<Suffix> suffixes,
                            double without) {
  std::string clean;
  for (const char c : text)
    if (c != ' ' && c != ',' && c != '_') clean += c;
  double factor = without;
  for (const Suffix& s : suffixes) {
    if (clean.size() <= s.name.size() || !std::string_view(clean).ends_with(s.name)) continue;
    clean.resize(clean.size() - s.name.size());
    factor = s.factor;
    break;
  }
  double value = 0;
  if (!absl::SimpleAtod(clean, &value) || !std::isfinite(value) || value < 0) return std::nullopt;
  // Refuse numbers above about 2^53, because a double does not represent them exactly.
  if (value * factor > 9.0e15) return std::nullopt;
  return value * factor;
}

absl::StatusOr<uint64_t> Entry(std::string_view field, std::string_view text) {
  const auto value = Parse(text, {{"k", 1e3}, {"K", 1e3}, {"M", 1e6}}, 1);
  if (!value)
    return absl::InvalidArgumentError(
        i18n::Format("{}: \"{}\" is not an entry number such as 100,000 or 2 M", field, text));
  return static_cast<uint64_t>(std::llround(*value));
}

absl::StatusOr<int64_t> Time(std::string_view field, std::string_view text) {
  const auto value = Parse(
      text, {{"min", 60e9}, {"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"ns", 1}, {"s", 1e9}}, 1e9);
  if (!value)
    return absl::InvalidArgumentError(
        i18n::Format("{}: \"{}\" is not a time such as 1.5 s or 200 ms", field, text));
  return std::llround(*value);
}

}  // namespace

absl::StatusOr<importers::OpenOptions> ParsePart(const PartText& text) {
  importers::OpenOptions part;
  if (text.device >= 0) part.device = static_cast<uint8_t>(text.device);
  const auto entry = [](std::string_view field, const std::string& from, uint64_t* to) {
    if (from.find_first_not_of(' ') == std::string::npos) return absl::OkStatus();
    const auto value = Entry(field, from);
    if (value.ok()) *to = *value;
    return value.status();
  };
  const auto time = [](std::string_view field, const std::string& from, int64_t* to) {
    if (from.find_first_not_of(' ') == std::string::npos) return absl::OkStatus();
    const auto value = Time(field, from);
    if (value.ok()) *to = *value;
    return value.status();
  };
  for (const absl::Status& status :
       {entry(i18n::Text("first entry"), text.first_entry, &part.first_entry),
        entry(i18n::Text("last entry"), text.last_entry, &part.last_entry),
        time(i18n::Text("from"), text.from, &part.from_ns),
        time(i18n::Text("to"), text.to, &part.to_ns)})
    if (!status.ok()) return status;
  if (part.first_entry > part.last_entry)
    return absl::InvalidArgumentError(i18n::Text("the first entry comes after the last one"));
  if (part.from_ns >= part.to_ns)
    return absl::InvalidArgumentError(i18n::Text("the time range ends before it begins"));
  return part;
}

}  // namespace vramscope::ui
