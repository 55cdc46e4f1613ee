#include "ui/panels/cells.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {

Cell BytesCell(uint64_t bytes) {
  return {.text = bytes == 0 ? "0" : timeline::FormatBytes(bytes),
          .sort = static_cast<double>(bytes),
          .exact = timeline::FormatBytesExact(bytes),
          .bytes = static_cast<int64_t>(bytes),
          .tone = bytes == 0 ? Cell::Tone::kDim : Cell::Tone::kPlain};
}

Cell CountCell(uint64_t count) {
  return {.text = timeline::FormatCount(count),
          .sort = static_cast<double>(count),
          .count = static_cast<int64_t>(count),
          .tone = count == 0 ? Cell::Tone::kDim : Cell::Tone::kPlain};
}

Cell DurationCell(int64_t ns, bool times) {
  return {.text = timeline::FormatLength(ns, times),
          .sort = static_cast<double>(ns),
          .count = times ? std::nullopt : std::optional(ns),  // `ns` counts history entries
          .ns = times ? std::optional(ns) : std::nullopt};
}

Cell CategoryCell(trace::Category category) {
  return {.text = i18n::Text(trace::Name(category)),
          .sort = static_cast<double>(category),
          .category = category};
}

Cell TextCell(std::string text) {
  text = analysis::ShownName(text);
  Cell cell;
  cell.exact = text;
  cell.text = std::move(text);
  return cell;
}

Cell DifferenceCell(int64_t bytes) {
  return {.text = bytes == 0 ? "0" : timeline::FormatSignedBytes(bytes),
          .sort = static_cast<double>(bytes),
          .exact = fmt::format("{:+d} B", bytes),
          .bytes = bytes,
          .tone = bytes > 0   ? Cell::Tone::kBad
                  : bytes < 0 ? Cell::Tone::kGood
                              : Cell::Tone::kDim};
}

}  // namespace vramscope::ui
