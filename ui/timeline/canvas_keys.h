// Which key of the canvas a key of the keyboard is.
// UI thread only.
#pragma once

#include <QKeyEvent>
#include <optional>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// W, A, S and D go by their place, the others by what is written on them.
std::optional<Key> KeyOf(const QKeyEvent& event);

}  // namespace vramscope::ui::timeline
