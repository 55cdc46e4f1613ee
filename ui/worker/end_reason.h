// Why a run or a worker ended: a text for the window, and an English text for the trace.
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

// Returns a description of a signal that ended a process, such as "a segmentation fault".
std::string SignalName(int number);

}  // namespace vramscope::ui
