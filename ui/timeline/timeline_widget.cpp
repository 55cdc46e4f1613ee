#include "ui/timeline/timeline_widget.h"

#include <QBasicTimer>
#include <QContextMenuEvent>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QTimerEvent>
#include <QWheelEvent>
#include <optional>
#include <tuple>
#include <vector>

#include "profiler/trace/catch_status.h"
#include "ui/jobs/release_later.h"
#include "ui/timeline/canvas_keys.h"
#include "ui/timeline/canvas_pointer.h"
#include "ui/timeline/data_builder.h"
#include "ui/timeline/dump_state.h"
#include "ui/timeline/gl/gl_view.h"
#include "ui/timeline/lane_menu.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/model/tooltip.h"
#include "ui/timeline/picture.h"
#include "ui/timeline/raster/raster_canvas.h"
#include "ui/timeline/thing_menu.h"

namespace vramscope::ui::timeline {
namespace {

constexpr int kTooltipDelayMs = 250;
constexpr int kFrameMs = 16;

}  // namespace

struct TimelineWidget::Impl {
  using Data = DataBuilder::Data;
  using TracePtr = DataBuilder::TracePtr;

  explicit Impl(TimelineWidget* w) : widget(w) { clock.start(); }

  double Now() const { return static_cast<double>(clock.nsecsElapsed()) / 1e6; }

  void Land() {
    for (const Data& data : builder.TakeLanded()) {
      const TracePtr& built = data->shared_trace();
      // Already out of date, but the same run further on than what is shown: better than nothing
      // new until the run ends.
      const Data& shown = model.state().data;
      if (trace && built != trace && built != ghost && shown && shown->shared_trace() != trace &&
          built->info.start_unix_ns == trace->info.start_unix_ns &&
          built->events.size() <= trace->events.size() && !trace->complete) {
        model.SetData(data, false, Now());
        Q_EMIT widget->dataShown();
      }
    }
    Apply();
  }

  // Puts wanted trace and ghost into the model as far as they are there.
  void Apply() {
    builder.SetShown(trace, ghost);
    if (ghost != (model.state().ghost ? model.state().ghost->shared_trace() : nullptr) ||
        ghost_label_changed) {
      Data data = builder.Obtain(ghost, ghost_curves);
      if (!ghost || data) {
        model.SetGhost(data, ghost_label.toStdString());
        ghost_label_changed = false;
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
      // Not the picture of what was shown before, under the name of this.
      model.SetData(nullptr, false, Now());
      model.SetStatus(Status::kFailed, tr("Cannot draw this").toStdString(),
                      std::string(error.message()),
                      tr("Close other programs, or open a part of it").toStdString(), -1);
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

  // After every change: tells the outside, asks for a frame when one is needed, and keeps the
  // animation's clock only while something moves.
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

  // By what OpenGL there is; $VRAMSCOPE_RENDERER=raster or gl decides otherwise.
  void ChooseRenderer() {
    const QByteArray wanted = qgetenv("VRAMSCOPE_RENDERER");
    if (wanted == "raster") return;
    const bool software = qEnvironmentVariableIsSet("LIBGL_ALWAYS_SOFTWARE");
    if (wanted != "gl" && (software || !HasGraphicsDevice())) return;
    const QString opengl = ProbeOpenGl();
    if (opengl.isEmpty() || (wanted != "gl" && IsSoftwareOpenGl(opengl))) return;
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
  GlView* gl_view = nullptr;  // child of the widget; null: raster
  RasterCanvas raster{&model};

  TracePtr trace, ghost, whole;
  Curves trace_curves, ghost_curves;
  QString ghost_label;
  bool ghost_label_changed = false;
  bool animate = false;
  bool moved = false;  // what is on the screen is a moved picture
  bool exact = false;  // the next one may not be
  std::optional<trace::AllocationId> pending_selection;
  std::optional<Position> pending_position;

  QElapsedTimer clock;
  QBasicTimer frame_timer, tooltip_timer;
  QBasicTimer exact_timer;  // runs while a moved picture stands for the exact one
  DataBuilder builder{[this] { Land(); }};
};

TimelineWidget::TimelineWidget(QWidget* parent)
    : QWidget(parent), impl_(std::make_unique<Impl>(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(
      tr("Memory over time: wheel zooms, drag selects a range, click selects "
         "an allocation, P goes to the peak."));
  impl_->model.SetEmptyText(tr("No run yet").toStdString(),
                            tr("Choose a model and a GPU, then plan a run.\n"
                               "Or open a .trace or a memory snapshot: Ctrl+O, or drop it here.")
                                .toStdString());
  impl_->ChooseRenderer();
}

TimelineWidget::~TimelineWidget() {
  delete impl_->gl_view;  // it reads the model
  impl_->gl_view = nullptr;
}

void TimelineWidget::setTrace(std::shared_ptr<const trace::Trace> trace, bool animate,
                              const Curves& curves,
                              const std::shared_ptr<const trace::Trace>& whole) {
  impl_->trace = std::move(trace);
  impl_->trace_curves = curves;
  impl_->whole = whole;
  impl_->animate = animate;
  impl_->Apply();
}

void TimelineWidget::showNow() {
  if (impl_->gl_view) {
    impl_->gl_view->repaint();
  } else {
    repaint();
  }
}

std::shared_ptr<const trace::Trace> TimelineWidget::trace() const { return impl_->trace; }

void TimelineWidget::prepare(std::shared_ptr<const TimelineData> data) {
  impl_->builder.Remember(data);
}

void TimelineWidget::setGhost(std::shared_ptr<const trace::Trace> ghost, const QString& label,
                              const Curves& curves) {
  impl_->ghost_label_changed = label != impl_->ghost_label;
  impl_->ghost = std::move(ghost);
  impl_->ghost_curves = curves;
  impl_->ghost_label = label;
  impl_->Apply();
}

void TimelineWidget::setTheme(const Theme& theme) {
  impl_->model.SetTheme(theme);
  impl_->Refresh();
}

void TimelineWidget::retranslate() {
  impl_->builder.Forget();
  impl_->ghost_label_changed = true;
  impl_->Refresh();
}

void TimelineWidget::setDeviceLimit(quint64 bytes) {
  impl_->model.SetDeviceLimit(bytes);
  impl_->Refresh();
}

void TimelineWidget::setAnimations(bool on) { impl_->model.SetAnimations(on); }
void TimelineWidget::setFrameBudget(double ms) { impl_->raster.SetFrameBudget(ms); }

void TimelineWidget::setEmptyText(const QString& title, const QString& hint) {
  impl_->model.SetEmptyText(title.toStdString(), hint.toStdString());
  impl_->Refresh();
}

void TimelineWidget::setLoading(const QString& text, double fraction) {
  impl_->model.SetStatus(text.isEmpty() ? Status::kNone : Status::kLoading, text.toStdString(), "",
                         "", fraction);
  impl_->Refresh();
}

void TimelineWidget::setOutline(std::shared_ptr<const trace::Outline> outline) {
  impl_->model.SetOutline(std::move(outline));
  impl_->Refresh();
}

void TimelineWidget::setFailed(const QString& title, const QString& why, const QString& next) {
  impl_->model.SetStatus(title.isEmpty() ? Status::kNone : Status::kFailed, title.toStdString(),
                         why.toStdString(), next.toStdString(), -1);
  impl_->Refresh();
}

std::shared_ptr<const TimelineData> TimelineWidget::data() const {
  return impl_->model.state().data;
}

trace::AllocationId TimelineWidget::selection() const { return impl_->model.state().selection; }

uint32_t TimelineWidget::selectedActivity() const { return impl_->model.state().selected_activity; }

ActivityFacts TimelineWidget::activityFacts() const {
  return FactsOfSelection(impl_->model.state());
}

std::vector<LinkedFact> TimelineWidget::kernelsOf(trace::AllocationId id) const {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace || !id.valid() ||
      id.value >= s.data->trace().allocations.size())
    return {};
  return KernelsOf(*s.data, id);
}

qint64 TimelineWidget::cursorTime() const {
  const CanvasState& s = impl_->model.state();
  return s.data && s.cursor ? s.data->ToTrace(*s.cursor) : -1;
}

std::pair<qint64, qint64> TimelineWidget::range() const {
  const CanvasState& s = impl_->model.state();
  if (!s.data || !s.range) return {0, 0};
  return {s.data->ToTrace(s.range->begin), s.data->ToTrace(s.range->end)};
}

QString TimelineWidget::laneSettings() const {
  return QString::fromStdString(impl_->model.lane_settings().ToText());
}

void TimelineWidget::setLaneSettings(const QString& text) {
  impl_->model.SetLaneSettings(LaneSettings::FromText(text.toStdString()));
  impl_->Refresh();
}

TimelineWidget::Position TimelineWidget::position() const {
  if (impl_->pending_position) return *impl_->pending_position;
  const CanvasState& s = impl_->model.state();
  Position p;
  if (!s.data) return p;
  if (!s.viewport.shows_all()) {
    p.begin_ns = s.data->ToTrace(s.viewport.view().begin);
    p.end_ns = s.data->ToTrace(s.viewport.view().end);
  }
  p.cursor_ns = cursorTime();
  std::tie(p.range_begin_ns, p.range_end_ns) = range();
  p.selection = s.selection;
  return p;
}

void TimelineWidget::setPosition(const Position& position) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) {
    impl_->pending_position = position;
    return;
  }
  impl_->GoTo(position);
  impl_->Refresh();
}

PictureOptions TimelineWidget::pictureOptions() const {
  const CanvasState& s = impl_->model.state();
  PictureOptions options;
  options.width = std::clamp(width(), kLeastPicture, kMostPicture);
  options.height = std::clamp(height(), kLeastPicture, kMostPicture);
  options.dark = s.theme.dark;
  options.view = s.viewport.view();
  return options;
}

bool TimelineWidget::canUndoView() const { return impl_->model.CanUndo(); }
bool TimelineWidget::canRedoView() const { return impl_->model.CanRedo(); }

QJsonObject TimelineWidget::dumpState() const {
  const GlView* gl = impl_->gl_view;
  QJsonObject o = DumpState(impl_->model.state(), gl ? gl->counts() : impl_->raster.counts());
  o["renderer"] = gl ? "gl" : "raster";
  o["building"] = impl_->builder.busy();
  const RasterCanvas& raster = impl_->raster;
  o["frames"] = QJsonObject{{"all", qint64(gl ? gl->frames() : raster.frames())},
                            {"data", qint64(gl ? gl->data_frames() : raster.data_frames())},
                            {"moved", qint64(gl ? 0 : raster.moved_frames())}};
  return o;
}

void TimelineWidget::settle() {
  do {  // what lands may begin what was wanted meanwhile
    impl_->builder.Wait();
    impl_->Land();
  } while (impl_->builder.busy());
  impl_->model.Animate(impl_->Now() + 1e6);
  impl_->exact = true;
  impl_->moved = false;
  impl_->Refresh();
}

bool TimelineWidget::ready() const {
  return !impl_->builder.busy() && !impl_->model.animating() && !impl_->moved;
}

QSize TimelineWidget::sizeHint() const { return {1000, 720}; }
// High enough for the phases, the memory and the blocks.
QSize TimelineWidget::minimumSizeHint() const { return {320, 280}; }

void TimelineWidget::zoomToFit() {
  impl_->model.Fit(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::zoomIn() {
  impl_->model.ZoomBy(1.5, impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::zoomOut() {
  impl_->model.ZoomBy(1 / 1.5, impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::zoomToSelection() {
  impl_->model.ZoomToSelection(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::undoView() {
  impl_->model.UndoView(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::redoView() {
  impl_->model.RedoView(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::select(trace::AllocationId id) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) {
    impl_->pending_selection = id;  // of the trace that is being built
    return;
  }
  impl_->model.Select(id);
  impl_->Refresh();
}

void TimelineWidget::selectActivity(uint32_t activity) {
  impl_->model.SelectActivity(activity);
  impl_->Refresh();
}

void TimelineWidget::follow(const Link& link) {
  impl_->model.FollowLink(link, impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::highlight(const std::vector<trace::AllocationId>& blocks) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) return;
  impl_->model.Highlight(blocks);
  impl_->Refresh();
}

void TimelineWidget::mark(const std::shared_ptr<const Marking>& marking) {
  ReleaseLater(impl_->model.state().marking);
  impl_->model.Mark(marking);
  impl_->Refresh();
}

void TimelineWidget::hideCategories(const std::bitset<trace::kCategoryCount>& hidden) {
  impl_->model.HideCategories(hidden);
  impl_->Refresh();
}

void TimelineWidget::revealSelection() {
  impl_->model.RevealSelection(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::setCursorTime(qint64 time_ns) {
  const CanvasState& s = impl_->model.state();
  if (!s.data) return;
  impl_->model.SetCursor(time_ns < 0 ? std::nullopt
                                     : std::optional<double>(s.data->FromTrace(time_ns)));
  impl_->Refresh();
}

void TimelineWidget::setRange(qint64 begin_ns, qint64 end_ns) {
  const CanvasState& s = impl_->model.state();
  if (!s.data) return;
  impl_->model.SetRange(begin_ns >= end_ns ? std::nullopt
                                           : std::optional<Span>(Span{s.data->FromTrace(begin_ns),
                                                                      s.data->FromTrace(end_ns)}));
  impl_->Refresh();
}

void TimelineWidget::jumpToPeak() {
  impl_->model.JumpToPeak(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::clearSelection() { select({}); }

void TimelineWidget::showAllLanes() {
  impl_->model.ChangeLane(LaneAction::kShowAll, {});
  impl_->Refresh();
}

void TimelineWidget::resetLanes() {
  impl_->model.ChangeLane(LaneAction::kReset, {});
  impl_->Refresh();
}

bool TimelineWidget::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::ShortcutOverride: {
      // Keys of the canvas go to it while it has the focus, not to a menu's shortcut.
      auto* key = static_cast<QKeyEvent*>(event);
      if (impl_->model.state().data && KeyOf(*key)) {
        event->accept();
        return true;
      }
      break;
    }
    case QEvent::Timer: {
      int id = static_cast<QTimerEvent*>(event)->timerId();
      if (id == impl_->frame_timer.timerId()) {
        impl_->model.Animate(impl_->Now());
        impl_->Refresh();
        return true;
      }
      if (id == impl_->exact_timer.timerId()) {
        impl_->exact_timer.stop();
        impl_->exact = true;
        update();
        return true;
      }
      if (id == impl_->tooltip_timer.timerId()) {
        impl_->tooltip_timer.stop();
        impl_->model.ShowTooltip();
        impl_->Refresh();
        return true;
      }
      break;
    }
    default:
      break;
  }
  return QWidget::event(event);
}

void TimelineWidget::paintEvent(QPaintEvent*) {
  if (impl_->gl_view) return;
  // Not put off by what moves on: a moved picture is never older than that.
  const absl::StatusOr<bool> moved =
      trace::CatchStatus([&] { return impl_->raster.Paint(this, impl_->exact); });
  impl_->exact = false;
  if (!moved.ok()) {  // memory ran out within a frame: a later one is drawn anew
    impl_->raster.Invalidate();
    impl_->exact_timer.start(RasterCanvas::kExactAfterMs, this);
    return;
  }
  impl_->moved = *moved;
  if (!impl_->moved)
    impl_->exact_timer.stop();
  else if (!impl_->exact_timer.isActive())
    impl_->exact_timer.start(RasterCanvas::kExactAfterMs, this);
}

void TimelineWidget::resizeEvent(QResizeEvent*) {
  if (impl_->gl_view) impl_->gl_view->setGeometry(rect());
  impl_->model.Resize(static_cast<float>(width()), static_cast<float>(height()),
                      devicePixelRatioF());
  impl_->Refresh();
}

void TimelineWidget::mousePressEvent(QMouseEvent* event) {
  impl_->tooltip_timer.stop();
  impl_->model.Press(PointerOf(*event, event->button()), impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::mouseMoveEvent(QMouseEvent* event) {
  Pointer p = PointerOf(*event, Qt::NoButton);
  impl_->model.Move(p, impl_->Now());
  impl_->UpdateShape(p);
  if (!impl_->model.state().tooltip) impl_->tooltip_timer.start(kTooltipDelayMs, this);
  impl_->Refresh();
}

void TimelineWidget::mouseReleaseEvent(QMouseEvent* event) {
  impl_->model.Release(PointerOf(*event, event->button()), impl_->Now());
  if (!rect().contains(event->position().toPoint())) impl_->model.Leave();
  impl_->Refresh();
}

void TimelineWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  impl_->model.DoubleClick(PointerOf(*event, event->button()), impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::wheelEvent(QWheelEvent* event) {
  impl_->model.Wheel(WheelOf(*event), impl_->Now());
  impl_->Refresh();
  event->accept();
}

void TimelineWidget::keyPressEvent(QKeyEvent* event) {
  std::optional<Key> key = KeyOf(*event);
  if (!key || !impl_->model.KeyPress(*key, event->modifiers() & Qt::ShiftModifier, impl_->Now())) {
    QWidget::keyPressEvent(event);
    return;
  }
  impl_->Refresh();
}

void TimelineWidget::contextMenuEvent(QContextMenuEvent* event) {
  const CanvasState& s = impl_->model.state();
  if (!s.shows_lanes()) return;
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const Hit hit = impl_->model.HitTest(event->pos().x(), event->pos().y());
  const Lane* lane = by_key ? impl_->model.CommandedLane() : hit.lane;
  const auto changed = [this] { impl_->Refresh(); };
  // By the key: of the lane that keys speak of, else of what is selected.
  const std::optional<query::Thing> thing = !by_key           ? ThingOf(s.data->trace(), hit)
                                            : lane == nullptr ? SelectedThing(s)
                                                              : std::nullopt;
  if (!thing) {
    LaneMenu menu(&impl_->model, lane, changed, this);
    menu.exec(event->globalPos());
    return;
  }
  impl_->model.SelectThing(*thing);
  impl_->Refresh();
  ThingMenu menu(&impl_->model, *thing, lane,
                 {.changed = changed,
                  .search =
                      [this](const std::string& filter) {
                        Q_EMIT searchRequested(QString::fromStdString(filter));
                      },
                  .now = [this] { return impl_->Now(); }},
                 this);
  menu.exec(event->globalPos());
}

void TimelineWidget::leaveEvent(QEvent*) {
  impl_->tooltip_timer.stop();
  impl_->model.Leave();
  impl_->Refresh();
}

}  // namespace vramscope::ui::timeline
