#include "profiler/run/seq.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/run/length_histogram.h"
#include "profiler/run/lengths.h"
#include "profiler/run/text_formats.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

constexpr std::string_view kExpected = TEXT_MARK(
    "expected one of these: the number of tokens in a sample, from 1 to 1048576; a list of lengths "
    "(\"400,1536,400\") or ranges (\"256-1024\") for at most 4096 successive micro-batches; or a "
    "file with lines \"length,count\", from which vramscope draws the samples of each micro-batch");
constexpr size_t kFewCharacters = 24;

absl::StatusOr<Seq> OfFile(std::string_view text) {
  const std::string path(text);
  const absl::StatusOr<std::string> good = FindTextFormat("path")->normalized(path);
  const absl::StatusOr<LengthHistogram> histogram =
      good.ok() ? ReadHistogram(path) : absl::StatusOr<LengthHistogram>(good.status());
  if (histogram.ok()) return Seq{.tokens = histogram->lengths.back(), .lengths = {}, .file = path};
  return absl::InvalidArgumentError(
      fmt::format("{}; {}", std::string(histogram.status().message()), i18n::Text(kExpected)));
}

}  // namespace

std::string_view ExpectedSeq() { return kExpected; }

absl::StatusOr<Seq> ParseSeq(std::string_view text) {
  if (text.find_first_not_of("0123456789,.- ") != std::string_view::npos) return OfFile(text);
  const absl::StatusOr<std::vector<LengthRange>> ranges = ParseLengths(text);
  if (!ranges.ok() || ranges->empty()) return absl::InvalidArgumentError(i18n::Text(kExpected));
  Seq out;
  for (const LengthRange& range : *ranges) out.tokens = std::max(out.tokens, range.high);
  const bool one = ranges->size() == 1 && ranges->front().low == ranges->front().high;
  if (!one) out.lengths = FindTextFormat("lengths")->normalized(text).value();
  return out;
}

std::string SeqText(const RunConfig& config) {
  if (const std::string& lengths = config.Get("lengths"); !lengths.empty()) return lengths;
  if (const std::string& file = config.Get("samples.file"); !file.empty()) return file;
  return fmt::format("{}", config.seq);
}

std::string ShortSeqText(const RunConfig& config) {
  const std::string& lengths = config.Get("lengths");
  const std::string text = SeqText(config);
  if (lengths.empty() && !config.Get("samples.file").empty()) {
    return i18n::Format("{} up to {}", text.substr(text.rfind('/') + 1).substr(0, 40), config.seq);
  }
  if (text.size() <= kFewCharacters) return text;
  return i18n::Format("{} lengths up to {}", std::ranges::count(text, ',') + 1, config.seq);
}

}  // namespace vramscope::run
