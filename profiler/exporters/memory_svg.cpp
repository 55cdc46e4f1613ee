#include "profiler/exporters/memory_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/run/units.h"

namespace vramscope::exporters {
namespace {

using trace::Category;

struct Band {
  Category category;
  std::string_view colour;
};
// torch.profiler's order from the bottom and its colours; what it does not have comes on top.
constexpr Band kBands[] = {
    {Category::kParameter, "#006400"},      {Category::kBuffer, "#3cb371"},
    {Category::kOptimizerState, "#daa520"}, {Category::kInput, "#000000"},
    {Category::kTemporary, "#9370db"},      {Category::kActivation, "#ff0000"},
    {Category::kGradient, "#0000cd"},       {Category::kAutogradDetail, "#4169e1"},
    {Category::kWorkspace, "#8b7355"},      {Category::kCommunication, "#008b8b"},
    {Category::kKvCache, "#c71585"},        {Category::kUnknown, "#808080"}};

constexpr int kLeft = 64, kRight = 8, kTop = 8, kBottom = 40;

struct Column {
  uint64_t allocated = 0, reserved = 0;
  std::array<uint64_t, std::size(kBands)> bands{};
  bool filled = false;
};

// The highest moment of every column of pixels; a column without one stays as the one before it.
std::vector<Column> Columns(const analysis::MemoryCurves& curves, int count) {
  std::vector<Column> columns(static_cast<size_t>(count));
  const int64_t begin = curves.time_ns.front();
  const double span = static_cast<double>(std::max<int64_t>(1, curves.time_ns.back() - begin));
  const auto put = [&](Column& column, size_t point) {
    const uint64_t reserved = std::max(column.reserved, curves.reserved[point]);
    if (!column.filled || curves.allocated[point] >= column.allocated) {
      column.allocated = curves.allocated[point];
      for (size_t b = 0; b < std::size(kBands); ++b) {
        const auto& curve = curves.category[static_cast<size_t>(kBands[b].category)];
        column.bands[b] = curve.empty() ? 0 : curve[point];
      }
    }
    column.reserved = reserved;
    column.filled = true;
  };
  size_t at = 0;
  for (size_t point = 0; point < curves.size(); ++point) {
    const double share = static_cast<double>(curves.time_ns[point] - begin) / span;
    const size_t column = std::min(
        columns.size() - 1, static_cast<size_t>(share * static_cast<double>(columns.size())));
    for (; at < column; ++at) {
      if (point > 0 && !columns[at].filled) put(columns[at], point - 1);
    }
    put(columns[column], point);
  }
  return columns;
}

// A line of steps from the left to the right; levels that stay are one line.
template <class X>
std::string Steps(const std::vector<double>& level, const X& x) {
  std::string path = fmt::format("M{:.1f} {:.1f}", x(0), level[0]);
  for (size_t c = 1; c < level.size(); ++c) {
    if (level[c] != level[c - 1]) path += fmt::format("H{:.1f}V{:.1f}", x(c), level[c]);
  }
  return path + fmt::format("H{:.1f}", x(level.size()));
}

// And from the right to the left.
template <class X>
std::string Back(const std::vector<double>& level, const X& x) {
  std::string path = fmt::format("V{:.1f}", level.back());
  for (size_t c = level.size(); c-- > 1;) {
    if (level[c] != level[c - 1]) path += fmt::format("H{:.1f}V{:.1f}", x(c), level[c - 1]);
  }
  return path + fmt::format("H{:.1f}", x(0));
}

}  // namespace

std::string MemorySvg(const trace::Trace& trace, const MemorySvgOptions& options) {
  const analysis::MemoryCurves curves = analysis::ComputeCurves(trace);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\">",
      options.width, options.height);
  const int plot = std::max(1, options.width - kLeft - kRight);
  const int high = std::max(1, options.height - kTop - kBottom);
  if (curves.size() == 0) return svg + "</svg>";
  // Two pixels a column: as fine as a screen shows, half the text.
  const std::vector<Column> columns = Columns(curves, std::max(1, plot / 2));
  uint64_t top = 1;
  for (const Column& column : columns) top = std::max({top, column.allocated, column.reserved});
  const auto y = [&](uint64_t bytes) {
    return kTop + high - static_cast<double>(bytes) / static_cast<double>(top) * high;
  };
  const auto x = [&](size_t column) {
    return kLeft + static_cast<double>(column) * plot / static_cast<double>(columns.size());
  };
  std::vector<uint64_t> below(columns.size());
  std::string legend;
  int legend_x = kLeft;
  for (size_t b = 0; b < std::size(kBands); ++b) {
    if (std::ranges::all_of(columns, [&](const Column& c) { return c.bands[b] == 0; })) continue;
    std::vector<double> bottom(columns.size()), level(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
      bottom[c] = y(below[c]);
      below[c] += columns[c].bands[b];
      level[c] = y(below[c]);
    }
    const std::string path = Steps(level, x) + Back(bottom, x);
    svg +=
        fmt::format("<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.7\"/>", path, kBands[b].colour);
    const std::string_view name = trace::Name(kBands[b].category);
    legend += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"9\" height=\"9\" fill=\"{}\" fill-opacity=\"0.7\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>",
        legend_x, options.height - 14, kBands[b].colour, legend_x + 12, options.height - 6, name);
    legend_x += 24 + static_cast<int>(name.size()) * 6;
  }
  std::vector<double> reserved(columns.size());
  for (size_t c = 0; c < columns.size(); ++c) reserved[c] = y(columns[c].reserved);
  const std::string line = Steps(reserved, x);
  svg +=
      fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#555\" stroke-dasharray=\"4 2\"/>", line);
  for (int tick = 0; tick <= 4; ++tick) {
    const uint64_t bytes = top / 4 * static_cast<uint64_t>(tick);
    svg += fmt::format(
        "<path d=\"M{} {:.1f}H{}\" stroke=\"#888\" stroke-opacity=\"0.3\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        kLeft, y(bytes), kLeft + plot, kLeft - 4, y(bytes) + 4, run::FormatBytes(bytes));
  }
  if (trace.info.has_times) {
    const double ms = static_cast<double>(curves.time_ns.back() - curves.time_ns.front()) / 1e6;
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.1f} ms</text>", kLeft + plot,
                       kTop + high + 12, ms);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\">allocated by category; dashed: reserved</text>",
                     kLeft, kTop + high + 12);
  return svg + legend + "</svg>";
}

}  // namespace vramscope::exporters
