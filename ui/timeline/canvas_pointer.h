// Converts Qt's mouse and wheel events to the model's input.
//
//   model.Press(PointerOf(*event, event->button()), now);
//
// The functions are stateless.
#pragma once

#include <QMouseEvent>
#include <QWheelEvent>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

Pointer PointerOf(const QMouseEvent& event, Qt::MouseButton button);
WheelInput WheelOf(const QWheelEvent& event);

}  // namespace vramscope::ui::timeline
