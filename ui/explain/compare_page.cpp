#include "ui/explain/compare_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QLineEdit>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/explain/explain_widgets.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {

ComparePage::ComparePage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("comparePage"));
  const auto action = [this](const QString& text, const QString& tip, const char* id) {
    QToolButton* button = QuietButton(text, tip);
    button->setObjectName(QString::fromLatin1(id));
    connect(button, &QToolButton::clicked, this,
            [this, id] { Q_EMIT actionRequested(QString::fromLatin1(id)); });
    head_line_->addWidget(button, 0, Qt::AlignTop);
    return button;
  };
  swap_ =
      action(tr("Swap"), tr("Show the baseline, and compare it with the current run"), "run.swap");
  pin_ = action(tr("Pin as baseline"), tr("Use this run as the baseline of later runs (Ctrl+B)"),
                "run.pin");
  action(tr("Compare with a file …"), tr("Open a second recording or trace (Ctrl+D)"),
         "file.compare");

  controls_ = new QWidget;
  lines_ = new QBoxLayout(QBoxLayout::LeftToRight, controls_);
  lines_->setContentsMargins(0, 0, 0, 0);
  by_line_ = new QHBoxLayout;
  rows_line_ = new QHBoxLayout;
  for (QBoxLayout* line :
       {lines_, static_cast<QBoxLayout*>(by_line_), static_cast<QBoxLayout*>(rows_line_)})
    line->setSpacing(8);
  lines_->addLayout(by_line_);
  lines_->addLayout(rows_line_, 1);
  const QString names[kCompareBys] = {tr("Call site"), tr("Category"), tr("Phase"),
                                      tr("Step"),      tr("Requests"), tr("Kernels")};
  const QString tips[kCompareBys] = {
      {},
      {},
      {},
      {},
      tr("Align all allocations and frees of a step in both runs, and show where they first "
         "differ"),
      tr("Compare the number and duration of each kernel in a step, for example between a plan and "
         "a recording")};
  for (int i = 0; i < kCompareBys; ++i) {
    by_buttons_[i] = QuietButton(names[i], tips[i]);
    by_buttons_[i]->setCheckable(true);
    by_buttons_[i]->setAutoExclusive(true);
    by_buttons_[i]->setObjectName(QStringLiteral("compareBy%1").arg(i));
    connect(by_buttons_[i], &QToolButton::clicked, this,
            [this, i] { Show(static_cast<CompareBy>(i)); });
    by_line_->addWidget(by_buttons_[i]);
  }
  by_line_->addStretch();
  by_buttons_[0]->setChecked(true);
  steps_ = MakeComboBox();
  steps_->setObjectName(QStringLiteral("compareStep"));
  steps_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  steps_->setToolTip(
      tr("Compare the memory at each run's overall peak, or at its peak within one step"));
  connect(steps_, &QComboBox::activated, this, [this](int row) {
    const QVariant step = steps_->itemData(row);
    step_ = step.isValid() ? std::optional<int32_t>(step.toInt()) : std::nullopt;
    Compute();
  });
  rows_line_->addWidget(steps_);
  changes_ = QuietButton(tr("Changes only"), tr("Hide rows that are the same in both runs"));
  changes_->setObjectName(QStringLiteral("compareChanges"));
  changes_->setCheckable(true);
  changes_->setChecked(true);
  connect(changes_, &QToolButton::toggled, this, [this] { Fill(); });
  rows_line_->addWidget(changes_);
  filter_ = FilterEdit(tr("Filter"), "compareFilter");
  connect(filter_, &QLineEdit::textChanged, this, [this] { Fill(); });
  rows_line_->addWidget(filter_, 1);
  rows_line_->addStretch();
  column_->addWidget(controls_);

  table_ = new TableModel(this);
  view_ = MakeTable(table_, "compareTable");
  // Names are elided in the middle, because the end of a call site's name, the operator, must stay
  // visible.
  view_->setTextElideMode(Qt::ElideMiddle);
  PointsAtTimeline(view_, table_, this);
  AddTable(view_);
  controls_->hide();
}

void ComparePage::Refresh(int changes) {
  if (changes & kTheme) table_->setTheme(context_.theme);
  if (!(changes & (kDocument | kAgainst))) return;
  step_.reset();
  steps_->clear();
  const bool itself = context_.against == context_.digest;
  const bool any = context_.against != nullptr && !itself;
  swap_->setVisible(any && context_.against_pinned);
  pin_->setVisible(!itself && !context_.against_pinned);
  if (!any) {
    jobs_.cancel();
    Clear();
    Head(itself ? tr("This is the baseline itself, or a plan with the same settings. To compare "
                     "with the baseline, change a technique or open another file.")
                : tr("There is nothing to compare with yet. Open a second recording (Ctrl+D, or "
                     "drop it on the right half of the window). Or pin this run as the baseline "
                     "(Ctrl+B), then open or plan another run."));
    return;
  }
  Compute();
}

void ComparePage::Compute() {
  if (!found_) Head(tr("Comparing …"));
  Ask([this, digest = context_.digest, against = context_.against, step = step_,
       align = NeedsAlignment(by_)](const JobToken&) -> std::function<void()> {
    auto found =
        std::make_shared<absl::StatusOr<Comparison>>(Compare(*against, *digest, step, align));
    return [this, found, against] {
      if (!found->ok()) {
        Clear();
        Head(tr("The runs could not be compared: %1.")
                 .arg(ToQString(std::string(found->status().message()))));
        return;
      }
      found_ = *std::move(*found);
      ListSteps();
      compared_with_ = against;
      controls_->show();
      view_->show();
      Show(by_);
    };
  });
}

void ComparePage::ShowHead() {
  const std::string& what = by_ == CompareBy::kRequest  ? found_->requests_headline
                            : by_ == CompareBy::kKernel ? found_->kernels_headline
                                                        : found_->headline;
  Head(tr("Compared with %1 %2. %3")
           .arg(context_.against_pinned ? tr("the baseline") : tr("the previous run,"),
                QString::fromStdString(compared_with_->name), QString::fromStdString(what)));
}

// Fills the combo box with the steps that both traces have.
void ComparePage::ListSteps() {
  if (steps_->count() > 0) return;
  steps_->addItem(tr("at both peaks"));
  for (const explain::TraceDiff::Step& s : found_->diff.steps)
    if (s.in_a && s.in_b && s.step >= 0) steps_->addItem(tr("in step %1").arg(s.step), s.step);
  steps_->setEnabled(steps_->count() > 1);
  FitControls();
}

void ComparePage::resizeEvent(QResizeEvent* event) {
  ExplainPage::resizeEvent(event);
  FitControls();
}

void ComparePage::FitControls() {
  const QMargins margins = column_->contentsMargins();
  const int room =
      width() - margins.left() - margins.right() - style()->pixelMetric(QStyle::PM_ScrollBarExtent);
  const bool narrow =
      by_line_->sizeHint().width() + lines_->spacing() + rows_line_->sizeHint().width() > room;
  lines_->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void ComparePage::Show(CompareBy by) {
  const bool other = by_ != by || table_->columnCount() == 0;
  by_ = by;
  by_buttons_[static_cast<int>(by)]->setChecked(true);
  if (found_ && NeedsAlignment(by) && !found_->aligned) {
    Head(tr("Aligning the two runs …"));
    return Compute();
  }
  if (found_) ShowHead();
  // This table has other columns than the table shown before, so its sort order does not apply.
  if (other) view_->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  Fill();
}

void ComparePage::Fill() {
  if (!found_) return;
  const auto difference = static_cast<size_t>(DifferenceColumn(by_));
  const bool changes = changes_->isChecked();
  const Table& all = found_->tables[static_cast<int>(by_)];
  ShowFiltered(view_, table_, all, filter_->text(),
               [&](const Row& row) { return !changes || row.cells[difference].sort != 0; });
}

void ComparePage::Clear() {
  found_.reset();
  compared_with_ = nullptr;
  steps_->clear();
  table_->setTable({});
  controls_->hide();
}

QJsonObject ComparePage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["by"] = by_buttons_[static_cast<int>(by_)]->text();
  QJsonArray steps;
  for (int i = 0; i < steps_->count(); ++i) steps.append(steps_->itemText(i));
  out["steps"] = steps;
  out["step"] = steps_->currentText();
  out["controls"] = controls_->isVisibleTo(this);
  out["table"] = view_->dumpState();
  return out;
}

}  // namespace vramscope::ui
