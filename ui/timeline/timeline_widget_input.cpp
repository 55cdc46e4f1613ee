// Handles the events of the canvas: keys, mouse, wheel, timers and paint.
#include <QContextMenuEvent>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QTimerEvent>
#include <QWheelEvent>
#include <memory>
#include <optional>

#include "profiler/trace/catch_status.h"
#include "ui/timeline/canvas_keys.h"
#include "ui/timeline/canvas_pointer.h"
#include "ui/timeline/lane_menu.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/thing_menu.h"
#include "ui/timeline/timeline_widget_impl.h"

namespace vramscope::ui::timeline {
namespace {

constexpr int kTooltipDelayMs = 250;

}  // namespace

bool TimelineWidget::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::ShortcutOverride: {
      // While the canvas has the focus, its keys take precedence over the same keys as menu
      // shortcuts.
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
  // If the view continues to move, do not restart exact_timer. So an exact image replaces the moved
  // image after at most kExactAfterMs.
  const absl::StatusOr<bool> moved =
      trace::CatchStatus([&] { return impl_->raster.Paint(this, impl_->exact); });
  impl_->exact = false;
  if (!moved.ok()) {  // memory ran out while drawing: another frame will be drawn later
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

void TimelineWidget::focusInEvent(QFocusEvent* event) {
  impl_->model.SetFocusFrame(event->reason() == Qt::TabFocusReason ||
                             event->reason() == Qt::BacktabFocusReason ||
                             event->reason() == Qt::ShortcutFocusReason);
  impl_->Refresh();
  QWidget::focusInEvent(event);
}

void TimelineWidget::focusOutEvent(QFocusEvent* event) {
  impl_->model.SetFocusFrame(false);
  impl_->Refresh();
  QWidget::focusOutEvent(event);
}

void TimelineWidget::mousePressEvent(QMouseEvent* event) {
  impl_->model.SetFocusFrame(false);
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
  // The menu key opens the menu of the current lane or, if there is no current lane, of the
  // selection.
  const std::optional<query::Thing> thing = !by_key           ? ThingOf(s.data->trace(), hit)
                                            : lane == nullptr ? SelectedThing(s)
                                                              : std::nullopt;
  if (!thing) {
    LaneMenu menu(&impl_->model, lane, changed, this);
    if (!by_key && hit.kind != HitKind::kTitle) {
      const auto time = static_cast<qint64>(s.data->ToTrace(hit.time));
      menu.addSeparator();
      menu.addAction(tr("Add note …"), this, [this, time] { Q_EMIT noteRequested(time, {}); });
    }
    menu.exec(event->globalPos());
    return;
  }
  impl_->model.SelectThing(*thing);
  impl_->Refresh();
  const std::unique_ptr<QMenu> menu(MenuOf(*thing, lane, this));
  menu->exec(event->globalPos());
}

QMenu* TimelineWidget::MenuOf(const query::Thing& thing, const Lane* lane, QWidget* parent) {
  const int64_t time = query::BeginOf(impl_->model.state().data->trace(), thing);
  return new ThingMenu(&impl_->model, thing, lane,
                       {.changed = [this] { impl_->Refresh(); },
                        .search =
                            [this](const std::string& filter) {
                              Q_EMIT searchRequested(QString::fromStdString(filter));
                            },
                        .now = [this] { return impl_->Now(); },
                        .note = [this, thing, time] { Q_EMIT noteRequested(time, thing); }},
                       parent);
}

QMenu* TimelineWidget::linkMenu(const Link& link, QWidget* parent) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) return nullptr;
  const std::optional<query::Thing> thing = ThingOf(s.data->trace(), link);
  return thing ? MenuOf(*thing, nullptr, parent) : nullptr;
}

void TimelineWidget::leaveEvent(QEvent*) {
  impl_->tooltip_timer.stop();
  impl_->model.Leave();
  impl_->Refresh();
}

}  // namespace vramscope::ui::timeline
