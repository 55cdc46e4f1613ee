#include "ui/documents/document.h"

#include <algorithm>
#include <utility>

#include "ui/panels/techniques.h"

namespace vramscope::ui {
namespace {

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

size_t History::Append(HistoryEntry entry) {
  entries_.push_back(std::move(entry));
  if (entries_.size() > kMost) entries_.erase(entries_.begin());
  return current_ = entries_.size() - 1;
}

void History::Update(const HistoryEntry& entry) {
  HistoryEntry& now = entries_[current_];
  now.peak_allocated = entry.peak_allocated;
  now.peak_reserved = entry.peak_reserved;
  now.step_ms = entry.step_ms;
  now.config = entry.config;
}

void History::GoTo(size_t at) {
  if (at < entries_.size()) current_ = at;
}

size_t History::Find(const run::RunConfig& config) const {
  const std::string key = PlanKey(config);
  for (size_t i = entries_.size(); i-- > 0;)
    if (PlanKey(entries_[i].config) == key) return i;
  return kNone;
}

size_t History::Find(const program::Request& request) const {
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].program == request) return i;
    if (i > 0 && entries_[i].program == entries_[i - 1].program) break;
  }
  return kNone;
}

void History::SetNotes(size_t at, const NoteList& notes) {
  HistoryEntry& entry = entries_[at];
  entry.notes = static_cast<uint32_t>(notes.size());
  entry.note_texts = FirstTexts(notes);
}

size_t History::FindFigures(const HistoryEntry& of) const {
  const auto same = [&](const HistoryEntry& entry) {
    return entry.peak_allocated == of.peak_allocated && entry.peak_reserved == of.peak_reserved &&
           entry.step_ms == of.step_ms;
  };
  if (now() != nullptr && same(*now())) return current_;
  for (size_t i = entries_.size(); i-- > 0;)
    if (same(entries_[i])) return i;
  return kNone;
}

void UndoSteps::DiscardRedo() {
  steps_.resize(done_);
  redo_into = 0;
}

void UndoSteps::Push(UndoStep step) {
  DiscardRedo();
  steps_.push_back(std::move(step));
  if (steps_.size() > kMost) steps_.erase(steps_.begin());
  done_ = steps_.size();
}

bool UndoSteps::AnyOfDocument() const {
  return std::any_of(steps_.begin(), steps_.begin() + static_cast<ptrdiff_t>(done_),
                     [](const UndoStep& step) { return !step.of_program(); });
}

void UndoSteps::TakeProgram(UndoSteps& from, const std::string& script) {
  for (size_t i = 0; i < from.done_;) {
    UndoStep& step = from.steps_[i];
    if (!step.of_program() || step.program_after.script != script) {
      ++i;
      continue;
    }
    Push(std::move(step));
    from.steps_.erase(from.steps_.begin() + static_cast<ptrdiff_t>(i));
    --from.done_;
  }
}

DocumentState Document::state() const {
  if (working_) return DocumentState::kWorking;
  if (session.shown() != nullptr || latest != nullptr) return DocumentState::kShown;
  if (released_) return DocumentState::kUnloaded;
  return failed_ ? DocumentState::kFailed : DocumentState::kEmpty;
}

std::string Document::Title() const {
  switch (source.kind) {
    case SourceKind::kFile:
      return NameOf(source.file);
    case SourceKind::kProgram:
      return NameOf(source.program.script) +
             (source.variant.empty() ? std::string() : " · " + source.variant);
    case SourceKind::kPlan:
    case SourceKind::kGpuRun:
      break;
  }
  return session.file().empty() ? config.model : NameOf(session.file());
}

bool Document::Blank() const {
  return source.kind == SourceKind::kPlan && session.shown() == nullptr && latest == nullptr &&
         !released_ && history.entries().empty() && !undo.AnyOfDocument() &&
         session.baseline() == nullptr;
}

void Document::Expect(std::optional<std::string> change) {
  expects_entry_ = change.has_value();
  expected_change_ = std::move(change).value_or(std::string());
}

void Document::Began() {
  working_ = true;
  left_ = false;
}

void Document::Left() {
  working_ = false;
  left_ = true;
}

void Document::Arrived(Session::DigestPtr digest, bool partial, int64_t now_unix_s) {
  const Digest& now = *digest;
  session.Show(std::move(digest), partial);
  if (partial) return;
  latest.reset();
  working_ = failed_ = released_ = left_ = false;
  HistoryEntry entry{.change = expected_change_,
                     .config = now.trace->info.has_config ? now.trace->info.config : config,
                     .peak_allocated = now.summary.peak.allocated,
                     .peak_reserved = now.summary.peak.reserved,
                     .step_ms = now.last_step_ms,
                     .when_unix_s = now_unix_s};
  const bool plan = source.kind == SourceKind::kPlan;
  if (plan) entry.config = config;
  if (source.kind == SourceKind::kProgram) entry.program = source.program;
  entry.file = std::move(latest_file_);
  latest_file_.clear();
  const auto append = [&] {
    newest_ = {.trace = now.trace, .whole = now.whole, .entry = history.Append(std::move(entry))};
  };
  if (expects_entry_ || history.now() == nullptr) {
    append();
  } else {
    // The result belongs to an existing entry: the current entry, or an entry to which the user has
    // returned (by undo, by a click in the history, or by a swap with the baseline).
    const bool same = !plan || PlanKey(history.now()->config) == PlanKey(config);
    const size_t there = plan ? history.Find(config) : history.FindFigures(entry);
    if (plan && !same && there == History::kNone) {
      append();
    } else {
      if (there != History::kNone && (!same || !plan)) history.GoTo(there);
      history.Update(entry);
    }
  }
  expects_entry_ = false;
  expected_change_.clear();
}

void Document::Ended() {
  working_ = left_ = false;
  failed_ = session.shown() == nullptr && latest == nullptr;
}

// Prefers the file of the newest result, even if that result has not been shown yet.
std::string Document::FileOfResult() const {
  if (!latest_file_.empty()) return latest_file_;
  if (const HistoryEntry* now = history.now(); now != nullptr && !now->file.empty())
    return now->file;
  return source.kind == SourceKind::kFile ? source.file : std::string();
}

void Document::SavedTo(const std::shared_ptr<const trace::Trace>& trace, const std::string& file) {
  if (trace != nullptr && (newest_.trace.lock() == trace || newest_.whole.lock() == trace)) {
    history.SetFile(newest_.entry, file);
    scratch.clear();
  } else if (const Session::DigestPtr& shown = session.shown();
             shown != nullptr && !session.partial() &&
             (shown->trace == trace || shown->whole == trace)) {
    if (history.now() != nullptr) history.SetFile(history.current(), file);
    scratch.clear();
  } else if (latest == trace) {
    latest_file_ = file;
    scratch.clear();
  }
}

void Document::FileMoved(const std::string& from, const std::string& to) {
  for (size_t i = 0; i < history.entries().size(); ++i)
    if (history.entries()[i].file == from) history.SetFile(i, to);
  if (latest_file_ == from) latest_file_ = to;
}

bool Document::CanReload() const {
  return !working_ && !session.partial() && latest == nullptr &&
         (source.kind == SourceKind::kPlan || !FileOfResult().empty());
}

void Document::Release() {
  session.Release();
  released_ = true;
}

bool Document::NeedsReload() const {
  if (left_) return source.kind == SourceKind::kPlan || !FileOfResult().empty();
  if (source.kind == SourceKind::kPlan) {
    // The result is missing if it was released, or if an undo in another document changed this
    // document's configuration.
    const HistoryEntry* now = history.now();
    return !working_ && now != nullptr &&
           (session.shown() == nullptr || PlanKey(now->config) != PlanKey(config));
  }
  return session.shown() == nullptr && latest == nullptr && !working_ && !FileOfResult().empty();
}

}  // namespace vramscope::ui
