#include "ui/notes/notes_page.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QJsonArray>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLocale>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "ui/panels/cells.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/range_rows.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

constexpr int kLineWidth = 420;

std::string Written(int64_t unix_s) {
  return QLocale()
      .toString(QDateTime::fromSecsSinceEpoch(unix_s), QLocale::ShortFormat)
      .toStdString();
}

using Ranges = std::map<std::pair<int64_t, int64_t>, RangeSummary>;

std::string ItemOf(const Note& note) {
  return note.end_ns ? i18n::Text("range") : note.thing ? note.what : i18n::Text("time");
}

// Only notes about a range have figures. The cells are empty until the figures are computed.
Table NoteTable(const trace::Trace* trace, const NoteList& notes, const Ranges& ranges) {
  Table table;
  const bool any =
      std::ranges::any_of(notes, [](const Note& note) { return note.end_ns.has_value(); });
  table.columns = {{i18n::Text("Time"), true, 124},
                   {i18n::Text("Item"), false, 260},
                   {i18n::Text("Note"), false, 380},
                   {i18n::Text("Modified"), false, 130}};
  if (any)
    for (Column column :
         {Column{i18n::Text("Length"), true, 96}, Column{i18n::Text("Peak"), true, 104},
          Column{i18n::Text("Change"), true, 104, false,
                 i18n::Text("Change in allocated memory from the start to the end of the range")},
          Column{i18n::Text("Allocated"), true, 104}, Column{i18n::Text("Freed"), true, 104}})
      table.columns.push_back(std::move(column));
  if (trace == nullptr) return table;
  for (size_t i = 0; i < notes.size(); ++i) {
    const Note& note = notes[i];
    Row row{.time_ns = note.time_ns, .group = static_cast<uint32_t>(i)};
    row.cells.resize(table.columns.size());
    row.cells[0] = {.text = timeline::TimeTextOf(*trace, note.time_ns),
                    .sort = static_cast<double>(note.time_ns),
                    .ns = note.time_ns};
    row.cells[1].text = ItemOf(note);
    row.cells[2].text = note.text.empty() ? i18n::Text("bookmark") : note.text;
    if (note.text.empty()) row.cells[2].tone = Cell::Tone::kDim;
    row.cells[3] = {.text = Written(note.written_unix_s),
                    .sort = static_cast<double>(note.written_unix_s)};
    if (note.end_ns) {
      row.cells[4] = DurationCell(*note.end_ns - note.time_ns, trace->info.has_times);
      if (const auto at = ranges.find({note.time_ns, *note.end_ns}); at != ranges.end()) {
        row.cells[5] = BytesCell(at->second.peak);
        row.cells[6] = DifferenceCell(at->second.change);
        row.cells[7] = BytesCell(at->second.allocated);
        row.cells[8] = BytesCell(at->second.freed);
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

NotesPage::NotesPage(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(15, 6, 15, 4);
  line->setSpacing(6);
  edit_ = new QLineEdit;
  edit_->setObjectName(QStringLiteral("noteEdit"));
  edit_->setMaxLength(static_cast<int>(kMostNoteText) / 4);  // a character has at most 4 bytes
  edit_->setMaximumWidth(kLineWidth);
  edit_->installEventFilter(this);
  line->addWidget(edit_, 1);
  remove_ = new QToolButton;
  remove_->setObjectName(QStringLiteral("noteDelete"));
  remove_->setProperty("role", "quiet");
  remove_->setText(tr("Delete"));
  remove_->setToolTip(tr("Delete the selected note (Del in the table); Ctrl+Z restores it"));
  connect(remove_, &QToolButton::clicked, this, &NotesPage::Remove);
  line->addWidget(remove_);
  of_ = new ElidedLabel(LabelRole::kDim, Qt::ElideMiddle);
  of_->setObjectName(QStringLiteral("noteOf"));
  line->addWidget(of_, 1);
  column->addLayout(line);
  model_ = new TableModel(this);
  view_ = new TableView;
  view_->setObjectName(QStringLiteral("notesTable"));
  view_->setRowModel(model_);
  view_->setSortingEnabled(true);
  view_->sortByColumn(0, Qt::AscendingOrder);
  view_->installEventFilter(this);
  auto* inset = new QHBoxLayout;  // aligns the first column with the tabs
  inset->setContentsMargins(4, 0, 4, 0);
  inset->addWidget(view_);
  column->addLayout(inset, 1);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    if (filling_) return;
    begun_.reset();
    ShowLine();
    if (const auto at = Chosen()) Q_EMIT chosen(notes_[*at]);
  });
  ShowLine();
}

void NotesPage::setEmptyText(const QString& text) {
  nothing_ = text;
  ShowLine();
}

void NotesPage::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

void NotesPage::setNotes(std::shared_ptr<const Digest> digest, const NoteList& notes,
                         const QString& error) {
  const bool same = digest == digest_;
  // Another window may have added or removed notes: the same note stays selected, and the text that
  // is being typed stays.
  const std::optional<size_t> at = same && !begun_ ? Chosen() : std::nullopt;
  const std::optional<Note> note =
      at && *at < notes_.size() ? std::optional(notes_[*at]) : std::nullopt;
  if (!same) {
    begun_.reset();
    ranges_.clear();
    jobs_.cancel();
    filling_ = true;
    view_->setCurrentIndex({});
    filling_ = false;
  }
  digest_ = std::move(digest);
  notes_ = notes;
  error_ = error;
  const auto there = note ? std::ranges::find(notes_, *note) : notes_.end();
  const bool stays = there != notes_.end();
  const bool types = edit_->isModified() && ((same && begun_) || stays);
  const QString typed = edit_->text();
  Fill(stays ? static_cast<size_t>(there - notes_.begin()) : at);
  ShowLine();
  if (types) {
    edit_->setText(typed);
    edit_->setModified(true);
  }
  AddUpRanges();
}

void NotesPage::Fill(std::optional<size_t> select) {
  const std::optional<size_t> before = select ? select : Chosen();
  filling_ = true;
  model_->setTable(NoteTable(trace(), notes_, ranges_));
  view_->sortAsBefore();
  // Keep the note selected when its text changes.
  if (before && *before < notes_.size())
    for (int row = 0; row < model_->rowCount(); ++row)
      if (model_->table().rows[static_cast<size_t>(row)].group == *before) view_->selectRow(row);
  filling_ = false;
}

void NotesPage::AddUpRanges() {
  std::vector<std::pair<int64_t, int64_t>> missing;
  for (const Note& note : notes_)
    if (note.end_ns && !ranges_.contains({note.time_ns, *note.end_ns}))
      missing.emplace_back(note.time_ns, *note.end_ns);
  if (missing.empty() || digest_ == nullptr) return;
  jobs_.Ask(
      [digest = digest_, missing](const JobToken& token) {
        Ranges sums;
        for (const auto& [begin, end] : missing) {
          if (token.cancelled()) break;
          const RangeFigures figures = FiguresOfRange(*digest, begin, end);
          sums[{begin, end}] = {.peak = figures.peak,
                                .allocated = figures.allocated_bytes,
                                .freed = figures.freed_bytes,
                                .change = static_cast<int64_t>(figures.at_end) -
                                          static_cast<int64_t>(figures.at_begin)};
        }
        return sums;
      },
      [this, of = digest_](const absl::StatusOr<Ranges>& sums) {
        if (!sums.ok() || of != digest_) return;
        ranges_.insert(sums->begin(), sums->end());
        Fill();
      });
}

std::optional<size_t> NotesPage::Chosen() const {
  const QModelIndex now = view_->currentIndex();
  if (!now.isValid() || now.row() >= model_->rowCount()) return std::nullopt;
  return model_->table().rows[static_cast<size_t>(now.row())].group;
}

void NotesPage::begin(const Note& note) {
  begun_ = note;
  filling_ = true;
  view_->clearSelection();
  view_->setCurrentIndex({});
  filling_ = false;
  ShowLine();
  edit_->setFocus(Qt::ShortcutFocusReason);
}

// Updates the text field above the table, in which the user edits the selected note or types a new
// one.
void NotesPage::ShowLine() {
  const std::optional<size_t> at = begun_ ? std::nullopt : Chosen();
  const Note* note = begun_ ? &*begun_ : at && *at < notes_.size() ? &notes_[*at] : nullptr;
  // If the field were disabled, the focus would go to the table, which would select a row.
  edit_->setReadOnly(note == nullptr);
  edit_->setText(note != nullptr ? QString::fromStdString(note->text) : QString());
  edit_->setPlaceholderText(note == nullptr ? tr("Select a note, or add one with Ctrl+M")
                            : begun_        ? tr("Note text (Enter adds the note, Esc cancels)")
                                            : tr("Note text (Enter saves the change)"));
  remove_->setEnabled(at.has_value());
  QString of;
  if (note != nullptr && trace() != nullptr) {
    of = QString::fromStdString(timeline::TimeTextOf(*trace(), note->time_ns));
    if (note->end_ns)
      of = tr("range of %1, beginning at %2")
               .arg(QString::fromStdString(
                        timeline::LengthOf(*trace(), *note->end_ns - note->time_ns)),
                    of);
    if (!note->what.empty()) of += QStringLiteral(" · ") + QString::fromStdString(note->what);
  }
  of_->setFullText(of);
  view_->setEmptyText(trace() == nullptr ? nothing_
                      : error_.isEmpty() ? tr("No notes on this run. Right-click anything in the "
                                              "timeline, or press Ctrl+M.")
                                         : tr("The notes of this run cannot be read.\n%1\nTo write "
                                              "new notes, move the notes file away.")
                                               .arg(error_));
}

void NotesPage::Enter() {
  const QString text = edit_->text().simplified();
  if (begun_) {
    Note note = *std::exchange(begun_, std::nullopt);
    note.text = NoteText(text.toStdString());
    Q_EMIT added(note);
  } else if (const auto at = Chosen()) {
    Q_EMIT edited(*at, text);
  } else {
    return;
  }
  Q_EMIT ended();
}

void NotesPage::Remove() {
  if (const auto at = Chosen()) Q_EMIT removed(*at);
}

bool NotesPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (watched == view_) {
    if (key != Qt::Key_Delete) return QWidget::eventFilter(watched, event);
    Remove();
    return true;
  }
  if (key == Qt::Key_Return || key == Qt::Key_Enter) {
    Enter();
    return true;
  }
  if (key == Qt::Key_Escape) {
    begun_.reset();
    ShowLine();
    Q_EMIT ended();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

QJsonObject NotesPage::dumpState() const {
  QJsonObject out = view_->dumpState();
  QJsonArray list;
  for (const Note& note : notes_)
    list.append(QJsonObject{{"time_ns", qint64{note.time_ns}},
                            {"end_ns", qint64{note.end_ns.value_or(0)}},
                            {"what", QString::fromStdString(note.what)},
                            {"text", QString::fromStdString(note.text)}});
  out["notes"] = list;
  out["of"] = of_->fullText();
  out["begun"] = begun_.has_value();
  out["error"] = error_;
  return out;
}

}  // namespace vramscope::ui
