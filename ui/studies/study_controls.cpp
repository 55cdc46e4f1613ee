#include "ui/studies/study_controls.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/panels/table_panel.h"

namespace vramscope::ui {

FitControls::FitControls(QWidget* page, QHBoxLayout* controls, const Texts& texts,
                         const std::function<void()>& make, const std::function<void(int)>& use)
    : QObject(page), budget_(new QLineEdit) {
  constexpr int kProposals = 3, kBudgetWidth = 90;
  int at = 0;
  const auto insert = [&](QWidget* widget) { controls->insertWidget(at++, widget); };
  auto* title = new QLabel(tr("Budget"));
  title->setBuddy(budget_);
  insert(title);
  budget_->setMaximumWidth(kBudgetWidth);
  budget_->setObjectName(QLatin1String(texts.name));
  budget_->setToolTip(texts.budget_tip);
  budget_->setAccessibleName(tr("Budget"));
  insert(budget_);
  auto* button = new QPushButton(tr("Make it fit"));
  button->setToolTip(texts.make_tip);
  insert(button);
  connect(button, &QPushButton::clicked, this, make);
  connect(budget_, &QLineEdit::returnPressed, this, make);
  for (int i = 0; i < kProposals; ++i) {
    auto* proposal = new QPushButton(texts.use.arg(i + 1));
    proposal->setToolTip(texts.use_tip);
    proposal->hide();
    insert(proposal);
    connect(proposal, &QPushButton::clicked, this, [use, i] { use(i); });
    use_.push_back(proposal);
  }
}

QString FitControls::budget() const { return budget_->text().trimmed(); }

void FitControls::setDefaultBudget(const QString& text) { budget_->setPlaceholderText(text); }

void FitControls::showProposals(size_t count) {
  for (size_t i = 0; i < use_.size(); ++i) use_[i]->setVisible(i < count);
}

QString FitControls::found(const QJsonObject& result, const QString& none) {
  const auto fits = [](const QJsonObject& of) { return of.value(QLatin1String("fits")).toBool(); };
  const bool fits_now = fits(result.value(QLatin1String("start")).toObject());
  const QJsonArray proposals = result.value(QLatin1String("proposals")).toArray();
  if (proposals.isEmpty()) return fits_now ? tr("The run already fits.") : none;
  const QString before = fits_now ? tr("The run already fits.") + QLatin1Char(' ') : QString();
  if (std::ranges::none_of(proposals, [&](const auto& each) { return fits(each.toObject()); }))
    return before + tr("None of the combinations fits; this is the smallest.");
  const int plans = result.value(QLatin1String("plans")).toInt();
  return before +
         (plans == 1 ? tr("%1 combination planned in %2 s.")
                     : tr("%1 combinations planned in %2 s."))
             .arg(plans)
             .arg(result.value(QLatin1String("seconds")).toDouble(), 0, 'f', 1) +
         (result.value(QLatin1String("cut_short")).toBool()
              ? tr(" The search reached its time limit. Other combinations may fit with smaller "
                   "changes.")
              : QString());
}

WaterfallControls::WaterfallControls(QWidget* page, const Parts& parts, const QString& draw_tip,
                                     const std::function<void()>& draw,
                                     std::function<void(const std::vector<std::string>&)> reorder)
    : QObject(page),
      parts_(parts),
      reorder_(std::move(reorder)),
      bars_(new BarsWidget([this](int from, int to) { Move(from, to); })),
      area_(new QScrollArea) {
  bars_->setToolTip(tr("Drag a bar to another place in the order"));
  addButton(tr("Draw"), draw_tip, draw);
  addButton(tr("Up"),
            tr("Move the selected bar earlier (Alt+Up). What a technique saves depends on the "
               "techniques before it"),
            [this] { move(-1); });
  addButton(tr("Down"), tr("Move the selected bar later (Alt+Down)"), [this] { move(1); });
  for (const auto& [key, by] : {std::pair{Qt::Key_Up, -1}, std::pair{Qt::Key_Down, 1}})
    connect(new QShortcut(QKeySequence(Qt::ALT | key), page, nullptr, nullptr,
                          Qt::WidgetWithChildrenShortcut),
            &QShortcut::activated, this, [this, by] { move(by); });
  // If the window is too low for all bars, the bars scroll, so that the table below keeps its
  // header and some rows.
  constexpr int kTableLeast = 90, kStretch = 3;
  area_->setWidget(bars_);
  area_->setWidgetResizable(true);
  area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area_->setMaximumHeight(0);
  parts_.column->insertWidget(1, area_, kStretch);
  parts_.view->setMinimumHeight(kTableLeast);
}

void WaterfallControls::addButton(const QString& text, const QString& tip,
                                  const std::function<void()>& run) {
  auto* button = new QPushButton(text);
  button->setToolTip(tip);
  parts_.controls->insertWidget(buttons_++, button);
  connect(button, &QPushButton::clicked, this, run);
}

void WaterfallControls::show(BarsAndTable bars, std::vector<std::string> order) {
  order_ = std::move(order);
  parts_.model->setTable(std::move(bars.table));
  bars_->setBars(std::move(bars.bars));
  area_->setMaximumHeight(bars_->height());
  if (const auto at = std::ranges::find(order_, moved_); at != order_.end())
    parts_.view->selectRow(static_cast<int>(at - order_.begin()) + 1);
}

void WaterfallControls::move(int by) {
  // Row 0 shows the first bar, which cannot be moved.
  const int row = parts_.view->currentIndex().row() - 1;
  Move(row, row + by);
}

void WaterfallControls::Move(int from, int to) {
  const auto size = static_cast<int>(order_.size());
  if (from < 0 || from >= size || to < 0 || to >= size) return;
  std::vector<std::string> order = order_;
  moved_ = order[static_cast<size_t>(from)];
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, moved_);
  reorder_(order);
}

QJsonArray WaterfallControls::orderJson() const {
  QJsonArray order;
  for (const std::string& name : order_) order.append(QString::fromStdString(name));
  return order;
}

}  // namespace vramscope::ui
