// The canvas' fonts: Inter where it is installed, else DejaVu Sans, else what the system has.
#pragma once

#include <QFont>
#include <QString>

#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

QFont CanvasFont(Font role);
// Family of the proportional and of the monospaced fonts; the shell uses the same.
QString SansFamily();
QString MonoFamily();

}  // namespace vramscope::ui::timeline
