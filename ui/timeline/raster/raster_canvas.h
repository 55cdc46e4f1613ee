// The canvas as RasterRenderer draws it: a cached image of the data layer, with the overlay on top.
// If drawing an image takes longer than a frame, the cached image is first moved and stretched to
// the new view, which only copies pixels and queries no index. The exact image follows soon.
//
//   if (canvas.Paint(widget, exact)) timer.start(RasterCanvas::kExactAfterMs);  // then: exact
//
// UI thread only.
#pragma once

#include <QImage>
#include <QWidget>

#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/raster/raster_renderer.h"

namespace vramscope::ui::timeline {

class RasterCanvas {
 public:
  static constexpr double kFrameBudgetMs = 8;
  static constexpr int kExactAfterMs = 30;

  // `model` must outlive the canvas.
  explicit RasterCanvas(TimelineModel* model) : model_(model), renderer_(&model->crew()) {}

  // Called by the widget's paintEvent. Returns true if it has drawn a moved image of the data
  // layer. If `exact` is true, it always draws an exact image.
  bool Paint(QWidget* widget, bool exact);
  // Makes the next Paint() draw a new image.
  void Invalidate() { stale_ = true; }
  // If drawing an image takes more than `ms`, the last image is moved before a new image is drawn.
  void SetFrameBudget(double ms) { budget_ms_ = ms; }

  const SceneCounts& counts() const { return counts_; }
  quint64 frames() const { return frames_; }
  quint64 data_frames() const { return data_frames_; }
  quint64 moved_frames() const { return moved_frames_; }

 private:
  void Build();
  void Move();

  TimelineModel* model_;
  RasterRenderer renderer_;
  DrawList data_list_, overlay_list_;
  QImage image_, moved_;
  Span image_view_;  // the time range that image_ shows
  bool stale_ = true;
  double budget_ms_ = kFrameBudgetMs, made_in_ms_ = 0;
  SceneCounts counts_;
  quint64 frames_ = 0, data_frames_ = 0, moved_frames_ = 0;
};

}  // namespace vramscope::ui::timeline
