// Returns the canvas's state as JSON, for tests and `--dump-state`.
#pragma once

#include <QJsonObject>

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/scene.h"

namespace vramscope::ui::timeline {

QJsonObject DumpState(const CanvasState& state, const SceneCounts& counts);

}  // namespace vramscope::ui::timeline
