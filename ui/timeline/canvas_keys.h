// Maps a key of the keyboard to a key of the canvas.
// UI thread only.
#pragma once

#include <QKeyEvent>
#include <optional>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// Matches W, A, S and D by their position on the keyboard, and all other keys by the character that
// they produce.
std::optional<Key> KeyOf(const QKeyEvent& event);

}  // namespace vramscope::ui::timeline
