// The reason why a run or a worker ended: the text for the window, and the English text that is
// stored in the trace.
//
//   Kill(EndReason::Of([&] { return WhyStopped(name); }));
//
// Thread-safe.
#pragma once

#include <string>

#include "profiler/base/i18n.h"

namespace vramscope::ui {

struct EndReason {
  // Calls `text` twice: in the language of the window, and in English.
  template <class Text>
  static EndReason Of(const Text& text) {
    EndReason reason{.shown = text(), .in_trace = {}};
    const i18n::InEnglish english;
    reason.in_trace = text();
    return reason;
  }
  std::string shown, in_trace;
};

// Describes a signal that ended a process: "a segmentation fault".
std::string SignalName(int number);

}  // namespace vramscope::ui
