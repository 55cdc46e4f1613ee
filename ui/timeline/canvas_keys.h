// Maps a key of the keyboard to a key of the canvas.
// UI thread only.
#pragma once

#include <QKeyEvent>
#include <optional>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// Matches W, A, S and D by their position, and all other keys by the character they produce.
std::optional<Key> KeyOf(const QKeyEvent& event);

}  // namespace vramscope::ui::timeline
