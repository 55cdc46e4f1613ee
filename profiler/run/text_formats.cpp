#include "profiler/run/text_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/lengths.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

constexpr std::string_view kNames = TEXT_MARK(
    "expected module names with commas between them, such as \"q_proj,v_proj\"; a run.json may "
    "write [\"q_proj\", \"v_proj\"]");
constexpr std::string_view kPattern = TEXT_MARK(
    "expected \"all\", \"first-layer\", \"last-layer\", or a pattern over parameter names, such as "
    "\"*.mlp.*\"");
constexpr std::string_view kLengths = TEXT_MARK(
    "expected a list (\"400,1536,400\") or ranges (\"256-1024\") of lengths for at most 4096 "
    "successive micro-batches, each length from 1 to 1048576. If the value is empty, every length "
    "is seq");
constexpr std::string_view kPath =
    TEXT_MARK("expected the path of a file, at most 4096 characters");
constexpr int64_t kMaxLength = 1 << 20;
constexpr size_t kMaxLengths = 4096;

bool IsNameChar(char c, std::string_view more) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         more.find(c) != std::string_view::npos;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = base::Trimmed(text.substr(0, comma));
    if (!part.empty()) out.push_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

absl::StatusOr<std::string> Names(std::string_view text) {
  const std::vector<std::string> names = SplitNames(text);
  bool good = !names.empty() && names.size() <= 64 && text.size() <= 1024;
  for (const std::string& name : names) {
    for (char c : name) good = good && IsNameChar(c, "_.-");
  }
  if (!good) return absl::InvalidArgumentError(i18n::Text(kNames));
  return fmt::format("{}", fmt::join(names, ","));
}

absl::StatusOr<std::string> Pattern(std::string_view text) {
  bool good = !text.empty() && text.size() <= 256;
  for (char c : text) good = good && IsNameChar(c, "_.-*?[],!");
  if (!good) return absl::InvalidArgumentError(i18n::Text(kPattern));
  return std::string(text);
}

absl::StatusOr<std::string> Lengths(std::string_view text) {
  const absl::StatusOr<std::vector<LengthRange>> lengths = ParseLengths(text);
  if (!lengths.ok()) return lengths.status();
  std::string out;
  for (const LengthRange& r : *lengths) {
    if (!out.empty()) out += ',';
    out += r.low == r.high ? fmt::format("{}", r.low) : fmt::format("{}-{}", r.low, r.high);
  }
  return out;
}

absl::StatusOr<std::string> Path(std::string_view text) {
  if (text.size() > 4096 || text.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(i18n::Text(kPath));
  }
  return std::string(text);
}

constexpr std::string_view kAllocator = TEXT_MARK(
    "expected a value that PYTORCH_CUDA_ALLOC_CONF accepts, or an empty value for PyTorch's "
    "default");

// Checks a value for the caching allocator's setting `kSetting`; "" means PyTorch's default.
template <const char* kSetting>
absl::StatusOr<std::string> Allocator(std::string_view text) {
  const std::string value(base::Trimmed(text));
  if (value.empty()) return value;
  // Outside of a list, a comma would begin another setting.
  const bool one = value.find(',') == value.npos || (value.front() == '[' && value.back() == ']');
  const absl::Status status = ParseAllocConf(fmt::format("{}:{}", kSetting, value)).status();
  if (!status.ok() || !one) {
    return status.ok() ? absl::InvalidArgumentError(i18n::Text(kAllocator)) : status;
  }
  return value;
}

constexpr char kMaxSplit[] = "max_split_size_mb";
constexpr char kMaxRounding[] = "max_non_split_rounding_mb";
constexpr char kDivisions[] = "roundup_power2_divisions";
constexpr char kCollection[] = "garbage_collection_threshold";
constexpr char kFraction[] = "per_process_memory_fraction";

constexpr TextFormat kFormats[] = {{"names", kNames, Names},
                                   {"pattern", kPattern, Pattern},
                                   {"lengths", kLengths, Lengths},
                                   {"path", kPath, Path},
                                   {kMaxSplit, kAllocator, Allocator<kMaxSplit>},
                                   {kMaxRounding, kAllocator, Allocator<kMaxRounding>},
                                   {kDivisions, kAllocator, Allocator<kDivisions>},
                                   {kCollection, kAllocator, Allocator<kCollection>},
                                   {kFraction, kAllocator, Allocator<kFraction>}};

}  // namespace

const TextFormat* FindTextFormat(std::string_view name) {
  for (const TextFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::vector<std::string> SplitNames(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text);
  return {parts.begin(), parts.end()};
}

absl::StatusOr<std::vector<LengthRange>> ParseLengths(std::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(i18n::Text(kLengths));
  std::vector<LengthRange> out;
  for (std::string_view part : Split(text)) {
    // "256-1024", or "256..1024".
    const size_t dash = std::min(part.find('-'), part.find(".."));
    const size_t width = dash != std::string_view::npos && part[dash] == '.' ? 2 : 1;
    const absl::StatusOr<int64_t> low = ParseInteger(base::Trimmed(part.substr(0, dash)));
    const absl::StatusOr<int64_t> high =
        dash == std::string_view::npos ? low
                                       : ParseInteger(base::Trimmed(part.substr(dash + width)));
    if (!low.ok() || !high.ok() || *low < 1 || *high < *low || *high > kMaxLength) return bad;
    out.push_back({static_cast<int>(*low), static_cast<int>(*high)});
    if (out.size() > kMaxLengths) return bad;
  }
  if (out.empty() && !base::Trimmed(text).empty()) return bad;
  return out;
}

}  // namespace vramscope::run
