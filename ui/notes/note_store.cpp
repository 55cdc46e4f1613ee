#include "ui/notes/note_store.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLockFile>
#include <array>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/output_file.h"

namespace vramscope::ui {
namespace {

// How long a write waits for another window's write.
constexpr int kMostLockMs = 10'000;

// `trace`: null if it is no longer in memory. References of the notes are not checked then.
absl::StatusOr<NoteList> ReadNotes(const QString& path, const std::string& content,
                                   const trace::Trace* trace) {
  if (!QFile::exists(path)) return NoteList();
  // Reading a pipe or a device could block.
  if (!QFileInfo(path).isFile())
    return absl::InvalidArgumentError(i18n::Text("the path is not a regular file"));
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    return absl::UnavailableError(file.errorString().toStdString());
  const QByteArray json = file.read(static_cast<qint64>(kMostNotesBytes) + 1);
  return NotesFromJson({json.constData(), static_cast<size_t>(json.size())}, content, trace);
}

// Writes the file, or removes it if there are no notes.
absl::Status WriteNotes(const QString& path, const std::string& content, const NoteList& notes) {
  if (notes.empty()) {
    if (QFile::remove(path) || !QFile::exists(path)) return absl::OkStatus();
    return absl::UnavailableError(i18n::Format("'{}' could not be removed", path.toStdString()));
  }
  auto file = trace::OutputFile::Create(path.toStdString());
  if (!file.ok()) return file.status();
  if (absl::Status status = (*file)->Write(NotesToJson(content, notes)); !status.ok())
    return status;
  return (*file)->Commit();
}

absl::Status MakeFolder(const QString& folder) {
  if (QDir(folder).exists()) return absl::OkStatus();
  if (!QDir().mkpath(folder))
    return absl::UnavailableError(
        i18n::Format("the folder '{}' could not be created", folder.toStdString()));
  QFile::setPermissions(folder,
                        QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
  return absl::OkStatus();
}

// Applies the changes from `base` to `notes` to the file, and then sets `base` to `notes`. Returns
// the new content of the file, which other windows may have changed since `base`.
absl::StatusOr<NoteList> MergeIntoFile(const QString& path, const std::string& content,
                                       const trace::Trace* trace, const NoteList& notes,
                                       NoteList* base) {
  const QString folder = QFileInfo(path).absolutePath();
  if (notes.empty() && !QDir(folder).exists()) return NoteList();
  if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  QLockFile lock(path + QStringLiteral(".lock"));
  if (!lock.tryLock(kMostLockMs))
    return absl::UnavailableError(i18n::Format("'{}' could not be locked", path.toStdString()));
  const absl::StatusOr<NoteList> now = ReadNotes(path, content, trace);
  if (!now.ok()) return now.status();
  NoteList merged = MergeNotes(*base, *now, notes);
  if (merged.size() > kMostNotes)
    return absl::ResourceExhaustedError(
        i18n::Format("a run can have at most {} notes", kMostNotes));
  if (absl::Status status = WriteNotes(path, content, merged); !status.ok()) return status;
  *base = notes;
  return merged;
}

template <class Column>
void AddColumn(const Column& column, QCryptographicHash* hash) {
  std::array<uint64_t, 4096> values;
  size_t count = 0;
  const auto flush = [&] {
    hash->addData(QByteArrayView(reinterpret_cast<const char*>(values.data()),
                                 static_cast<qsizetype>(count * sizeof(uint64_t))));
    count = 0;
  };
  for (const auto value : column) {
    values[count++] = static_cast<uint64_t>(value);
    if (count == values.size()) flush();
  }
  flush();
}

}  // namespace

std::string ContentHash(const trace::Trace& trace) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  const std::array<uint64_t, 2> sizes = {trace.events.size(), trace.info.device.memory_bytes};
  AddColumn(sizes, &hash);
  AddColumn(trace.events.kind, &hash);
  AddColumn(trace.events.time_ns, &hash);
  AddColumn(trace.events.id, &hash);
  AddColumn(trace.events.bytes, &hash);
  AddColumn(trace.allocations.device, &hash);
  return hash.result().toHex().toStdString();
}

struct NoteStore::Answer {
  std::string content;
  absl::StatusOr<NoteList> notes;
};

NoteStore::NoteStore(const QString& folder, QObject* parent) : QObject(parent), folder_(folder) {}

NoteStore::~NoteStore() {
  disconnect();
  reads_.cancel();
  writes_.finish();
}

QString NoteStore::pathOf(const std::string& content) const {
  return QDir(folder_).absoluteFilePath(QString::fromStdString(content) + QStringLiteral(".json"));
}

void NoteStore::show(std::shared_ptr<const trace::Trace> trace) {
  reads_.cancel();
  content_.clear();
  notes_.clear();
  error_.clear();
  Q_EMIT changed();
  if (trace == nullptr) return;
  reads_.Ask(
      [this_folder = folder_, trace] {
        Answer answer{.content = ContentHash(*trace), .notes = NoteList()};
        const QString path =
            QDir(this_folder)
                .absoluteFilePath(QString::fromStdString(answer.content) + QStringLiteral(".json"));
        answer.notes = ReadNotes(path, answer.content, trace.get());
        return answer;
      },
      [this, weak = std::weak_ptr(trace),
       asked_at = changes_](const absl::StatusOr<Answer>& answer) {
        if (answer.ok()) Show(*answer, weak.lock(), asked_at);
      },
      {.blocks = true});
}

void NoteStore::Show(const Answer& answer, const std::shared_ptr<const trace::Trace>& trace,
                     uint64_t asked_at) {
  content_ = answer.content;
  const bool known = runs_.contains(content_);
  if (known && (runs_[content_].unwritten || asked_at != changes_)) {
    // The file may contain older notes.
    notes_ = runs_[content_].notes;
    runs_[content_].trace = trace;
  } else if (answer.notes.ok()) {
    Run& run = runs_[content_];
    run.notes = notes_ = *answer.notes;
    run.trace = trace;
    run.base = std::make_shared<NoteList>(notes_);
  } else {
    error_ = tr("%1: %2").arg(pathOf(content_),
                              QString::fromStdString(std::string(answer.notes.status().message())));
  }
  Q_EMIT changed();
}

void NoteStore::set(const std::string& content, NoteList notes) {
  if (content.empty()) return;
  runs_[content].notes = std::move(notes);
  Write(content);
  if (content != content_ || !error_.isEmpty()) return;
  notes_ = runs_[content].notes;
  Q_EMIT changed();
}

void NoteStore::change(const std::string& content, const NoteList& from, const NoteList& to) {
  set(content, MergeNotes(from, runs_[content].notes, to));
}

void NoteStore::Write(const std::string& content) {
  Run& run = runs_[content];
  run.unwritten = true;
  ++changes_;
  writes_.Ask(
      [path = pathOf(content), content, notes = run.notes, base = run.base,
       trace = run.trace.lock()] {
        return MergeIntoFile(path, content, trace.get(), notes, base.get());
      },
      [this, content](const absl::StatusOr<NoteList>& notes) {
        if (notes.ok()) return Written(content, *notes);
        Q_EMIT writeFailed(QString::fromStdString(std::string(notes.status().message())));
      },
      {.key = KeyOf(content), .earlier = Earlier::kShown, .blocks = true});
}

uint64_t NoteStore::KeyOf(const std::string& content) {
  return keys_.try_emplace(content, keys_.size() + 1).first->second;
}

void NoteStore::Written(const std::string& content, const NoteList& notes) {
  ++changes_;
  if (writes_.busy(KeyOf(content))) return;  // the notes were set again
  Run& run = runs_[content];
  run.unwritten = false;
  run.notes = notes;
  run.base = std::make_shared<NoteList>(notes);
  if (content != content_ || !error_.isEmpty() || notes_ == notes) return;
  notes_ = notes;
  Q_EMIT changed();
}

}  // namespace vramscope::ui
