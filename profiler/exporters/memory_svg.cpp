#include "profiler/exporters/memory_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/exporters/exporter.h"
#include "profiler/exporters/json_text.h"
#include "profiler/run/units.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::exporters {
namespace {

using trace::Category;

struct Band {
  Category category;
  std::string_view light, dark;  // colors
};
// The bands from bottom to top, in torch.profiler's order and colors. Categories that
// torch.profiler lacks are on top. The second color is for the dark page.
constexpr Band kBands[] = {{Category::kParameter, "#006400", "#2e8b57"},
                           {Category::kBuffer, "#3cb371", "#3cb371"},
                           {Category::kOptimizerState, "#daa520", "#daa520"},
                           {Category::kInput, "#000000", "#e0e0e0"},
                           {Category::kTemporary, "#9370db", "#9370db"},
                           {Category::kActivation, "#ff0000", "#ff5050"},
                           {Category::kGradient, "#0000cd", "#6495ed"},
                           {Category::kAutogradDetail, "#4169e1", "#87a5ff"},
                           {Category::kWorkspace, "#8b7355", "#a88f6c"},
                           {Category::kCommunication, "#008b8b", "#20b2aa"},
                           {Category::kKvCache, "#c71585", "#e55fb0"},
                           {Category::kUnknown, "#808080", "#808080"}};

constexpr int kLeft = 76, kRight = 14, kTop = 14, kTitle = 20, kAxis = 34, kLegendRow = 17;
constexpr double kLetter = 6.2;  // mean width of a letter in this font size

struct Column {
  uint64_t allocated = 0, reserved = 0;
  std::array<uint64_t, std::size(kBands)> bands{};
  bool filled = false;
};

// Returns the highest values within each column of pixels. Empty columns repeat the previous one.
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

// Draws a step line from left to right. Adjacent equal levels become one line segment.
template <class X>
std::string Steps(const std::vector<double>& level, const X& x) {
  std::string path = fmt::format("M{:.1f} {:.1f}", x(0), level[0]);
  for (size_t c = 1; c < level.size(); ++c) {
    if (level[c] != level[c - 1]) path += fmt::format("H{:.1f}V{:.1f}", x(c), level[c]);
  }
  return path + fmt::format("H{:.1f}", x(level.size()));
}

// Like Steps(), but from right to left.
template <class X>
std::string Back(const std::vector<double>& level, const X& x) {
  std::string path = fmt::format("V{:.1f}", level.back());
  for (size_t c = level.size(); c-- > 1;) {
    if (level[c] != level[c - 1]) path += fmt::format("H{:.1f}V{:.1f}", x(c), level[c - 1]);
  }
  return path + fmt::format("H{:.1f}", x(0));
}

// Rounds up to 1, 2 or 5 times a power of ten.
double RoundStep(double about) {
  const double ten = std::pow(10.0, std::floor(std::log10(about)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * ten >= about) return factor * ten;
  return 10 * ten;
}

struct Axis {
  std::vector<double> ticks;
  double unit = 1;
  std::string_view name;
  int decimals = 0;
  std::string Label(double value) const {
    return fmt::format("{:.{}f} {}", value / unit, decimals, name);
  }
};

// Puts ticks at round values, in the largest unit that is not larger than the values.
template <size_t N>
Axis RoundAxis(double from, double to, int about,
               const std::array<std::pair<double, std::string_view>, N>& units) {
  Axis axis;
  const double most = std::max(std::abs(from), std::abs(to));
  for (const auto& [unit, name] : units)
    if (axis.name.empty() || most >= unit) axis.unit = unit, axis.name = name;
  const double span = std::max(to - from, axis.unit * 1e-6);
  const double step = RoundStep(span / axis.unit / about);
  axis.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step))));
  // Ticks are multiples of the step. The limit on their number ends the loop even for values so
  // large that adding a step does not change them.
  const double first = std::ceil(from / axis.unit / step);
  for (int n = 0; n <= 2 * about && (first + n) * step * axis.unit <= to; ++n)
    axis.ticks.push_back((first + n) * step * axis.unit);
  return axis;
}

constexpr std::array<std::pair<double, std::string_view>, 3> kBytes = {
    {{1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}}};
constexpr std::array<std::pair<double, std::string_view>, 4> kTimes = {
    {{1.0, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};

std::string Style() {
  std::string light, dark;
  for (size_t b = 0; b < std::size(kBands); ++b) {
    light += fmt::format(".vramscope .c{}{{fill:{}}}", b, kBands[b].light);
    dark += fmt::format(".vramscope .c{}{{fill:{}}}", b, kBands[b].dark);
  }
  return ".vramscope{font:11px sans-serif}.vramscope text{fill:#222}.vramscope .ground{fill:#fff}"
         ".vramscope .grid{stroke:#888;stroke-opacity:.3}"
         ".vramscope .reserved{fill:none;stroke:#555;stroke-dasharray:4 2}"
         ".vramscope .card{fill:none;stroke:#c00;stroke-dasharray:8 3}"
         ".vramscope .peak{fill:none;stroke:#222}.vramscope .title{font-weight:bold;font-size:13px}"
         ".vramscope .band{fill-opacity:.7}" +
         light +
         "@media(prefers-color-scheme:dark){.vramscope text{fill:#ddd}"
         ".vramscope .ground{fill:#1e1e1e}.vramscope .reserved{stroke:#aaa}"
         ".vramscope .card{stroke:#ff6b6b}.vramscope .peak{stroke:#fff}" +
         dark + "}";
}

MemoryAxes AxesOf(const trace::Trace& trace, const analysis::MemoryCurves& curves) {
  MemoryAxes axes{.bytes = 1, .length_ns = 1};
  if (curves.size() == 0) return axes;
  for (size_t i = 0; i < curves.size(); ++i)
    axes.bytes = std::max({axes.bytes, curves.allocated[i], curves.reserved[i]});
  // Leaves out a GPU limit far above the curves, because showing it would flatten the curves.
  constexpr uint64_t kNear = 2;
  const uint64_t gpu = trace.info.device.memory_bytes;
  if (!trace::IsOfHostMemory(trace) && gpu / kNear <= axes.bytes)
    axes.bytes = std::max(axes.bytes, gpu);
  axes.length_ns = std::max<int64_t>(1, curves.time_ns.back() - curves.time_ns.front());
  return axes;
}

// The drawing and its layout.
class Picture {
 public:
  Picture(const trace::Trace& trace, const MemorySvgOptions& options)
      : trace_(trace), options_(options), curves_(analysis::ComputeCurves(trace)) {}

  std::string Draw() {
    const char* memory = trace::IsOfHostMemory(trace_) ? "host memory" : "GPU memory";
    const std::string title = options_.title.empty() ? memory : options_.title;
    std::string head = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vramscope\" role=\"img\" viewBox=\"0 0 "
        "{0} {1}\" width=\"{0}\" height=\"{1}\"><title>{2}</title><style>{3}</style><rect "
        "class=\"ground\" width=\"{0}\" height=\"{1}\"/>",
        options_.width, options_.height, XmlText(title), Style());
    if (!options_.title.empty())
      head += fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>", kLeft, kTop + 8,
                          XmlText(Shortened(options_.title)));
    if (curves_.size() == 0)
      return head + fmt::format("<text x=\"{}\" y=\"{}\">no {} was recorded</text></svg>", kLeft,
                                kTop + kTitle + 20, memory);
    Place();
    return head + Grid() + Bands() + ReservedAndGpu() + PeakMark() + Legend() + "</svg>";
  }

 private:
  std::string Shortened(const std::string& text) const {
    const auto most = static_cast<size_t>((options_.width - kLeft - kRight) / (kLetter * 1.25));
    if (text.size() <= most) return text;
    return text.substr(0, most) + "...";  // a character that is cut becomes U+FFFD
  }

  void Place() {
    peak_ = analysis::FindPeak(trace_, curves_);
    const MemoryAxes own = AxesOf(trace_, curves_);
    const uint64_t top = std::max(own.bytes, options_.at_least.bytes);
    const uint64_t gpu = trace_.info.device.memory_bytes;
    shows_gpu_ = gpu > 0 && !trace::IsOfHostMemory(trace_) && gpu <= top;
    highest_ = static_cast<double>(top) * 1.04;
    begin_ = static_cast<double>(curves_.time_ns.front());
    end_ = begin_ + static_cast<double>(std::max(own.length_ns, options_.at_least.length_ns));
    wide_ = std::max(20, options_.width - kLeft - kRight);
    curves_wide_ = wide_ * static_cast<double>(own.length_ns) / (end_ - begin_);
    columns_ = Columns(curves_, std::max(1, static_cast<int>(curves_wide_ / 2)));
    for (size_t b = 0; b < std::size(kBands); ++b)
      if (std::ranges::any_of(columns_, [&](const Column& c) { return c.bands[b] > 0; }))
        shown_.push_back(b);
    double row = kLeft;
    const auto place = [&](std::string_view name) {
      const double wide = 28 + static_cast<double>(name.size()) * kLetter;
      if (row > kLeft && row + wide > options_.width - kRight) row = kLeft, ++legend_rows_;
      legend_.emplace_back(row, legend_rows_);
      row += wide;
    };
    for (const size_t b : shown_) place(trace::Name(kBands[b].category));
    shows_reserved_ = trace::SegmentRecordOf(trace_) != trace::SegmentRecord::kNone;
    if (shows_reserved_) place("reserved");
    high_ = std::max(20, options_.height - Top() - kAxis - kLegendRow * (legend_rows_ + 1) - 6);
  }

  int Top() const { return kTop + kTitle; }
  double Y(double bytes) const { return Top() + high_ - bytes / highest_ * high_; }
  double X(size_t column) const {
    return kLeft +
           static_cast<double>(column) * curves_wide_ / static_cast<double>(columns_.size());
  }
  double XOf(double time) const { return kLeft + (time - begin_) / (end_ - begin_) * wide_; }

  std::string Grid() const {
    std::string svg;
    const Axis bytes = RoundAxis(0, highest_, 5, kBytes);
    for (const double tick : bytes.ticks)
      svg += fmt::format(
          "<path class=\"grid\" d=\"M{} {:.1f}h{}\"/><text x=\"{}\" y=\"{:.1f}\" "
          "text-anchor=\"end\">{}</text>",
          kLeft, Y(tick), wide_, kLeft - 6, Y(tick) + 4, tick == 0 ? "0" : bytes.Label(tick));
    const double bottom = Top() + high_;
    svg += fmt::format(
        "<text transform=\"translate(12 {:.1f}) rotate(-90)\" "
        "text-anchor=\"middle\">memory</text>",
        Top() + high_ / 2.0);
    const bool timed = trace_.info.has_times;
    Axis times = timed ? RoundAxis(begin_, end_, 6, kTimes) : Axis();
    for (const double tick : times.ticks)
      svg += fmt::format(
          "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}v4\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
          "text-anchor=\"middle\">{3}</text>",
          XOf(tick), bottom, bottom + 15, times.Label(tick));
    std::string_view axis = "time, modelled";
    if (trace_.info.measured) axis = "time, as recorded";
    if (!timed) axis = "entries of the recording, in their order";
    return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                             kLeft + wide_ / 2.0, bottom + 29, axis);
  }

  std::string Bands() const {
    std::string svg;
    std::vector<uint64_t> below(columns_.size());
    for (const size_t b : shown_) {
      std::vector<double> bottom(columns_.size()), level(columns_.size());
      for (size_t c = 0; c < columns_.size(); ++c) {
        bottom[c] = Y(static_cast<double>(below[c]));
        below[c] += columns_[c].bands[b];
        level[c] = Y(static_cast<double>(below[c]));
      }
      const auto x = [this](size_t column) { return X(column); };
      svg += fmt::format("<path class=\"band c{}\" d=\"{}{}Z\"/>", b, Steps(level, x),
                         Back(bottom, x));
    }
    return svg;
  }

  std::string ReservedAndGpu() const {
    std::vector<double> reserved(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c)
      reserved[c] = Y(static_cast<double>(columns_[c].reserved));
    std::string svg;
    if (shows_reserved_)
      svg += fmt::format("<path class=\"reserved\" d=\"{}\"/>",
                         Steps(reserved, [this](size_t column) { return X(column); }));
    if (!shows_gpu_) return svg;
    const double y = Y(static_cast<double>(trace_.info.device.memory_bytes));
    return svg + fmt::format(
                     "<path class=\"card\" d=\"M{} {:.1f}h{}\"/><text x=\"{}\" y=\"{:.1f}\" "
                     "text-anchor=\"end\">{}: {}</text>",
                     kLeft, y, wide_, kLeft + wide_ - 4, y + 12, XmlText(trace_.info.device.name),
                     run::FormatBytes(trace_.info.device.memory_bytes));
  }

  std::string PeakMark() const {
    const double x = std::clamp(XOf(static_cast<double>(peak_.context.time_ns)),
                                static_cast<double>(kLeft), static_cast<double>(kLeft + wide_));
    const double y = Y(static_cast<double>(peak_.allocated));
    std::string text = fmt::format("peak {}", run::FormatBytes(peak_.allocated));
    if (peak_.context.step >= 0) text += fmt::format(", step {}", peak_.context.step);
    if (peak_.context.phase != trace::Phase::kNone)
      text += fmt::format(", {}", trace::Name(peak_.context.phase));
    const bool left = x > kLeft + wide_ / 2.0;
    return fmt::format(
        "<path class=\"peak\" d=\"M{0:.1f} {1:.1f}V{2}\" stroke-dasharray=\"1 3\"/><circle "
        "class=\"peak\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3.5\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
        "text-anchor=\"{5}\">{6}</text>",
        x, y, Top() + high_, left ? x - 7 : x + 7, std::max(y - 4, Top() - 3.0),
        left ? "end" : "start", text);
  }

  std::string Legend() const {
    const int first = Top() + high_ + kAxis + kLegendRow;
    std::string svg;
    for (size_t i = 0; i < shown_.size(); ++i) {
      const auto [x, row] = legend_[i];
      const int y = first + row * kLegendRow;
      svg += fmt::format(
          "<rect class=\"band c{}\" x=\"{:.0f}\" y=\"{}\" width=\"9\" height=\"9\"/><text "
          "x=\"{:.0f}\" y=\"{}\">{}</text>",
          shown_[i], x, y - 9, x + 13, y, trace::Name(kBands[shown_[i]].category));
    }
    if (!shows_reserved_) return svg;
    const auto [x, row] = legend_.back();
    const int y = first + row * kLegendRow;
    return svg + fmt::format(
                     "<path class=\"reserved\" d=\"M{:.0f} {}h10\"/><text x=\"{:.0f}\" "
                     "y=\"{}\">reserved</text>",
                     x, y - 4, x + 13, y);
  }

  const trace::Trace& trace_;
  const MemorySvgOptions& options_;
  const analysis::MemoryCurves curves_;
  std::vector<Column> columns_;
  analysis::Peak peak_;
  std::vector<size_t> shown_;                   // indexes in kBands
  std::vector<std::pair<double, int>> legend_;  // x and row of each legend entry and of "reserved"
  int legend_rows_ = 0, high_ = 0, wide_ = 0;
  double highest_ = 1, begin_ = 0, end_ = 1;
  double curves_wide_ = 0;  // the part of the width that the curves take
  bool shows_gpu_ = false, shows_reserved_ = false;
};

}  // namespace

MemoryAxes MemoryAxesOf(const trace::Trace& trace) {
  return AxesOf(trace, analysis::ComputeCurves(trace));
}

std::string MemorySvg(const trace::Trace& trace, const MemorySvgOptions& options) {
  return Picture(trace, options).Draw();
}

namespace {

absl::Status ExportSvg(const ExportRequest& request, std::ostream& out) {
  out << MemorySvg(*request.trace, {.title = request.title}) << "\n";
  return absl::OkStatus();
}

}  // namespace

ExporterEntry DeclareExporter_svg() {
  return {.place = 70,
          .name = "svg",
          .help = TEXT_MARK("a chart of memory over time; with --size, a picture of the timeline"),
          .one_device = true,
          .uses_title = true,
          .write = ExportSvg};
}

}  // namespace vramscope::exporters
