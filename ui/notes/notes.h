// Notes and bookmarks of a run, and their side file's form. Without Qt.
//
//   NoteList notes = ...;
//   const std::string json = NotesToJson(content, notes);
//   ASSIGN_OR_RETURN(NoteList again, NotesFromJson(json, content, trace));
//
// Plain values; pure functions.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/query/things.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui {

struct Note {
  int64_t time_ns = 0;                 // by the trace's clock
  std::optional<int64_t> end_ns = {};  // of a range that is kept; none: a moment
  std::optional<query::Thing> thing;   // none: the note is of the moment
  std::string what;                    // the thing's title when the note was made
  std::string text;                    // empty: a bookmark
  int64_t written_unix_s = 0;
  friend bool operator==(const Note&, const Note&) = default;
};
using NoteList = std::vector<Note>;  // by time

inline constexpr size_t kMostNotes = 1000;
inline constexpr size_t kMostNoteText = 2048;  // bytes, of each of its texts
inline constexpr size_t kMostNotesBytes = size_t{32} << 20;

// Cut to kMostNoteText bytes of whole UTF-8 characters.
std::string NoteText(std::string text);
// After those of the same time; gives its place.
size_t InsertNote(NoteList* notes, Note note);

std::string NotesToJson(const std::string& content, const NoteList& notes);
// kInvalidArgument: too large, malformed, of another content, or of times and rows that the trace
// does not have. All of it or nothing.
absl::StatusOr<NoteList> NotesFromJson(std::string_view json, const std::string& content,
                                       const trace::Trace& trace);

}  // namespace vramscope::ui
