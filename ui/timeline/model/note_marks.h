// The notes that the timeline shows. It draws a flag on the ruler for each of them.
//
//   model.SetNotes(std::make_shared<const NoteMarks>(NoteMarks{.trace = trace, .notes = ...}));
//
// NoteMarks must not change after they were passed to the canvas.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

struct NoteMark {
  int64_t time_ns = 0;  // on the trace's clock
  int64_t end_ns = 0;   // end of a range; <= time_ns: the note is about a single time
  std::string text;     // empty: a bookmark
  std::string what;     // name of the thing that the note is about; empty: it is about a time
  bool range() const { return end_ns > time_ns; }
};

struct NoteMarks {
  std::shared_ptr<const trace::Trace> trace;  // the trace to which these notes belong
  std::vector<NoteMark> notes;
};

}  // namespace vramscope::ui::timeline
