#include "ui/timeline/model/outline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/ticks.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kMargin = 16, kHead = 64, kFoot = 28;
constexpr float kStepHeight = 19, kPhaseHeight = 14, kGap = 4;
constexpr float kLeastHeight = 40;
constexpr double kTickApart = 90;
constexpr int kByteTicks = 6;

// The values of each column: the highest peaks of all batches that overlap the column.
struct Columns {
  std::vector<uint64_t> allocated, reserved;
};
Columns ColumnsOf(const trace::Outline& o, int64_t begin, double per_ns, size_t n) {
  Columns out{std::vector<uint64_t>(n), std::vector<uint64_t>(n)};
  const auto column = [&](int64_t ns) {
    const double at = static_cast<double>(ns - begin) * per_ns;
    return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(n - 1)));
  };
  for (size_t b = 0; b < o.batches.size(); ++b) {
    const trace::Outline::Batch& batch = o.batches[b];
    // A batch ends where the next one begins.
    const int64_t end = b + 1 < o.batches.size() ? o.batches[b + 1].begin_ns : batch.end_ns;
    for (size_t i = column(batch.begin_ns), last = column(end); i <= last; ++i) {
      out.allocated[i] = std::max(out.allocated[i], batch.peak_allocated);
      out.reserved[i] = std::max(out.reserved[i], batch.peak_reserved);
    }
  }
  return out;
}

void DrawHead(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  const trace::Outline& o = *s.outline;
  const float width = s.layout.width - 2 * kMargin;
  list->Text(Elide(measure, s.status_title, Font::kTitle, width), {kMargin, 10, width, 26},
             Font::kTitle, s.theme.text);
  std::string said = i18n::Format("{} events", FormatCount(o.events));
  if (o.activities > 0) said += i18n::Format(", {} activities", FormatCount(o.activities));
  if (o.info.has_times) said += " · " + FormatDuration(o.end_ns() - o.begin_ns());
  said += i18n::Format(" · at most {} allocated, {} reserved",
                       FormatBytes(o.peak_allocated(), true), FormatBytes(o.peak_reserved(), true));
  if (s.status_fraction >= 0)
    said += i18n::Format(" · {:.0f} % read", 100 * std::clamp(s.status_fraction, 0.0, 1.0));
  list->Text(Elide(measure, said, Font::kSmall, width), {kMargin, 38, width, 18}, Font::kSmall,
             s.theme.dim);
}

}  // namespace

Rect OutlinePlot(const CanvasState& s) {
  const float bands = kStepHeight + kPhaseHeight + 2 * kGap;
  const Rect plot{kMargin, kHead + bands, s.layout.width - 2 * kMargin,
                  s.layout.height - kHead - bands - kFoot};
  return plot.h < kLeastHeight || plot.w < kLeastHeight ? Rect{} : plot;
}

void DrawOutline(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  const trace::Outline& o = *s.outline;
  DrawHead(s, measure, list);
  const Rect plot = OutlinePlot(s);
  const int64_t begin = o.begin_ns(), end = std::max(o.end_ns(), begin + 1);
  if (plot.empty() || o.batches.empty()) return;
  const double per_ns = plot.w / static_cast<double>(end - begin);
  const auto x_of = [&](int64_t ns) {
    return plot.x + static_cast<float>(static_cast<double>(ns - begin) * per_ns);
  };

  const ByteAxis axis =
      MakeByteAxis(o.peak_reserved() > 0 ? o.peak_reserved() : o.peak_allocated(), kByteTicks);
  const auto height_of = [&](uint64_t bytes) {
    return static_cast<float>(static_cast<double>(bytes) / static_cast<double>(axis.max)) * plot.h;
  };
  const auto ticks =
      o.info.has_times ? TimeTicks(0, static_cast<double>(end - begin), plot.w, kTickApart)
                       : EntryTicks(0, static_cast<double>(end - begin), plot.w, kTickApart, begin);
  for (const TimeTick& tick : ticks) {
    const float x = std::floor(x_of(begin + tick.time_ns)) + 0.5f;
    list->Line(x, plot.y, x, plot.bottom() + 4, s.theme.line.WithAlpha(0.6));
    list->Text(tick.label, {x + 3, plot.bottom() + 4, 90, 16}, Font::kSmall, s.theme.faint);
  }

  const auto n = static_cast<size_t>(std::max(1L, std::lround(plot.w * s.scale)));
  const Columns columns =
      ColumnsOf(o, begin, static_cast<double>(n) / static_cast<double>(end - begin), n);
  const StackPrim stack = list->Stack(plot, static_cast<uint32_t>(n), 2);
  const auto edges = list->edges(stack);
  list->colors(stack)[0] = Mix(s.theme.ground, s.theme.accent, 0.45).argb();
  list->colors(stack)[1] = s.theme.cached.argb();
  for (size_t i = 0; i < n; ++i) {
    edges[i] = plot.bottom();
    edges[n + i] = plot.bottom() - height_of(columns.allocated[i]);
    edges[2 * n + i] = std::min(plot.bottom() - height_of(columns.reserved[i]), edges[n + i]);
  }
  for (uint64_t bytes = axis.step; bytes <= axis.max; bytes += axis.step) {
    const float y = std::floor(plot.bottom() - height_of(bytes)) + 0.5f;
    list->Line(plot.x, y, plot.right(), y, s.theme.line.WithAlpha(0.4));
    list->Text(FormatBytes(bytes, true), {plot.x + 4, y - 16, 120, 15}, Font::kSmall,
               s.theme.faint);
  }

  const Rect steps{plot.x, kHead, plot.w, kStepHeight};
  const Rect phases{plot.x, kHead + kStepHeight + 1, plot.w, kPhaseHeight};
  // The end of the last drawn phase. A phase that begins in the same pixel is not drawn.
  float last_x = -1;
  for (const trace::Outline::Slice& slice : o.steps_and_phases) {
    const bool step = slice.kind == trace::SliceKind::kStep;
    const Rect& band = step ? steps : phases;
    const float x0 = x_of(slice.begin_ns);
    const float x1 = std::max(x_of(slice.end_ns) - (step ? 1 : 0), x0 + 1);
    if (step) {
      list->Fill({x0, band.y, x1 - x0, band.h}, s.theme.raised);
      const std::string name = slice.count > 1 ? i18n::Format("Steps {} to {}", slice.number,
                                                              slice.number + (slice.count - 1))
                                               : i18n::Format("Step {}", slice.number);
      if (measure.Width(name, Font::kSmallBold) + 8 <= x1 - x0)
        list->Text(name, {x0 + 4, band.y, x1 - x0 - 6, band.h}, Font::kSmallBold, s.theme.dim);
    } else if (x1 > last_x + 0.5f) {
      list->Fill({x0, band.y, x1 - x0, band.h},
                 s.theme.phase(static_cast<trace::Phase>(slice.number)));
      last_x = x1;
    }
  }
}

}  // namespace vramscope::ui::timeline
