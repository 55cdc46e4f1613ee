// A document: what one tab of the window shows. Its source is a plan (changed by toggles), a run on
// this computer's GPU, a file or a program. A document has its own settings, result, view,
// baseline, history of results and undo steps. This code does not use Qt. The window draws, runs
// and reloads documents.
//
//   Document& plan = documents.Open({.kind = SourceKind::kPlan});
//   plan.Expect("LoRA on");                       // a toggle; its result becomes an entry
//   plan.Arrived(digest, /*partial=*/false, now);
//   plan.history.entries().back().peak_allocated;
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/importers/open.h"
#include "profiler/program/request.h"
#include "profiler/run/run_config.h"
#include "profiler/trace/trace.h"
#include "ui/documents/session.h"
#include "ui/notes/notes.h"

namespace vramscope::ui {

using DocumentId = uint32_t;  // never reused; 0: none

enum class SourceKind : uint8_t { kPlan, kGpuRun, kFile, kProgram };

struct Source {
  SourceKind kind = SourceKind::kPlan;
  std::string file = {};             // kFile: its absolute path
  importers::OpenOptions part = {};  // kFile: the part to open; its callbacks are not set
  std::string stamp = {};            // kFile: changes when the file is written again
  program::Request program = {};     // kProgram: the request with which it was last started
  // kProgram: how the run differs from the program's plan, such as "--batch-size=8", if this
  // document was opened from such a plan. Otherwise empty.
  std::string variant = {};
};

// The visible time range, cursor and selection. Times are trace times in ns.
struct DocumentView {
  int64_t begin_ns = 0, end_ns = 0;  // begin >= end: the whole trace
  int64_t cursor_ns = -1;            // < 0: none
  int64_t range_begin_ns = 0, range_end_ns = 0;
  trace::AllocationId selection = {};
  friend bool operator==(const DocumentView&, const DocumentView&) = default;
};

// A result in the history: its change since the previous result, and its figures.
struct HistoryEntry {
  std::string change;
  run::RunConfig config = {};  // kPlan: the configuration, with which it can be planned again
  // kProgram: how the program was run. An empty script means that this is not known.
  program::Request program = {};
  std::string file = {};  // where the result is saved; empty: not saved (yet)
  uint64_t peak_allocated = 0, peak_reserved = 0;
  double step_ms = 0;  // 0: unknown
  uint32_t notes = 0;  // last known number of notes on the result
  int64_t when_unix_s = 0;
  std::string note_texts = {};  // the texts of the first notes, a line each
};

class History {
 public:
  static constexpr size_t kMost = 200;  // if there are more, the oldest entries are dropped
  static constexpr size_t kNone = SIZE_MAX;

  const std::vector<HistoryEntry>& entries() const { return entries_; }
  size_t current() const { return current_; }  // kNone: no result yet
  const HistoryEntry* now() const { return current_ == kNone ? nullptr : &entries_[current_]; }
  // Adds `entry`, makes it the current entry, and returns its index.
  size_t Append(HistoryEntry entry);
  // Replaces the figures of the current entry, but not its text, after its result was recomputed.
  void Update(const HistoryEntry& entry);
  void GoTo(size_t at);
  // Returns the index of the newest entry with this configuration. kNone: there is none.
  size_t Find(const run::RunConfig& config) const;
  // Returns the index of the newest result of `request`, or kNone. Two equal requests in a row show
  // that the program's files have changed. Results from before such a change are ignored.
  size_t Find(const program::Request& request) const;
  void SetNotes(size_t at, const NoteList& notes);
  void SetFile(size_t at, std::string file) { entries_[at].file = std::move(file); }
  // Returns the index of an entry with the figures of `of`: the current entry, or else the newest.
  // kNone: there is none.
  size_t FindFigures(const HistoryEntry& of) const;

 private:
  std::vector<HistoryEntry> entries_;
  size_t current_ = kNone;
};

// A change that can be undone: of the settings, of the tracks on the canvas, of the notes, or of
// how a program is run.
struct UndoStep {
  // kToggles: an undo changes only the program's toggles, not the fields that were edited in the
  // meantime.
  enum class Kind : uint8_t { kSettings, kLanes, kNotes, kToggles, kProgram };
  Kind kind = Kind::kSettings;
  std::string text;  // "LoRA on"
  run::RunConfig before = {}, after = {};
  std::string lanes_before = {}, lanes_after = {};
  // The document in which the user made the change, if a new plan was opened to apply it. 0: the
  // user made the change in this document.
  DocumentId from = 0;
  // kNotes: the content hash of the run whose notes changed. By now, another run may be shown.
  std::string notes_of = {};
  std::shared_ptr<const NoteList> notes_before = {}, notes_after = {};
  program::Request program_before = {}, program_after = {};  // kToggles, kProgram
  bool of_program() const { return kind == Kind::kToggles || kind == Kind::kProgram; }
};

class UndoSteps {
 public:
  static constexpr size_t kMost = 500;

  void Push(UndoStep step);  // discards the steps that could be redone
  void DiscardRedo();
  const UndoStep* next_undo() const { return done_ == 0 ? nullptr : &steps_[done_ - 1]; }
  const UndoStep* next_redo() const { return done_ == steps_.size() ? nullptr : &steps_[done_]; }
  // Undo() requires that next_undo() is not null, and Redo() that next_redo() is not null.
  const UndoStep& Undo() { return steps_[--done_]; }
  const UndoStep& Redo() { return steps_[done_++]; }
  // Whether any undoable step changes the document itself, not just the form of its program.
  bool AnyOfDocument() const;
  // Moves the undoable steps for the program `script` from `from`, another document's steps, to
  // this object. That document was shown when the user made these changes.
  void TakeProgram(UndoSteps& from, const std::string& script);

  // If an undo in another document ended by showing this document, the other document. After this
  // document's steps, redo continues there. 0: there is no such document.
  DocumentId redo_into = 0;

 private:
  std::vector<UndoStep> steps_;
  size_t done_ = 0;  // the first done_ steps can be undone
};

// The state that a tab shows next to its title.
enum class DocumentState : uint8_t {
  kEmpty,     // nothing has been started
  kWorking,   // running, planning or reading
  kShown,     // has a result
  kUnloaded,  // the result was released; it is computed or read again when shown
  kFailed,    // ended without a result
};

class Document {
 public:
  Document(DocumentId id, Source its_source) : source(std::move(its_source)), id_(id) {}
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  DocumentId id() const { return id_; }
  DocumentState state() const;
  // "gpt2", "run.trace", "train.py"
  std::string Title() const;
  // Returns true if nothing was ever shown, changed or started in the document. Opening another
  // document from a blank one replaces the blank one.
  bool Blank() const;

  // Announces a result. `change` describes how it differs from the previous result. `change` is
  // nullopt if the result is for an existing entry (after undo, a click on the entry, or a repeated
  // run).
  void Expect(std::optional<std::string> change);
  void Began();  // the run, plan or read has started
  // Shows `digest`: a partial result, or the complete result, which becomes a history entry.
  void Arrived(Session::DigestPtr digest, bool partial, int64_t now_unix_s);
  // Call it if the run failed or did not finish. The document still shows its earlier result.
  void Ended();
  // Call it if the work on this document's result stopped because the user switched to another
  // document. The result is computed when the user returns to this document.
  void Left();

  // Returns true if the result can be computed again (a plan) or read again (saved in a file).
  bool CanReload() const;
  // Frees the result. Requires CanReload().
  void Release();
  void WasReleased() {  // call it instead of Release() for a result of an earlier session
    released_ = true;
    expects_entry_ = false;
  }
  // Returns true if the result must be computed or read: there is no result, or it is not the
  // result of the current settings.
  bool NeedsReload() const;
  // Returns the file that contains the result, or "" if it is in no file.
  std::string FileOfResult() const;
  // Returns the file of a result that is not shown yet and will become the next entry, or "" if
  // there is no such result.
  const std::string& latest_file() const { return latest_file_; }
  void SetLatestFile(std::string file) { latest_file_ = std::move(file); }
  // Records that `trace` was saved to `file`. Does nothing if the trace is not this document's.
  void SavedTo(const std::shared_ptr<const trace::Trace>& trace, const std::string& file);
  // Call it if a file was moved from `from` to `to`. Updates all entries that name the file.
  void FileMoved(const std::string& from, const std::string& to);

  Source source;
  run::RunConfig config;  // the configuration that the controls on the left show
  Session session;
  DocumentView view;
  History history;
  UndoSteps undo;
  DocumentId opener = 0;  // the document that was shown when this one was opened
  bool unseen = false;    // the result arrived while another document was shown

  // The newest trace of a run that is in progress, or that ended while another document was shown.
  // No Digest was made of it yet.
  std::shared_ptr<const trace::Trace> latest;
  std::optional<uint8_t> device;  // the device chosen by the user, if there are several
  bool run_shown = false;         // a partial result of the current run has been shown
  bool compare_at_end = false;    // compare the result with the baseline when the run ends
  bool stopping = false;          // close this document as soon as the run has ended
  std::string scratch;  // folder of a program that is running or whose result is being saved
  std::optional<std::string> baseline_to_read;  // baseline file to read when this document is shown

 private:
  const DocumentId id_;
  bool working_ = false, failed_ = false, released_ = false, left_ = false;
  bool expects_entry_ = true;
  std::string expected_change_, latest_file_;
  // The newest entry's result. The window may save it to a file while another entry is shown.
  struct {
    std::weak_ptr<const trace::Trace> trace, whole;
    size_t entry = History::kNone;
  } newest_;
};

}  // namespace vramscope::ui
