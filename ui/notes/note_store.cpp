#include "ui/notes/note_store.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <array>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/output_file.h"

namespace vramscope::ui {
namespace {

// Writes the file, or removes it if there are no notes.
absl::Status WriteNotes(const QString& path, const std::string& content, const NoteList& notes) {
  if (notes.empty()) {
    if (QFile::remove(path) || !QFile::exists(path)) return absl::OkStatus();
    return absl::UnavailableError(i18n::Format("'{}' could not be removed", path.toStdString()));
  }
  const QString folder = QFileInfo(path).absolutePath();
  if (!QDir(folder).exists()) {
    if (!QDir().mkpath(folder))
      return absl::UnavailableError(
          i18n::Format("the folder '{}' could not be created", folder.toStdString()));
    QFile::setPermissions(folder,
                          QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
  }
  auto file = trace::OutputFile::Create(path.toStdString());
  if (!file.ok()) return file.status();
  if (absl::Status status = (*file)->Write(NotesToJson(content, notes)); !status.ok())
    return status;
  return (*file)->Commit();
}

absl::StatusOr<NoteList> ReadNotes(const QString& path, const std::string& content,
                                   const trace::Trace& trace) {
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
      [this_folder = folder_, trace = std::move(trace)] {
        Answer answer{.content = ContentHash(*trace), .notes = NoteList()};
        const QString path =
            QDir(this_folder)
                .absoluteFilePath(QString::fromStdString(answer.content) + QStringLiteral(".json"));
        answer.notes = ReadNotes(path, answer.content, *trace);
        return answer;
      },
      [this](const absl::StatusOr<Answer>& answer) {
        if (!answer.ok()) return;
        content_ = answer->content;
        if (const auto known = known_.find(content_); known != known_.end())
          notes_ = known->second;
        else if (answer->notes.ok())
          notes_ = *answer->notes;
        else
          error_ = tr("%1: %2").arg(
              pathOf(content_),
              QString::fromStdString(std::string(answer->notes.status().message())));
        Q_EMIT changed();
      },
      {.blocks = true});
}

void NoteStore::set(const std::string& content, NoteList notes) {
  if (content.empty()) return;
  known_[content] = std::move(notes);
  Write(content);
  if (content != content_ || !error_.isEmpty()) return;
  notes_ = known_[content];
  Q_EMIT changed();
}

void NoteStore::Write(const std::string& content) {
  const uint64_t key = keys_.try_emplace(content, keys_.size() + 1).first->second;
  writes_.Ask([path = pathOf(content), content,
               notes = known_[content]] { return WriteNotes(path, content, notes); },
              [this](const absl::Status& status) {
                if (!status.ok())
                  Q_EMIT writeFailed(QString::fromStdString(std::string(status.message())));
              },
              {.key = key, .earlier = Earlier::kShown, .blocks = true});
}

}  // namespace vramscope::ui
