// Notes as the timeline draws them: flags on the ruler.
//
//   model.SetNotes(std::make_shared<const NoteMarks>(NoteMarks{.trace = trace, .notes = ...}));
//
// Immutable once the canvas has it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

struct NoteMark {
  int64_t time_ns = 0;  // by the trace's clock
  int64_t end_ns = 0;   // of a range; <= time_ns: a moment
  std::string text;     // empty: a bookmark
  std::string what;     // that it is of; empty: the moment
  bool range() const { return end_ns > time_ns; }
};

struct NoteMarks {
  std::shared_ptr<const trace::Trace> trace;  // that they are of
  std::vector<NoteMark> notes;
};

}  // namespace vramscope::ui::timeline
