// Notes and bookmarks of a run, and the format of their side file. Does not use Qt.
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
  int64_t time_ns = 0;                 // on the trace's clock; the begin of a saved range
  std::optional<int64_t> end_ns = {};  // end of a saved range; nullopt: the note has no range
  std::optional<query::Thing> thing;   // nullopt: the note is about the time or the range
  std::string what;                    // title of the thing when the note was made
  std::string text;                    // the user's text; empty: a bookmark
  int64_t written_unix_s = 0;
  friend bool operator==(const Note&, const Note&) = default;
};
using NoteList = std::vector<Note>;  // sorted by time

inline constexpr size_t kMostNotes = 1000;
inline constexpr size_t kMostNoteText = 2048;  // limit for each text of a note, in bytes
inline constexpr size_t kMostNotesBytes = size_t{32} << 20;

// Cuts the text to kMostNoteText bytes, at the boundary of a UTF-8 character.
std::string NoteText(std::string text);
// Of the first three notes that have a text, returns the first lines. Each is cut to 120 bytes.
// They are joined by newlines.
std::string FirstTexts(const NoteList& notes);
// Inserts the note after other notes of the same time. Returns its index.
size_t InsertNote(NoteList* notes, Note note);

std::string NotesToJson(const std::string& content, const NoteList& notes);
// Returns all notes of a side file. Returns kInvalidArgument if the file is too large or malformed,
// belongs to another run, or refers to times or rows that the trace does not have. If `trace` is
// null, times and rows are not checked.
absl::StatusOr<NoteList> NotesFromJson(std::string_view json, const std::string& content,
                                       const trace::Trace* trace);
// Applies the changes that lead from `base` to `theirs` to `mine`: adds the notes that are new in
// `theirs`, and removes those that are missing there. An edited note counts as a new one.
NoteList MergeNotes(const NoteList& base, const NoteList& theirs, const NoteList& mine);

}  // namespace vramscope::ui
