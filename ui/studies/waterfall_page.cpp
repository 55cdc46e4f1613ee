#include <QApplication>
#include <QClipboard>
#include <QJsonArray>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/fit/waterfall.h"
#include "profiler/program/request.h"
#include "profiler/run/toggles.h"
#include "ui/panels/qt_theme.h"
#include "ui/studies/study_controls.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {

namespace {

// Returns the titles of the toggles that `rung` switches on. If it switches on no toggle, returns
// the settings that it changes.
QString TitleOf(const fit::Rung& rung, const run::RunConfig& before) {
  QStringList titles;
  for (const run::ToggleRow& row : run::Toggles())
    if (run::IsOn(*row.toggle, rung.config) && !run::IsOn(*row.toggle, before))
      titles << ToQString(i18n::Text(row.toggle->title));
  if (titles.isEmpty())
    for (const auto& [key, value] : rung.settings)
      titles << QString::fromStdString(key + "=" + value);
  return titles.join(QStringLiteral(", "));
}

QString Joined(const std::vector<std::string>& names) {
  QStringList list;
  for (const std::string& name : names) list << QString::fromStdString(name);
  return list.join(QLatin1Char(','));
}

}  // namespace

WaterfallPage::WaterfallPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "waterfallPage", parent),
      bars_(new WaterfallControls(
          this, {controls_, column_, model_, view_},
          tr("Draw a bar for each technique that leads from the model's defaults to the run on the "
             "left, as `vramscope waterfall` does"),
          [this] {
            bars_->forgetMoved();
            DrawInOrder({});
          },
          [this](const std::vector<std::string>& order) {
            if (!busy()) DrawInOrder(order);
          })) {
  bars_->bars()->setObjectName(QStringLiteral("waterfallBars"));
  bars_->addButton(tr("Copy image"), {}, [this] { QApplication::clipboard()->setPixmap(image()); });
  bars_->addButton(tr("Copy table"), {}, [this] { view_->copySelection(); });
  bars_->addButton(tr("Copy command"), {},
                   [this] { QApplication::clipboard()->setText(command()); });
  view_->setEmptyText(
      tr("Each bar shows how the peak changes when its technique is added. The bars lead from the "
         "model's defaults to the current run."));
}

void WaterfallPage::setConfig(const run::RunConfig& config) {
  StudyPage::setConfig(config);
  SayWhatItIs();
}

void WaterfallPage::SayWhatItIs() {
  if (found_.isEmpty() || busy()) return;
  Say(run::ToJson(config_) == run::ToJson(asked_)
          ? found_
          : tr("These bars are from before your last change. \"Draw\" plans again."));
}

void WaterfallPage::draw() { DrawInOrder(bars_->order()); }

void WaterfallPage::DrawInOrder(const std::vector<std::string>& order) {
  asked_ = config_;
  asked_order_ = order;
  found_.clear();
  QStringList arguments = {QStringLiteral("waterfall")};
  if (!order.empty()) arguments << QStringLiteral("--order") << Joined(order);
  Say(tr("Planning …"));
  Start(arguments, run::ToJson(asked_));
}

void WaterfallPage::setTheme(const timeline::Theme& theme) {
  StudyPage::setTheme(theme);
  bars_->bars()->setTheme(theme);
}

void WaterfallPage::move(int by) { bars_->move(by); }

// Returns the command line. It contains all settings of the run that differ from the model's
// defaults.
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
  if (!bars_->order().empty())
    words.insert(words.end(), {"--order", Joined(bars_->order()).toStdString()});
  return QString::fromStdString(program::JoinWords(words));
}

QPixmap WaterfallPage::image() const { return bars_->bars()->grab(); }

void WaterfallPage::Show(const QJsonObject& result) {
  const QJsonArray json = result.value(QLatin1String("bars")).toArray();
  std::vector<std::string> order;
  for (qsizetype i = 1; i < json.size(); ++i)
    order.push_back(json.at(i).toObject().value(QLatin1String("name")).toString().toStdString());
  std::vector<fit::Rung> ladder;
  if (const absl::StatusOr<run::RunConfig> plain = fit::PlainRun(asked_); plain.ok())
    if (absl::StatusOr<std::vector<fit::Rung>> made = fit::Ladder(*plain, asked_, asked_order_);
        made.ok())
      ladder = *std::move(made);
  BarsAndTable read = ReadBars(
      json,
      [&](size_t at, const QString& name) {
        return at == 0 || at >= ladder.size() ? ToQString(i18n::Text(name.toStdString()))
                                              : TitleOf(ladder[at], ladder[at - 1].config);
      },
      tr("now"));
  bars_->show(std::move(read), std::move(order));
  found_ = bars_->order().empty()
               ? tr("The run on the left has the model's defaults: no technique is on.")
               : tr("Each bar shows how the peak changes when its technique is added to the "
                    "techniques above.");
  SayWhatItIs();
}

QJsonObject WaterfallPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("order"), bars_->orderJson());
  state.insert(QStringLiteral("command"), command());
  return state;
}

}  // namespace vramscope::ui
