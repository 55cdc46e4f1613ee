#include "ui/timeline/raster/raster_canvas.h"

#include <QPainter>
#include <cmath>
#include <ctime>

#include "ui/timeline/raster/pixel_fill.h"

namespace vramscope::ui::timeline {
namespace {

// Returns CPU time. Wall time would also depend on other programs, so it would predict the next
// frame less well.
double ThreadMs() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

}  // namespace

bool RasterCanvas::Paint(QWidget* widget, bool exact) {
  const double scale = widget->devicePixelRatioF();
  model_->Resize(static_cast<float>(widget->width()), static_cast<float>(widget->height()), scale);
  const QSize pixels(static_cast<int>(std::ceil(widget->width() * scale)),
                     static_cast<int>(std::ceil(widget->height() * scale)));
  if (image_.size() != pixels || image_.devicePixelRatioF() != scale) {
    image_ = QImage(pixels, QImage::Format_RGB32);
    image_.setDevicePixelRatio(scale);
    moved_ = {};
    stale_ = true;
  }
  bool moved = false;
  if (model_->data_dirty() || stale_) {
    moved = !exact && !stale_ && model_->only_view_moved() && made_in_ms_ > budget_ms_;
    moved ? Move() : Build();
  }
  if (model_->overlay_dirty()) model_->BuildOverlay(renderer_.measure(), &overlay_list_);
  ++frames_;
  QPainter painter(widget);
  painter.drawImage(QPointF(0, 0), moved ? moved_ : image_);
  renderer_.Paint(overlay_list_, &painter);
  return moved;
}

void RasterCanvas::Build() {
  const double begin = ThreadMs();
  counts_ = model_->BuildData(renderer_.measure(), &data_list_);
  renderer_.Render(data_list_, &image_);
  made_in_ms_ = ThreadMs() - begin;
  image_view_ = model_->state().viewport.view();
  stale_ = false;
  ++data_frames_;
}

void RasterCanvas::Move() {
  const CanvasState& s = model_->state();
  if (moved_.isNull()) moved_ = QImage(image_.size(), image_.format());
  moved_.setDevicePixelRatio(image_.devicePixelRatioF());
  const auto* from = reinterpret_cast<const uint32_t*>(image_.constBits());
  const PixelTarget to{reinterpret_cast<uint32_t*>(moved_.bits()), moved_.width(), moved_.height(),
                       static_cast<int>(moved_.bytesPerLine() / 4), moved_.devicePixelRatioF()};
  const Span& view = s.viewport.view();
  // the begin and end of the view, as fractions of the existing image's width
  const double begin = (view.begin - image_view_.begin) / image_view_.width();
  const double end = (view.end - image_view_.begin) / image_view_.width();
  const uint32_t ground = Premultiply(s.theme.ground.argb());
  // Copy everything around the bodies of lanes. The bodies do not overlap, and are ordered from top
  // to bottom.
  float top = 0;
  for (const LanePlace& place : s.layout.lanes) {
    if (!place.in_sight() || !place.lane->FollowsView()) continue;
    const Rect seen = place.view();
    if (seen.empty()) continue;
    CopyPixels(from, to, {0, top, s.layout.width, seen.y - top});
    CopyPixels(from, to, {0, seen.y, s.layout.plot_left, seen.h});
    const float right = s.layout.plot_left + s.layout.plot_width;
    CopyPixels(from, to, {right, seen.y, s.layout.width - right, seen.h});
    MovePixels(from, to, {s.layout.plot_left, seen.y, s.layout.plot_width, seen.h}, begin, end,
               ground);
    top = seen.bottom();
  }
  CopyPixels(from, to, {0, top, s.layout.width, s.layout.height - top});
  ++moved_frames_;
}

}  // namespace vramscope::ui::timeline
