// The thread pool. Only files of ui/jobs use it; all others call Jobs::Ask().
#pragma once

class QThreadPool;

namespace vramscope::ui {

QThreadPool& JobPool();

}  // namespace vramscope::ui
