#include "ui/timeline/canvas_keys.h"

#include <QGuiApplication>

namespace vramscope::ui::timeline {
namespace {

// Matches W, A, S and D by their position on the keyboard, because other keyboard layouts have
// these letters elsewhere.
std::optional<Key> ByPosition(const QKeyEvent& e) {
  static const bool kEvdev = QGuiApplication::platformName() == QLatin1String("xcb") ||
                             QGuiApplication::platformName().startsWith(QLatin1String("wayland"));
  if (!kEvdev || e.nativeScanCode() == 0) return std::nullopt;
  switch (e.nativeScanCode()) {  // the codes of evdev, plus 8
    case 25:
      return Key::kZoomIn;
    case 38:
      return Key::kPanLeft;
    case 39:
      return Key::kZoomOut;
    case 40:
      return Key::kPanRight;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Key> KeyOf(const QKeyEvent& e) {
  Qt::KeyboardModifiers m = e.modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier);
  if (m == Qt::AltModifier) {
    if (e.key() == Qt::Key_Left) return Key::kUndo;
    if (e.key() == Qt::Key_Right) return Key::kRedo;
    if (e.key() == Qt::Key_Up) return Key::kMoveLaneUp;
    if (e.key() == Qt::Key_Down) return Key::kMoveLaneDown;
    if (e.key() == Qt::Key_Plus || e.key() == Qt::Key_Equal) return Key::kLaneHigher;
    if (e.key() == Qt::Key_Minus) return Key::kLaneLower;
    return std::nullopt;
  }
  if (m == Qt::ControlModifier) {
    if (e.key() == Qt::Key_Up) return Key::kPreviousLane;
    if (e.key() == Qt::Key_Down) return Key::kNextLane;
    return std::nullopt;
  }
  if (m != Qt::NoModifier) return std::nullopt;
  if (auto key = ByPosition(e)) return key;
  switch (e.key()) {
    case Qt::Key_W:
    case Qt::Key_Up:
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return Key::kZoomIn;
    case Qt::Key_S:
    case Qt::Key_Down:
    case Qt::Key_Minus:
      return Key::kZoomOut;
    case Qt::Key_A:
    case Qt::Key_Left:
      return Key::kPanLeft;
    case Qt::Key_D:
    case Qt::Key_Right:
      return Key::kPanRight;
    case Qt::Key_F:
      return Key::kZoomSelection;
    case Qt::Key_Space:
    case Qt::Key_Home:
      return Key::kFit;
    case Qt::Key_P:
      return Key::kPeak;
    case Qt::Key_R:
      return Key::kSelectionToRange;
    case Qt::Key_Escape:
      return Key::kEscape;
    case Qt::Key_PageUp:
      return Key::kScrollUp;
    case Qt::Key_PageDown:
      return Key::kScrollDown;
    case Qt::Key_C:
      return Key::kFoldLane;
    case Qt::Key_T:
      return Key::kPinLane;
    case Qt::Key_H:
      return Key::kHideLane;
    case Qt::Key_BracketRight:
      return Key::kNextBlock;
    case Qt::Key_BracketLeft:
      return Key::kPreviousBlock;
    default:
      return std::nullopt;
  }
}

}  // namespace vramscope::ui::timeline
