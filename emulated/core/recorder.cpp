#include "emulated/core/recorder.h"

#include <atomic>

namespace vramscope::emulated {
namespace {

std::atomic<Recorder*> the_recorder{nullptr};

}  // namespace

void SetRecorder(Recorder* recorder) { the_recorder.store(recorder, std::memory_order_release); }
Recorder* TheRecorder() { return the_recorder.load(std::memory_order_acquire); }

}  // namespace vramscope::emulated
