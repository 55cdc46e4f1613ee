// Saves documents as JSON in the user's state folder, to restore them at the next start. The JSON
// has the source, settings, view, history and baseline, but not the result, which is computed or
// read again.
//
//   std::string text = ToJson(SavedSession{.documents = {Save(document)}});
//   ASSIGN_OR_RETURN(SavedSession session, SavedSessionFromJson(text));
//   Restore(session.documents[0], &documents.Open(session.documents[0].source));
//
// The JSON is not trusted: sizes, counts and numbers have limits, and files named in it are not
// opened. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ui/documents/document.h"

namespace vramscope::ui {

struct SavedDocument {
  Source source;
  run::RunConfig config;
  DocumentView view;
  std::vector<HistoryEntry> history;
  size_t current = History::kNone;  // index in history
  // The baseline: a file (baseline_file), or an entry of the document's history (baseline_entry).
  std::string baseline_file;
  size_t baseline_entry = History::kNone;
  std::string scratch;  // folder of a program that is running
  // The file of a result that was saved but never shown. Such a result has no history entry.
  std::string latest_file;
};

struct SavedSession {
  std::vector<SavedDocument> documents;
  size_t active = 0;    // index in documents
  bool closed = false;  // the user closed the window; false after a crash or kill
};

// Limits for reading a session.
inline constexpr size_t kMostSavedBytes = size_t{16} << 20;
inline constexpr size_t kMostSavedDocuments = 64;
// Limit per document; only the newest entries are saved.
inline constexpr size_t kMostSavedEntries = 50;

SavedDocument Save(const Document& document);
// Restores `saved` into a document that was opened from `saved.source`. The document's result is
// loaded when the document is shown.
void Restore(const SavedDocument& saved, Document* into);

std::string ToJson(const SavedSession& session);
// Returns kInvalidArgument if `json` is not a session of this version. Skips invalid documents.
absl::StatusOr<SavedSession> SavedSessionFromJson(std::string_view json);

}  // namespace vramscope::ui
