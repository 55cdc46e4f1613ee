#include "ui/panels/search_panel.h"

#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/query/matcher.h"
#include "ui/jobs/release_later.h"
#include "ui/panels/cells.h"
#include "ui/panels/find_bar.h"
#include "ui/panels/kernel_rows.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

QString Number(uint64_t n) { return QString::fromStdString(timeline::FormatCount(n)); }

QString CountOf(query::ThingKind kind, uint64_t n) {
  return QStringLiteral("%1 %2").arg(QString::fromStdString(i18n::Text(query::Name(kind))),
                                     Number(n));
}

using query::FilterNode;

// A comparison with a field that notes do not have is false, even with "!=".
bool MatchesNote(const query::Filter& filter, uint32_t at, const timeline::NoteMark& note) {
  const FilterNode& node = filter.nodes()[at];
  switch (node.is) {
    case FilterNode::Is::kText:
      return query::ContainsText(note.text, node.text) || query::ContainsText(note.what, node.text);
    case FilterNode::Is::kNot:
      return !MatchesNote(filter, node.left, note);
    case FilterNode::Is::kAnd:
      return MatchesNote(filter, node.left, note) && MatchesNote(filter, node.right, note);
    case FilterNode::Is::kOr:
      return MatchesNote(filter, node.left, note) || MatchesNote(filter, node.right, note);
    case FilterNode::Is::kCompare:
      break;
  }
  const std::string_view of = node.field == query::FilterField::kName   ? note.text
                              : node.field == query::FilterField::kKind ? "note"
                                                                        : std::string_view();
  if (node.field != query::FilterField::kName && node.field != query::FilterField::kKind)
    return false;
  const bool contains = query::ContainsText(of, node.text);
  switch (node.relation) {
    case query::Relation::kContains:
      return contains;
    case query::Relation::kContainsNot:
      return !contains;
    case query::Relation::kEqual:
      return contains && of.size() == node.text.size();
    case query::Relation::kNotEqual:
      return !contains || of.size() != node.text.size();
    default:
      return false;
  }
}

// Inserts the matching notes of the range before the other rows. Returns the number of notes.
size_t AddNotes(const timeline::NoteMarks* notes, const query::Filter& filter,
                std::pair<qint64, qint64> range, const trace::Trace& trace, Table* table) {
  if (notes == nullptr || filter.empty()) return 0;
  std::vector<Row> rows;
  for (size_t i = 0; i < notes->notes.size(); ++i) {
    const timeline::NoteMark& note = notes->notes[i];
    const int64_t end = std::max(note.time_ns, note.end_ns);
    if (range.first < range.second && (end < range.first || note.time_ns >= range.second)) continue;
    if (!MatchesNote(filter, static_cast<uint32_t>(filter.nodes().size() - 1), note)) continue;
    Row row;
    row.time_ns = note.time_ns;
    row.group = static_cast<uint32_t>(i);
    std::string text = note.text.empty() ? std::string(i18n::Text("bookmark")) : note.text;
    if (!note.what.empty()) text += " \u00b7 " + note.what;
    const Cell none{.text = "\u2013", .tone = Cell::Tone::kDim};
    row.cells = {
        {.text = i18n::Text("note"), .sort = -1},
        TextCell(std::move(text)),
        CountCell(1),
        note.range() ? DurationCell(note.end_ns - note.time_ns, trace.info.has_times) : none,
        none};
    rows.push_back(std::move(row));
  }
  table->rows.insert(table->rows.begin(), std::make_move_iterator(rows.begin()),
                     std::make_move_iterator(rows.end()));
  return rows.size();
}

}  // namespace

SearchPanel::SearchPanel(QWidget* parent) : RangedPage(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  bar_ = new FindBar(
      "searchFilter",
      tr("Find text such as cudaMalloc, or filter by size > 10 MiB and phase = backward"));
  bar_->line()->addWidget(MakeRangeButton(QStringLiteral("leaveSearchRange"),
                                          tr("Leave the range: show the whole trace again (Esc)")));
  column->addWidget(bar_);
  model_ = new TableModel(this);
  view_ = new TableView;
  view_->setObjectName(QStringLiteral("searchTable"));
  view_->setRowModel(model_);
  view_->setSortingEnabled(true);
  view_->sortByColumn(-1, Qt::AscendingOrder);  // rows stay by kind, largest first
  bar_->setBelow(view_);
  auto* inset = new QHBoxLayout;  // aligns the first column with the tabs
  inset->setContentsMargins(4, 0, 4, 0);
  inset->addWidget(view_);
  column->addLayout(inset, 1);
  connect(bar_, &FindBar::edited, this, [this](const query::Filter& filter) {
    filter_ = filter;
    Ask();
  });
  connect(bar_, &FindBar::stepped, this, &SearchPanel::step);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (!selecting_ && now.isValid()) RowChosen(now.row());
          });
}

void SearchPanel::setEmptyText(const QString& text) {
  nothing_ = text;
  Count();
}

void SearchPanel::setNotes(std::shared_ptr<const timeline::NoteMarks> notes) {
  if (notes == notes_) return;
  notes_ = std::move(notes);
  if (!filter_.empty()) Stale();
}

void SearchPanel::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

void SearchPanel::setIndexes(std::shared_ptr<const timeline::TimelineData> indexes) {
  if (indexes == indexes_) return;
  indexes_ = std::move(indexes);
  marked_ = false;  // the canvas has removed the marks of the previous trace
  Stale();
}

void SearchPanel::Ask() {
  ShowRange();
  if (indexes_ == nullptr || filter_.empty()) {
    jobs_.cancel();
    return Show(nullptr);
  }
  jobs_.Ask(
      [of = indexes_, filter = filter_, range = range_, notes = notes_](const JobToken& token) {
        auto answer = std::make_shared<Answer>();
        answer->of = of;
        auto found =
            std::make_shared<const query::SearchResult>(query::Search({.trace = of->shared_trace(),
                                                                       .index = of->activities(),
                                                                       .begin_ns = range.first,
                                                                       .end_ns = range.second,
                                                                       .stop = token.cancel()},
                                                                      filter));
        answer->marking = std::make_shared<const timeline::Marking>(
            timeline::MarkThings(of->shared_trace(), found->things));
        answer->table = FoundTable(*found, of->trace());
        if (notes != nullptr && notes->trace == of->shared_trace())
          answer->notes = AddNotes(notes.get(), filter, range, of->trace(), &answer->table);
        answer->found = std::move(found);
        return answer;
      },
      [this](const absl::StatusOr<std::shared_ptr<Answer>>& answer) {
        if (answer.ok()) Show(*answer);
      });
  Count();
}

void SearchPanel::Show(const std::shared_ptr<Answer>& answer) {
  ReleaseLater(shown_);
  shown_ = answer;
  at_ = SIZE_MAX;
  selecting_ = true;
  model_->setTable(answer ? std::move(answer->table) : Table());
  view_->sortAsBefore();
  selecting_ = false;
  Count();
  if (answer != nullptr && !answer->found->things.empty()) {
    marked_ = true;
    Q_EMIT marked(answer->marking);
  } else if (std::exchange(marked_, false)) {
    Q_EMIT marked(nullptr);
  }
}

uint32_t SearchPanel::CurrentGroup() const {
  const QModelIndex now = view_->currentIndex();
  if (!now.isValid() || now.row() >= model_->rowCount()) return UINT32_MAX;
  const Row& row = model_->table().rows[static_cast<size_t>(now.row())];
  // Only the rows of notes have a time, and notes have no group.
  return row.time_ns >= 0 ? UINT32_MAX : row.group;
}

// Handles a click on a row. The row of a group shows the first match. The row of a stack frame
// starts a search for its blocks. The row of a note selects the note.
void SearchPanel::RowChosen(int row) {
  if (shown_ == nullptr || shown_->of != indexes_) return;
  const Row& chosen = model_->table().rows[static_cast<size_t>(row)];
  if (chosen.time_ns >= 0) {
    Q_EMIT noteClicked(chosen.group);
    return;
  }
  if (chosen.group == UINT32_MAX) {
    const std::string frame = chosen.cells[1].text;
    search(QStringLiteral("kind = block and stack = %1")
               .arg(QString::fromStdString(query::Quoted(frame))));
    return;
  }
  at_ = SIZE_MAX;
  step(1);
}

bool SearchPanel::step(int direction) {
  if (shown_ == nullptr || shown_->of != indexes_) return false;
  const query::SearchResult& found = *shown_->found;
  if (found.things.empty()) return view_->step(direction);  // only notes were found
  const size_t next = found.Next(at_, direction, CurrentGroup());
  if (next >= found.things.size()) return false;
  at_ = next;
  Q_EMIT thingClicked(found.things[at_]);
  Count();
  return true;
}

void SearchPanel::search(const QString& text) { bar_->setText(text); }

void SearchPanel::focusEdit() {
  bar_->edit()->setFocus(Qt::ShortcutFocusReason);
  bar_->edit()->selectAll();
}

void SearchPanel::Count() {
  view_->setEmptyText(indexes_ == nullptr ? nothing_
                      : filter_.empty()
                          ? tr("Find blocks, kernels, memcpys, calls, ops, modules, stacks, "
                               "annotations and notes.\nEnter text that they contain, or a filter "
                               "such as\nsize > 10 MiB and module ~ attn and phase = backward")
                      : shown_ == nullptr ? tr("Searching …")
                                          : tr("Nothing in the timeline matches."));
  if (shown_ == nullptr || filter_.empty())
    return bar_->setCount(filter_.empty() ? QString() : tr("Searching …"), false);
  const query::SearchResult& found = *shown_->found;
  if (found.things.empty() && shown_->notes == 0) return bar_->setCount(tr("nothing found"), false);
  QStringList kinds;
  if (shown_->notes > 0)
    kinds << QStringLiteral("%1 %2").arg(ToQString(i18n::Text("note")), Number(shown_->notes));
  for (int k = 0; k < query::kThingKindCount; ++k)
    if (const auto kind = static_cast<query::ThingKind>(k); found.count(kind) > 0)
      kinds << CountOf(kind, found.count(kind));
  const QString all = Number(found.things.size() + shown_->notes);
  bar_->setCount(
      at_ < found.things.size()
          ? tr("result %1 of %2: %3").arg(Number(at_ + 1), all, kinds.join(QStringLiteral(", ")))
          : tr("%1 found: %2").arg(all, kinds.join(QStringLiteral(", "))),
      true);
}

QJsonObject SearchPanel::dumpState() const {
  QJsonObject out = view_->dumpState();
  out["search"] = bar_->text();
  out["count"] = bar_->count();
  out["notes"] = shown_ ? static_cast<int>(shown_->notes) : 0;
  out["found"] = shown_ ? static_cast<double>(shown_->found->things.size()) : 0.0;
  out["at"] = shown_ && at_ < shown_->found->things.size() ? static_cast<double>(at_) : -1.0;
  return out;
}

}  // namespace vramscope::ui
