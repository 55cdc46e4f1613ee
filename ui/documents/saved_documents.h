// Documents as they are written to the state of the user's, and read at the next start: source,
// settings, view, history, baseline; never a result, which is made or read again. JSON.
//
//   std::string text = ToJson(SavedSession{.documents = {Save(document)}});
//   ASSIGN_OR_RETURN(SavedSession session, SavedSessionFromJson(text));
//   Restore(session.documents[0], &documents.Open(session.documents[0].source));
//
// What is read is not trusted: sizes, counts and numbers are bounded, files are named and not
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
  size_t current = History::kNone;  // of these
  // What it is compared with: a file, or an entry of its own history.
  std::string baseline_file;
  size_t baseline_entry = History::kNone;
  std::string scratch;  // folder of a program that runs
  // Of a result that was saved before anybody looked at it: no entry of the history has it yet.
  std::string latest_file;
};

struct SavedSession {
  std::vector<SavedDocument> documents;
  size_t active = 0;    // of these
  bool closed = false;  // by the user: nothing was lost
};

// As much of a session is read.
inline constexpr size_t kMostSavedBytes = size_t{16} << 20;
inline constexpr size_t kMostSavedDocuments = 64;
// Of each document, the newest.
inline constexpr size_t kMostSavedEntries = 50;

SavedDocument Save(const Document& document);
// Into one that was opened from `saved.source`: it is loaded when it is looked at.
void Restore(const SavedDocument& saved, Document* into);

std::string ToJson(const SavedSession& session);
// kInvalidArgument: no session, or one of a version that this does not know. A document that makes
// no sense is left out.
absl::StatusOr<SavedSession> SavedSessionFromJson(std::string_view json);

}  // namespace vramscope::ui
