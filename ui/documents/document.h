// A document of the window: what one tab shows. It is of a source (a plan that is changed by
// toggles, a run on this computer's GPU, a file, a program), and has settings, a result, a view, a
// baseline, a history of results and steps of undo of its own. Free of Qt: the window draws what it
// says and does what it asks for.
//
//   Document& plan = documents.Open({.kind = SourceKind::kPlan});
//   plan.Expect("LoRA on");                       // a toggle: the result becomes an entry
//   plan.Arrived(digest, /*partial=*/false, now);
//   plan.history.entries().back().peak_allocated;
//
// One thread.
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

using DocumentId = uint32_t;  // never used twice; 0: none

enum class SourceKind : uint8_t { kPlan, kGpuRun, kFile, kProgram };

struct Source {
  SourceKind kind = SourceKind::kPlan;
  std::string file = {};             // kFile: absolute
  importers::OpenOptions part = {};  // kFile: of it; without callbacks
  std::string stamp = {};            // kFile: another one when the file was written since
  program::Request program = {};     // kProgram: as it was started last
};

// Where one looks. Times are of the trace, in ns.
struct DocumentView {
  int64_t begin_ns = 0, end_ns = 0;  // begin >= end: all
  int64_t cursor_ns = -1;            // < 0: none
  int64_t range_begin_ns = 0, range_end_ns = 0;
  trace::AllocationId selection = {};
  friend bool operator==(const DocumentView&, const DocumentView&) = default;
};

// One result: what changed against the one before, and its figures.
struct HistoryEntry {
  std::string change;
  run::RunConfig config = {};  // of a plan: planned again with it
  std::string file = {};       // where the result is saved; empty: nowhere (yet)
  uint64_t peak_allocated = 0, peak_reserved = 0;
  double step_ms = 0;  // 0: not known
  uint32_t notes = 0;  // that were written on the result, when they were last known
  int64_t when_unix_s = 0;
};

class History {
 public:
  static constexpr size_t kMost = 200;  // entries; the oldest go
  static constexpr size_t kNone = SIZE_MAX;

  const std::vector<HistoryEntry>& entries() const { return entries_; }
  size_t current() const { return current_; }  // kNone: nothing has come yet
  const HistoryEntry* now() const { return current_ == kNone ? nullptr : &entries_[current_]; }
  // Becomes the current one; gives its place.
  size_t Append(HistoryEntry entry);
  // The current one once more: its figures are these, its words stay.
  void Update(const HistoryEntry& entry);
  void GoTo(size_t at);
  // The newest of this configuration; kNone: there is none.
  size_t Find(const run::RunConfig& config) const;
  void SetNotes(size_t at, size_t notes) { entries_[at].notes = static_cast<uint32_t>(notes); }
  void SetFile(size_t at, std::string file) { entries_[at].file = std::move(file); }
  // The newest with these figures; kNone: there is none.
  size_t FindFigures(const HistoryEntry& of) const;

 private:
  std::vector<HistoryEntry> entries_;
  size_t current_ = kNone;
};

// A change that can be taken back: of the settings, of the lanes of the canvas, or of the notes.
struct UndoStep {
  enum class Kind : uint8_t { kSettings, kLanes, kNotes };
  Kind kind = Kind::kSettings;
  std::string text;  // "LoRA on"
  run::RunConfig before = {}, after = {};
  std::string lanes_before = {}, lanes_after = {};
  // The change was made while this document was shown, whose place it did not take; 0: this one.
  DocumentId from = 0;
  // Of the run with this content, which need not be shown any more.
  std::string notes_of = {};
  std::shared_ptr<const NoteList> notes_before = {}, notes_after = {};
};

class UndoSteps {
 public:
  static constexpr size_t kMost = 500;

  void Push(UndoStep step);  // what was taken back can't be done again from here on
  const UndoStep* next_undo() const { return done_ == 0 ? nullptr : &steps_[done_ - 1]; }
  const UndoStep* next_redo() const { return done_ == steps_.size() ? nullptr : &steps_[done_]; }
  // Of one that there is.
  const UndoStep& Undo() { return steps_[--done_]; }
  const UndoStep& Redo() { return steps_[done_++]; }

 private:
  std::vector<UndoStep> steps_;
  size_t done_ = 0;  // of which can be taken back
};

// What a tab says beside its title.
enum class DocumentState : uint8_t {
  kEmpty,     // nothing was asked for yet
  kWorking,   // it runs, is planned or read
  kShown,     // what came of it is here
  kUnloaded,  // it was here, and is made or read again when it is looked at
  kFailed,    // nothing came of it
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
  // Nothing was ever shown, changed or asked for in it: it gives way to the first that is opened.
  bool Blank() const;

  // A result is asked for. `change`: against the one before; nullopt: none, an entry that is there
  // (undo, a click on it) or the same run once more.
  void Expect(std::optional<std::string> change);
  void Began();  // it runs, is planned or read from here on
  // A picture of what has come so far, or the result, which is an entry of the history.
  void Arrived(Session::DigestPtr digest, bool partial, int64_t now_unix_s);
  // It came to nothing, or not to its end; what was shown stays.
  void Ended();
  // Another document is shown, and what was asked for not made: it is when this one is shown again.
  void Left();

  // The result can be made or read again: it is in a file, or a plan.
  bool CanReload() const;
  // Lets go of the result. Of one that CanReload().
  void Release();
  void WasReleased() {  // by a window before this one
    released_ = true;
    expects_entry_ = false;
  }
  // What is shown is not what the settings say, or nothing is: it has to be made or read.
  bool NeedsReload() const;
  // The file that the result is in; empty: none.
  std::string FileOfResult() const;
  // The file of a result that nobody has looked at yet, which becomes the next entry's; empty:
  // none.
  const std::string& latest_file() const { return latest_file_; }
  void SetLatestFile(std::string file) { latest_file_ = std::move(file); }
  // A trace was saved there. Of another document's: nothing.
  void SavedTo(const std::shared_ptr<const trace::Trace>& trace, const std::string& file);
  // Files with this result have gone, or are elsewhere.
  void FileMoved(const std::string& from, const std::string& to);

  Source source;
  run::RunConfig config;  // the controls on the left
  Session session;
  DocumentView view;
  History history;
  UndoSteps undo;
  DocumentId opener = 0;     // that was shown when this was asked for
  DocumentId redo_into = 0;  // undo led here from there
  bool unseen = false;       // its result came while another document was shown

  // Of a run that goes on, or ended behind another document: its newest, not digested yet.
  std::shared_ptr<const trace::Trace> latest;
  std::optional<uint8_t> device;  // of several, the one that was chosen
  bool run_shown = false;         // anything of the run that goes on
  bool compare_at_end = false;    // it is made to be compared
  bool stopping = false;          // closed as soon as what runs in it has ended
  std::string scratch;            // folder of a program that runs, or whose result is being saved
  std::optional<std::string> baseline_to_read;  // a file, when this is looked at

 private:
  const DocumentId id_;
  bool working_ = false, failed_ = false, released_ = false, left_ = false;
  bool expects_entry_ = true;
  std::string expected_change_, latest_file_;
};

}  // namespace vramscope::ui
