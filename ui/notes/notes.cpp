#include "ui/notes/notes.h"

#include <absl/status/status.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "profiler/base/i18n.h"

namespace vramscope::ui {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
// The largest output of NotesToJson must fit. JSON uses up to six bytes for a control character.
static_assert(kMostNotesBytes > kMostNotes * (2 * 6 * kMostNoteText + 256));

std::optional<int64_t> Whole(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() &&
      found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return found->get<int64_t>();
}

std::optional<std::string> Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  if (text.size() > kMostNoteText) return std::nullopt;
  return text;
}

// Returns the largest length up to `most` bytes that does not cut a UTF-8 character of `text`.
size_t CutLength(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return most;
}

uint32_t RowsOf(const trace::Trace& trace, query::ThingKind kind) {
  const query::Thing thing{kind, 0};
  return thing.block()      ? trace.allocations.size()
         : thing.activity() ? trace.activities.size()
                            : trace.slices.size();
}

// Returns whether the trace has the row that the notes file names, and whether it is of the kind
// that the file states.
bool IsThere(const trace::Trace& trace, const query::Thing& thing) {
  if (thing.row >= RowsOf(trace, thing.kind)) return false;
  if (thing.block()) return true;
  if (thing.activity()) return query::ThingKindOf(trace.activities.kind[thing.row]) == thing.kind;
  return query::ThingKindOf(trace.slices.kind[thing.row]) == thing.kind;
}

std::optional<Note> NoteOf(const Json& object, const trace::Trace* trace) {
  if (!object.is_object()) return std::nullopt;
  const std::optional<int64_t> time = Whole(object, "time_ns");
  const std::optional<int64_t> written = Whole(object, "written");
  const std::optional<std::string> what = Text(object, "what"), text = Text(object, "text");
  if (!time || !written || !what || !text) return std::nullopt;
  if (trace != nullptr && (*time < trace->begin_ns() || *time > trace->end_ns()))
    return std::nullopt;
  Note note{.time_ns = *time, .what = *what, .text = *text, .written_unix_s = *written};
  if (object.contains("end_ns")) {
    note.end_ns = Whole(object, "end_ns");
    if (!note.end_ns || *note.end_ns <= *time) return std::nullopt;
    if (trace != nullptr && *note.end_ns > trace->end_ns()) return std::nullopt;
  }
  if (!object.contains("kind") && !object.contains("row")) return note;
  const std::optional<std::string> kind = Text(object, "kind");
  const std::optional<int64_t> row = Whole(object, "row");
  if (!kind || !row || *row < 0 || *row > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  for (int k = 0; k < query::kThingKindCount; ++k) {
    if (query::Name(static_cast<query::ThingKind>(k)) != *kind) continue;
    note.thing = {static_cast<query::ThingKind>(k), static_cast<uint32_t>(*row)};
  }
  if (!note.thing || (trace != nullptr && !IsThere(*trace, *note.thing))) return std::nullopt;
  return note;
}

}  // namespace

std::string NoteText(std::string text) {
  text.resize(CutLength(text, kMostNoteText));
  return text;
}

std::string FirstTexts(const NoteList& notes) {
  constexpr int kMost = 3;
  constexpr size_t kMostBytes = 120;
  std::string texts;
  int count = 0;
  for (const Note& note : notes) {
    if (note.text.empty()) continue;
    const std::string_view line =
        std::string_view(note.text).substr(0, note.text.find_first_of("\r\n"));
    if (!texts.empty()) texts += '\n';
    texts += line.substr(0, CutLength(line, kMostBytes));
    if (++count == kMost) break;
  }
  return texts;
}

size_t InsertNote(NoteList* notes, Note note) {
  const auto at = std::ranges::upper_bound(*notes, note.time_ns, {}, &Note::time_ns);
  return static_cast<size_t>(notes->insert(at, std::move(note)) - notes->begin());
}

std::string NotesToJson(const std::string& content, const NoteList& notes) {
  Json list = Json::array();
  for (const Note& note : notes) {
    Json one{{"time_ns", note.time_ns},
             {"what", note.what},
             {"text", note.text},
             {"written", note.written_unix_s}};
    if (note.end_ns) one["end_ns"] = *note.end_ns;
    if (note.thing) {
      one["kind"] = query::Name(note.thing->kind);
      one["row"] = note.thing->row;
    }
    list.push_back(std::move(one));
  }
  return Json{{"vramscope_notes", kVersion}, {"content", content}, {"notes", std::move(list)}}.dump(
      1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<NoteList> NotesFromJson(std::string_view json, const std::string& content,
                                       const trace::Trace* trace) {
  if (json.size() > kMostNotesBytes)
    return absl::InvalidArgumentError(i18n::Text("the notes file is too large"));
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || Whole(root, "vramscope_notes") != kVersion)
    return absl::InvalidArgumentError(i18n::Text(
        "the file is not a vramscope notes file, or was written by another version of vramscope"));
  if (Text(root, "content") != content)
    return absl::InvalidArgumentError(i18n::Text("these notes belong to another run"));
  const auto list = root.find("notes");
  if (list == root.end() || !list->is_array() || list->size() > kMostNotes)
    return absl::InvalidArgumentError(i18n::Text("the list of notes is missing or too long"));
  NoteList notes;
  for (const Json& one : *list) {
    std::optional<Note> note = NoteOf(one, trace);
    if (!note) return absl::InvalidArgumentError(i18n::Text("one of the notes is malformed"));
    notes.push_back(*std::move(note));
  }
  std::ranges::stable_sort(notes, {}, &Note::time_ns);
  return notes;
}

NoteList MergeNotes(const NoteList& base, const NoteList& theirs, const NoteList& mine) {
  const auto has = [](const NoteList& notes, const Note& note) {
    return std::ranges::find(notes, note) != notes.end();
  };
  NoteList out = mine;
  std::erase_if(out, [&](const Note& note) { return has(base, note) && !has(theirs, note); });
  for (const Note& note : theirs)
    if (!has(base, note) && !has(mine, note)) InsertNote(&out, note);
  return out;
}

}  // namespace vramscope::ui
