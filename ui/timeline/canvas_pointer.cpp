#include "ui/timeline/canvas_pointer.h"

namespace vramscope::ui::timeline {

Pointer PointerOf(const QMouseEvent& e, Qt::MouseButton button) {
  Pointer p;
  p.x = e.position().x();
  p.y = e.position().y();
  p.button = button == Qt::LeftButton     ? Button::kLeft
             : button == Qt::MiddleButton ? Button::kMiddle
             : button == Qt::RightButton  ? Button::kRight
                                          : Button::kNone;
  p.shift = e.modifiers() & Qt::ShiftModifier;
  p.ctrl = e.modifiers() & Qt::ControlModifier;
  p.alt = e.modifiers() & Qt::AltModifier;
  return p;
}

WheelInput WheelOf(const QWheelEvent& event) {
  WheelInput w;
  w.x = event.position().x();
  w.y = event.position().y();
  w.pixels = !event.pixelDelta().isNull() && event.phase() != Qt::NoScrollPhase;
  QPoint delta = w.pixels ? event.pixelDelta() : event.angleDelta();
  w.dx = delta.x();
  w.dy = delta.y();
  w.begins = event.phase() == Qt::ScrollBegin;
  w.ends = event.phase() == Qt::ScrollEnd;
  w.shift = event.modifiers() & Qt::ShiftModifier;
  w.ctrl = event.modifiers() & Qt::ControlModifier;
  w.alt = event.modifiers() & Qt::AltModifier;
  return w;
}

}  // namespace vramscope::ui::timeline
