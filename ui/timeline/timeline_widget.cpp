#include "ui/timeline/timeline_widget.h"

#include <QPainter>

namespace vramscope::ui::timeline {

struct TimelineWidget::Impl {
  std::shared_ptr<const trace::Trace> trace, ghost;
  Theme theme = Theme::Dark();
  trace::AllocationId selection;
  qint64 cursor = -1;
};

TimelineWidget::TimelineWidget(QWidget* parent) : QWidget(parent), impl_(new Impl) {}
TimelineWidget::~TimelineWidget() = default;
void TimelineWidget::setTrace(std::shared_ptr<const trace::Trace> trace, bool) {
  impl_->trace = std::move(trace);
  update();
}
std::shared_ptr<const trace::Trace> TimelineWidget::trace() const { return impl_->trace; }
void TimelineWidget::setGhost(std::shared_ptr<const trace::Trace> ghost, const QString&) {
  impl_->ghost = std::move(ghost);
}
void TimelineWidget::setTheme(const Theme& theme) {
  impl_->theme = theme;
  update();
}
void TimelineWidget::setDeviceLimit(quint64) {}
void TimelineWidget::setAnimations(bool) {}
void TimelineWidget::setEmptyText(const QString&, const QString&) {}
void TimelineWidget::setLoading(const QString&, double) {}
void TimelineWidget::setFailed(const QString&, const QString&, const QString&) {}
trace::AllocationId TimelineWidget::selection() const { return impl_->selection; }
qint64 TimelineWidget::cursorTime() const { return impl_->cursor; }
bool TimelineWidget::canUndoView() const { return false; }
bool TimelineWidget::canRedoView() const { return false; }
QJsonObject TimelineWidget::dumpState() const { return {}; }
void TimelineWidget::settle() {}
bool TimelineWidget::ready() const { return true; }
QSize TimelineWidget::sizeHint() const { return {1000, 720}; }
QSize TimelineWidget::minimumSizeHint() const { return {320, 240}; }
void TimelineWidget::zoomToFit() {}
void TimelineWidget::zoomIn() {}
void TimelineWidget::zoomOut() {}
void TimelineWidget::zoomToSelection() {}
void TimelineWidget::undoView() {}
void TimelineWidget::redoView() {}
void TimelineWidget::select(trace::AllocationId id) {
  if (impl_->selection == id) return;
  impl_->selection = id;
  Q_EMIT selectionChanged(id);
}
void TimelineWidget::revealSelection() {}
void TimelineWidget::setCursorTime(qint64 time_ns) { impl_->cursor = time_ns; }
void TimelineWidget::setRange(qint64, qint64) {}
void TimelineWidget::jumpToPeak() {}
void TimelineWidget::clearSelection() { select({}); }
bool TimelineWidget::event(QEvent* event) { return QWidget::event(event); }
void TimelineWidget::paintEvent(QPaintEvent*) {
  QPainter(this).fillRect(rect(), QColor::fromRgba(impl_->theme.ground.argb()));
}
void TimelineWidget::resizeEvent(QResizeEvent*) {}
void TimelineWidget::mousePressEvent(QMouseEvent*) {}
void TimelineWidget::mouseMoveEvent(QMouseEvent*) {}
void TimelineWidget::mouseReleaseEvent(QMouseEvent*) {}
void TimelineWidget::mouseDoubleClickEvent(QMouseEvent*) {}
void TimelineWidget::wheelEvent(QWheelEvent*) {}
void TimelineWidget::keyPressEvent(QKeyEvent*) {}
void TimelineWidget::leaveEvent(QEvent*) {}

}  // namespace vramscope::ui::timeline
