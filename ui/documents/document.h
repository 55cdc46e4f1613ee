// A document: what one tab of the window shows. Its source is a plan (changed by toggles), a run
// on this computer's GPU, a file or a program. Each has its own settings, result, view, baseline,
// history of results and undo steps. Does not use Qt: the window draws it, runs it and reloads
// it.
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
  std::string stamp = {};            // kFile: differs after the file was written again
  program::Request program = {};     // kProgram: the request of its last start
  // kProgram: how the program differs from the plan from which the document was opened, such as
  // "--batch-size=8"; empty: it was not opened from a plan.
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

// A result in the history: its change from the previous result, and its figures.
struct HistoryEntry {
  std::string change;
  run::RunConfig config = {};  // kPlan: the configuration, to plan it again
  // For a program: how it was run; its script is empty if that is not known.
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
  static constexpr size_t kMost = 200;  // the oldest entries are dropped
  static constexpr size_t kNone = SIZE_MAX;

  const std::vector<HistoryEntry>& entries() const { return entries_; }
  size_t current() const { return current_; }  // kNone: no result yet
  const HistoryEntry* now() const { return current_ == kNone ? nullptr : &entries_[current_]; }
  // Makes `entry` the current one and returns its index.
  size_t Append(HistoryEntry entry);
  // Replaces the figures of the current entry, whose result was computed again, but not its text.
  void Update(const HistoryEntry& entry);
  void GoTo(size_t at);
  // Index of the newest entry with this configuration; kNone: none.
  size_t Find(const run::RunConfig& config) const;
  // Index of the newest result of this run of a program. kNone: none, or a later entry repeats the
  // run unchanged, because files of the program had changed.
  size_t Find(const program::Request& request) const;
  void SetNotes(size_t at, const NoteList& notes);
  void SetFile(size_t at, std::string file) { entries_[at].file = std::move(file); }
  // Index of an entry with the same figures: the current entry or else the newest; kNone: none.
  size_t FindFigures(const HistoryEntry& of) const;

 private:
  std::vector<HistoryEntry> entries_;
  size_t current_ = kNone;
};

// A change that can be undone: of the settings, of the tracks on the canvas, of the notes, or of
// how a program is run.
struct UndoStep {
  // kToggles: undo changes only the program's toggles, not the fields that the user edited since.
  enum class Kind : uint8_t { kSettings, kLanes, kNotes, kToggles, kProgram };
  Kind kind = Kind::kSettings;
  std::string text;  // "LoRA on"
  run::RunConfig before = {}, after = {};
  std::string lanes_before = {}, lanes_after = {};
  // The document in which the user made the change, if it was applied to a plan opened for it. 0:
  // the user made the change in this document.
  DocumentId from = 0;
  // kNotes: the content hash of the run whose notes changed. Another run may be shown by then.
  std::string notes_of = {};
  std::shared_ptr<const NoteList> notes_before = {}, notes_after = {};
  program::Request program_before = {}, program_after = {};  // kToggles, kProgram
  bool of_program() const { return kind == Kind::kToggles || kind == Kind::kProgram; }
};

class UndoSteps {
 public:
  static constexpr size_t kMost = 500;

  void Push(UndoStep step);  // discards what could be redone
  void DiscardRedo();
  const UndoStep* next_undo() const { return done_ == 0 ? nullptr : &steps_[done_ - 1]; }
  const UndoStep* next_redo() const { return done_ == steps_.size() ? nullptr : &steps_[done_]; }
  // Undo() requires a next_undo(), Redo() a next_redo().
  const UndoStep& Undo() { return steps_[--done_]; }
  const UndoStep& Redo() { return steps_[done_++]; }
  // Whether any step that can be undone changes the document rather than the form of a program.
  bool AnyOfDocument() const;
  // Moves the undoable steps of the program `script` here from the document that was shown when the
  // user made these changes.
  void TakeProgram(UndoSteps& from, const std::string& script);

  // Undo led from that document to this one; redo leads back after the steps of this document.
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
  // True if nothing was ever shown, changed or started in the document. A document that is opened
  // from a blank document replaces it.
  bool Blank() const;

  // Announces a result. `change`: the difference from the previous result; nullopt: the result
  // belongs to an existing entry (after undo, a click on the entry, or the same run again).
  void Expect(std::optional<std::string> change);
  void Began();  // the run, plan or read has started
  // Shows `digest`: a partial result, or the complete result, which becomes a history entry.
  void Arrived(Session::DigestPtr digest, bool partial, int64_t now_unix_s);
  // The run failed or did not finish. The shown result stays.
  void Ended();
  // Another document is shown, so that the requested result was abandoned. It is computed as soon
  // as this document is shown again.
  void Left();

  // True if the result can be computed or read again: it is a plan, or it was saved in a file.
  bool CanReload() const;
  // Frees the result. Requires CanReload().
  void Release();
  void WasReleased() {  // like Release(), for a result of an earlier session
    released_ = true;
    expects_entry_ = false;
  }
  // True if the result must be computed or read: there is none, or the present one does not match
  // the settings.
  bool NeedsReload() const;
  // The file that contains the result; empty: none.
  std::string FileOfResult() const;
  // The file of a result that was not shown yet and will be the next entry; empty: none.
  const std::string& latest_file() const { return latest_file_; }
  void SetLatestFile(std::string file) { latest_file_ = std::move(file); }
  // Records that `trace` was saved to `file`. Does nothing if the trace is of another document.
  void SavedTo(const std::shared_ptr<const trace::Trace>& trace, const std::string& file);
  // The file was moved: replaces `from` by `to` in all entries.
  void FileMoved(const std::string& from, const std::string& to);

  Source source;
  run::RunConfig config;  // the configuration that the controls on the left show
  Session session;
  DocumentView view;
  History history;
  UndoSteps undo;
  DocumentId opener = 0;  // the document that was shown when this one was opened
  bool unseen = false;    // the result arrived while another document was shown

  // The newest trace, not digested yet, of a run that is in progress or that ended while another
  // document was shown.
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
  // The result of the newest entry. It may get saved while another entry is shown.
  struct {
    std::weak_ptr<const trace::Trace> trace, whole;
    size_t entry = History::kNone;
  } newest_;
};

}  // namespace vramscope::ui
