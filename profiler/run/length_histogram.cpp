#include "profiler/run/length_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

constexpr size_t kMaxBytes = 4 << 20;
constexpr int kMaxLines = 1 << 16;
constexpr int64_t kMaxLength = 1 << 20;
constexpr int64_t kMaxCount = int64_t{1} << 40;

// Returns number `x` of a fixed sequence of uniformly distributed numbers (splitmix64).
uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

absl::StatusOr<LengthHistogram> ParseHistogram(std::string_view text) {
  std::map<int, uint64_t> counts;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number > kMaxLines) {
      return absl::InvalidArgumentError(i18n::Format("the file has more than {} lines", kMaxLines));
    }
    if (line.empty() || line.front() == '#' ||
        std::isalpha(static_cast<unsigned char>(line.front())) != 0) {
      continue;
    }
    const size_t comma = line.find(',');
    const absl::StatusOr<int64_t> length = ParseInteger(base::Trimmed(line.substr(0, comma)));
    const absl::StatusOr<int64_t> count = comma == std::string_view::npos
                                              ? absl::StatusOr<int64_t>(1)
                                              : ParseInteger(base::Trimmed(line.substr(comma + 1)));
    if (!length.ok() || !count.ok() || *length < 1 || *length > kMaxLength || *count < 0 ||
        *count > kMaxCount) {
      return absl::InvalidArgumentError(i18n::Format(
          "line {} does not have the form \"length,count\", with a length from 1 to {}", number,
          kMaxLength));
    }
    if (*count > 0) counts[static_cast<int>(*length)] += static_cast<uint64_t>(*count);
  }
  LengthHistogram out;
  uint64_t sum = 0;
  for (const auto& [length, count] : counts) {
    out.lengths.push_back(length);
    out.samples.push_back(sum += count);
  }
  if (out.lengths.empty()) return absl::InvalidArgumentError(i18n::Text("the file has no samples"));
  return out;
}

absl::StatusOr<LengthHistogram> ReadHistogram(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(i18n::Text("this is not a file on this computer"));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad() || (text.empty() && !file.eof())) {
    return absl::InvalidArgumentError(i18n::Text("the file cannot be read"));
  }
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        i18n::Format("the file has more than {} MiB", kMaxBytes >> 20));
  }
  return ParseHistogram(text);
}

int DrawLength(const LengthHistogram& histogram, uint64_t seed, uint64_t sample) {
  const uint64_t drawn = Mixed(Mixed(seed) + sample) % histogram.samples.back();
  const auto found = std::ranges::upper_bound(histogram.samples, drawn);
  return histogram.lengths[static_cast<size_t>(found - histogram.samples.begin())];
}

}  // namespace vramscope::run
