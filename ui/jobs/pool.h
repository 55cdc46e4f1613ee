// The threads of ui/jobs. Jobs::Ask() is what the rest of the window uses.
#pragma once

class QThreadPool;

namespace vramscope::ui {

QThreadPool& JobPool();

}  // namespace vramscope::ui
