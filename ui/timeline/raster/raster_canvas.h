// The canvas as RasterRenderer draws it: the picture of the data layer, which is kept, and the
// overlay over it. Where a picture takes longer than a frame may, what is there is moved and
// stretched to where the view has gone (pixels are copied, nothing is asked), and the exact picture
// follows.
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

  // `model` must outlive it.
  explicit RasterCanvas(TimelineModel* model) : model_(model), renderer_(&model->crew()) {}

  // From the widget's paintEvent. True: what it shows of the data is a moved picture; `exact`: it
  // may not be.
  bool Paint(QWidget* widget, bool exact);
  // The next picture is made anew.
  void Invalidate() { stale_ = true; }
  // A picture that took longer is moved before it is made anew.
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
  Span image_view_;  // of the time, that image_ shows
  bool stale_ = true;
  double budget_ms_ = kFrameBudgetMs, made_in_ms_ = 0;
  SceneCounts counts_;
  quint64 frames_ = 0, data_frames_ = 0, moved_frames_ = 0;
};

}  // namespace vramscope::ui::timeline
