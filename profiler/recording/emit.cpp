#include "profiler/recording/recording.h"

namespace vramscope::recording {

void Emit(const Recording&, const History&, const Labels&, trace::EventSink&) {}

}  // namespace vramscope::recording
