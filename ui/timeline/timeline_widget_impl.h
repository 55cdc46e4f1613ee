// The part of the widget that its two files share: timeline_widget.cpp (public functions) and
// timeline_widget_input.cpp (events). No other file includes this header. UI thread only.
#pragma once

#include <QBasicTimer>
#include <QElapsedTimer>
#include <optional>
#include <string>

#include "ui/timeline/data_builder.h"
#include "ui/timeline/gl/gl_view.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/raster/raster_canvas.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui::timeline {

struct TimelineWidget::Impl {
  static constexpr int kFrameMs = 16;
  using Data = DataBuilder::Data;
  using TracePtr = DataBuilder::TracePtr;

  explicit Impl(TimelineWidget* w) : widget(w) { clock.start(); }

  double Now() const { return static_cast<double>(clock.nsecsElapsed()) / 1e6; }

  void Land() {
    for (const Data& data : builder.TakeLanded()) {
      const TracePtr& built = data->shared_trace();
      // Show the built trace even if a newer trace of the same run has been set since, because it
      // is newer than the displayed trace. While traces arrive faster than they are built, nothing
      // new would appear otherwise.
      const Data& shown = model.state().data;
      if (trace && built != trace && built != baseline && shown && shown->shared_trace() != trace &&
          built->info.start_unix_ns == trace->info.start_unix_ns &&
          built->events.size() <= trace->events.size() && !trace->complete) {
        model.SetData(data, false, Now());
        Q_EMIT widget->dataShown();
      }
    }
    Apply();
  }

  // Passes the requested trace and baseline to the model, if their data is built.
  void Apply() {
    builder.SetShown(trace, baseline);
    if (baseline != (model.state().baseline ? model.state().baseline->shared_trace() : nullptr) ||
        baseline_label_changed) {
      Data data = builder.Obtain(baseline, baseline_curves);
      if (!baseline || data) {
        model.SetBaselineTrace(data, baseline_label.toStdString());
        baseline_label_changed = false;
      }
    }
    if (trace != (model.state().data ? model.state().data->shared_trace() : nullptr)) {
      Data data = builder.Obtain(trace, trace_curves, whole);
      if (!trace || data) {
        model.SetData(data, animate, Now());
        if (data && pending_selection) model.Select(*pending_selection);
        pending_selection.reset();
        if (data && pending_position) GoTo(*pending_position);
        pending_position.reset();
        Q_EMIT widget->dataShown();
      }
    }
    if (const absl::Status error = builder.TakeError(); !error.ok()) {
      // Remove the previous trace. Otherwise it would stay visible under the new trace's name.
      model.SetData(nullptr, false, Now());
      model.SetStatus(Status::kFailed, tr("Cannot draw the timeline").toStdString(),
                      std::string(error.message()),
                      tr("Close other programs, or open a part of the trace").toStdString(), -1);
    }
    Refresh();
  }

  void GoTo(const Position& p) {
    const TimelineData& data = *model.state().data;
    const auto time = [&](qint64 ns) { return data.FromTrace(ns); };
    model.SetView(p.begin_ns < p.end_ns ? std::optional(Span{time(p.begin_ns), time(p.end_ns)})
                                        : std::nullopt);
    model.SetCursor(p.cursor_ns < 0 ? std::nullopt : std::optional(time(p.cursor_ns)));
    model.SetRange(p.range_begin_ns < p.range_end_ns
                       ? std::optional(Span{time(p.range_begin_ns), time(p.range_end_ns)})
                       : std::nullopt);
    const bool there = p.selection.valid() && p.selection.value < data.trace().allocations.size();
    model.Select(there ? p.selection : trace::AllocationId{});
  }

  // Called after every change. Emits the signals, and requests a frame if necessary. Starts or
  // stops the frame timer, which runs only during animations.
  void Refresh() {
    Changes c = model.TakeChanges();
    const CanvasState& s = model.state();
    auto trace_time = [&](double t) { return s.data ? qint64(s.data->ToTrace(t)) : qint64{-1}; };
    if (model.animating()) {
      if (!frame_timer.isActive()) frame_timer.start(kFrameMs, Qt::PreciseTimer, widget);
    } else {
      frame_timer.stop();
    }
    if (model.data_dirty() || model.overlay_dirty()) {
      if (gl_view) {
        gl_view->update();
      } else {
        widget->update();
      }
    }
    if (c.view) {
      Q_EMIT widget->viewChanged(trace_time(s.viewport.view().begin),
                                 trace_time(s.viewport.view().end));
    }
    if (c.hover) Q_EMIT widget->hoverMoved(s.hovering ? trace_time(s.hover.time) : -1);
    if (c.cursor) Q_EMIT widget->cursorMoved(s.cursor ? trace_time(*s.cursor) : -1);
    if (c.range) {
      Q_EMIT widget->rangeSelected(s.range ? trace_time(s.range->begin) : 0,
                                   s.range ? trace_time(s.range->end) : 0);
    }
    if (c.selection) Q_EMIT widget->selectionChanged(s.selection);
    if (c.lanes) Q_EMIT widget->lanesChanged();
  }

  // Chooses the renderer. The available OpenGL decides, unless $VRAMSCOPE_RENDERER=raster or gl is
  // set.
  void ChooseRenderer() {
    const QByteArray renderer = qgetenv("VRAMSCOPE_RENDERER");
    if (renderer == "raster") return;
    const bool software = qEnvironmentVariableIsSet("LIBGL_ALWAYS_SOFTWARE");
    if (renderer != "gl" && (software || !HasGraphicsDevice())) return;
    const QString opengl = ProbeOpenGl();
    if (opengl.isEmpty() || (renderer != "gl" && IsSoftwareOpenGl(opengl))) return;
    gl_view = new GlView(
        &model,
        [this](const QString& why) {
          qWarning("Timeline: drawing without OpenGL: %s", qPrintable(why));
          gl_view->deleteLater();
          gl_view->hide();
          gl_view = nullptr;
          raster.Invalidate();
          widget->update();
        },
        widget);
    gl_view->setGeometry(widget->rect());
  }

  void UpdateShape(const Pointer& p) {
    Hit hit = model.HitTest(p.x, p.y);
    Qt::CursorShape shape = Qt::ArrowCursor;
    if (hit.kind == HitKind::kOverview) shape = Qt::SizeHorCursor;
    if (hit.kind == HitKind::kTitle) shape = Qt::PointingHandCursor;
    if (hit.kind == HitKind::kLowerEdge) shape = Qt::SizeVerCursor;
    if (widget->cursor().shape() != shape) widget->setCursor(shape);
  }

  TimelineWidget* widget;
  TimelineModel model;
  GlView* gl_view = nullptr;  // a child of the widget; null: the raster renderer is used
  RasterCanvas raster{&model};

  TracePtr trace, baseline, whole;
  Curves trace_curves, baseline_curves;
  QString baseline_label;
  bool baseline_label_changed = false;
  bool animate = false;
  bool moved = false;  // whether the screen shows a moved image
  bool exact = false;  // whether the next frame must be drawn exactly, not moved
  std::optional<trace::AllocationId> pending_selection;
  std::optional<Position> pending_position;

  QElapsedTimer clock;
  QBasicTimer frame_timer, tooltip_timer;
  QBasicTimer exact_timer;  // runs while a moved image is shown instead of an exact one
  DataBuilder builder{[this] { Land(); }};
};

}  // namespace vramscope::ui::timeline
