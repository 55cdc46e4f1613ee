#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QVBoxLayout>
#include <utility>

#include "profiler/fit/waterfall.h"
#include "profiler/program/request.h"
#include "profiler/run/toggles.h"
#include "ui/panels/qt_theme.h"
#include "ui/studies/bars_widget.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {

namespace {

// The titles of the toggles that this rung switches on; if there are none, the settings that it
// changes.
QString TitleOf(const fit::Rung& rung, const run::RunConfig& before) {
  QStringList titles;
  for (const run::ToggleRow& row : run::Toggles())
    if (run::IsOn(*row.toggle, rung.config) && !run::IsOn(*row.toggle, before))
      titles << ToQString(row.toggle->title);
  if (titles.isEmpty())
    for (const auto& [key, value] : rung.settings)
      titles << QString::fromStdString(key + "=" + value);
  return titles.join(QStringLiteral(", "));
}

}  // namespace

WaterfallPage::WaterfallPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "waterfallPage", parent),
      bars_(new BarsWidget([this](int from, int to) { Move(from, to); })),
      bars_area_(new QScrollArea) {
  bars_->setObjectName(QStringLiteral("waterfallBars"));
  bars_->setToolTip(tr("Drag a bar to another place in the order"));
  int at = 0;
  const auto button = [&](const QString& text, const QString& tip, auto run) {
    auto* made = new QPushButton(text);
    made->setToolTip(tip);
    controls_->insertWidget(at++, made);
    connect(made, &QPushButton::clicked, this, run);
  };
  button(tr("Draw"),
         tr("Draw bars from the model's defaults to the run on the left, as `vramscope waterfall` "
            "does"),
         [this] {
           order_.clear();
           selected_.clear();
           draw();
         });
  button(
      tr("Up"),
      tr("Move the selected bar earlier (Alt+Up): its saving depends on the techniques before it"),
      [this] { move(-1); });
  button(tr("Down"), tr("Move the selected bar later (Alt+Down)"), [this] { move(1); });
  for (const auto& [key, by] : {std::pair{Qt::Key_Up, -1}, std::pair{Qt::Key_Down, 1}})
    connect(new QShortcut(QKeySequence(Qt::ALT | key), this, nullptr, nullptr,
                          Qt::WidgetWithChildrenShortcut),
            &QShortcut::activated, this, [this, by] { move(by); });
  button(tr("Copy image"), {}, [this] { QApplication::clipboard()->setPixmap(image()); });
  button(tr("Copy table"), {}, [this] { view_->copySelection(); });
  button(tr("Copy command"), {}, [this] { QApplication::clipboard()->setText(command()); });
  // If the window is not tall enough for all bars, they scroll; the table below keeps its header
  // and some rows.
  bars_area_->setWidget(bars_);
  bars_area_->setWidgetResizable(true);
  bars_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  bars_area_->setMaximumHeight(0);
  column_->insertWidget(1, bars_area_, 3);
  view_->setMinimumHeight(90);
  view_->setEmptyText(
      tr("Each bar is the change of the peak when its technique is added, from the model's "
         "defaults to the current run."));
}

void WaterfallPage::setConfig(const run::RunConfig& config) {
  StudyPage::setConfig(config);
  SayWhatItIs();
}

void WaterfallPage::SayWhatItIs() {
  if (found_.isEmpty() || busy()) return;
  Say(run::ToJson(config_) == run::ToJson(asked_)
          ? found_
          : tr("These bars precede your last change. \"Draw\" plans again."));
}

void WaterfallPage::draw() {
  asked_ = config_;
  found_.clear();
  QStringList arguments = {QStringLiteral("waterfall")};
  if (!order_.isEmpty()) arguments << QStringLiteral("--order") << order_.join(QLatin1Char(','));
  Say(tr("Planning …"));
  Start(arguments, run::ToJson(asked_));
}

void WaterfallPage::setTheme(const timeline::Theme& theme) {
  StudyPage::setTheme(theme);
  bars_->setTheme(theme);
}

void WaterfallPage::move(int by) {
  // Row 0 is the baseline.
  const int row = view_->currentIndex().row() - 1;
  Move(row, row + by);
}

void WaterfallPage::Move(int from, int to) {
  if (busy() || from < 0 || from >= order_.size() || to < 0 || to >= order_.size()) return;
  selected_ = order_[from];
  order_.move(from, to);
  draw();
}

// The command line with all settings in which the run differs from its model's defaults.
QString WaterfallPage::command() const {
  std::vector<std::string> words = {"vramscope", "waterfall"};
  run::RunConfigBuilder builder;
  if (builder.SetPreset(asked_.model).ok()) {
    words.insert(words.end(), {"--preset", asked_.model});
  } else {
    (void)builder.SetModelConfig(asked_.model, asked_.model_config_json);
    words.insert(words.end(), {"--model", "config.json"});
  }
  const absl::StatusOr<run::RunConfig> defaults = builder.Build();
  if (defaults.ok())
    for (const auto& [key, value] : fit::Changed(*defaults, asked_))
      if (key != "model" && key != "model_config_json" && key != "modelConfigJson")
        words.insert(words.end(), {"--set", key + "=" + value});
  if (!order_.isEmpty())
    words.insert(words.end(), {"--order", order_.join(QLatin1Char(',')).toStdString()});
  return QString::fromStdString(program::JoinWords(words));
}

QPixmap WaterfallPage::image() const { return bars_->grab(); }

void WaterfallPage::Show(const QJsonObject& result) {
  const QJsonArray json = result.value(QLatin1String("bars")).toArray();
  std::vector<std::string> asked_order;
  for (const QString& name : order_) asked_order.push_back(name.toStdString());
  order_.clear();
  for (qsizetype i = 1; i < json.size(); ++i)
    order_ << json.at(i).toObject().value(QLatin1String("name")).toString();
  std::vector<fit::Rung> ladder;
  if (const absl::StatusOr<run::RunConfig> plain = fit::PlainRun(asked_); plain.ok())
    if (absl::StatusOr<std::vector<fit::Rung>> made = fit::Ladder(*plain, asked_, asked_order);
        made.ok())
      ladder = *std::move(made);
  BarsAndTable read = ReadBars(
      json,
      [&](size_t at, const QString& name) {
        return at == 0 || at >= ladder.size() ? name : TitleOf(ladder[at], ladder[at - 1].config);
      },
      tr("now"));
  model_->setTable(std::move(read.table));
  bars_->setBars(std::move(read.bars));
  bars_area_->setMaximumHeight(bars_->height());
  // The moved bar stays selected, so that it can be moved again.
  if (const qsizetype at = order_.indexOf(selected_); at >= 0)
    view_->selectRow(static_cast<int>(at) + 1);
  found_ =
      order_.isEmpty()
          ? tr("The run on the left is the model's defaults: no technique is on.")
          : tr("Each bar is the change of the peak when its technique is added to those above it.");
  SayWhatItIs();
}

QJsonObject WaterfallPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("order"), QJsonArray::fromStringList(order_));
  state.insert(QStringLiteral("command"), command());
  return state;
}

}  // namespace vramscope::ui
