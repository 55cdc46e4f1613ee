// The thread pool of ui/jobs. The rest of the window uses Jobs::Ask().
#pragma once

class QThreadPool;

namespace vramscope::ui {

QThreadPool& JobPool();

}  // namespace vramscope::ui
