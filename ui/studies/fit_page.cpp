#include <fmt/format.h>

#include <QJsonArray>
#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
#include "ui/studies/fit_rows.h"
#include "ui/studies/study_controls.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {
namespace {

std::string SignedMs(double ms) {
  return fmt::format("{}{:.1f} ms", ms < 0 ? "\u2212" : "+", std::abs(ms));
}

}  // namespace

FitPage::FitPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "fitPage", parent),
      fit_(new FitControls(
          this, controls_,
          {.name = "fitBudget",
           .budget_tip = tr("Memory budget, for example 24GiB. If empty, the device's memory"),
           .make_tip = tr("Plan combinations of techniques, as `vramscope fit` does"),
           .use = tr("Use %1"),
           .use_tip = tr("Plan and show this proposal; Ctrl+Z undoes it")},
          [this] { makeItFit(); }, [this](int proposal) { apply(proposal); })) {
  view_->setEmptyText(
      tr("Combinations of techniques with which the run on the left fits. Each combination is "
         "planned."));
}

void FitPage::setConfig(const run::RunConfig& config) {
  StudyPage::setConfig(config);
  const absl::StatusOr<run::DeviceProfile> device = run::ResolveDevice(config);
  if (device.ok())
    fit_->setDefaultBudget(QString::fromStdString(run::FormatBytes(device->memory_bytes)));
  SayWhatItIs();
}

void FitPage::SayWhatItIs() {
  if (found_.isEmpty() || busy()) return;
  // The result is also valid if the run equals one of its proposals, because the user has then
  // applied the proposal.
  const std::string now = run::ToJson(config_);
  const bool of_now =
      now == run::ToJson(asked_) ||
      std::ranges::any_of(proposals_, [&](auto& each) { return now == run::ToJson(each); });
  Say(of_now ? found_
             : tr("These results are from before your last change. \"Use\" undoes that change; "
                  "\"Make it fit\" plans again."));
}

void FitPage::makeItFit() {
  QString budget = fit_->budget();
  if (budget.isEmpty()) {
    const absl::StatusOr<run::DeviceProfile> device = run::ResolveDevice(config_);
    if (!device.ok()) return Say(QString::fromStdString(std::string(device.status().message())));
    budget = QString::number(device->memory_bytes);
  }
  asked_ = config_;
  found_.clear();
  Say(tr("Planning combinations …"));
  Start({QStringLiteral("fit"), QStringLiteral("--budget"), budget}, run::ToJson(asked_));
}

void FitPage::apply(int proposal) {
  if (proposal < 0 || proposal >= static_cast<int>(proposals_.size())) return;
  Q_EMIT editRequested(proposals_[static_cast<size_t>(proposal)]);
}

void FitPage::Show(const QJsonObject& result) {
  proposals_.clear();
  Table table = FitTable();
  AddStartRow(table, result.value(QLatin1String("start")).toObject());
  for (const QJsonValue& value : result.value(QLatin1String("proposals")).toArray()) {
    const QJsonObject proposal = value.toObject();
    run::RunConfigBuilder builder(asked_);
    const QJsonObject settings = proposal.value(QLatin1String("settings")).toObject();
    for (auto it = settings.begin(); it != settings.end(); ++it)
      (void)builder.Set(it.key().toStdString(), it.value().toString().toStdString());
    const absl::StatusOr<run::RunConfig> config = builder.Build();
    if (!config.ok()) continue;
    proposals_.push_back(*config);
    std::string more = FitVerdict(proposal);
    const int batch = proposal.value(QLatin1String("largest_batch")).toInt();
    const int seq = proposal.value(QLatin1String("longest_seq")).toInt();
    if (batch > 0) more += i18n::Format("; largest batch {}", batch);
    if (seq > 0) more += i18n::Format(", longest sequence {}", seq);
    AddFitRow(table,
              i18n::Format("{}. Needs {}", proposals_.size(),
                           SignedSize(proposal.value(QLatin1String("needed")).toDouble())),
              "", fmt::format("{:.1f} ms", proposal.value(QLatin1String("step_ms")).toDouble()),
              more, true);
    for (const QJsonValue& each : proposal.value(QLatin1String("steps")).toArray()) {
      const QJsonObject step = each.toObject();
      AddFitRow(table, "   " + ShownText(step, "title"),
                SignedSize(step.value(QLatin1String("saves")).toDouble()),
                SignedMs(step.value(QLatin1String("costs_ms")).toDouble()), ShownText(step, "why"),
                false);
    }
  }
  model_->setTable(std::move(table));
  fit_->showProposals(proposals_.size());
  found_ = FitControls::found(result, tr("No combination of techniques could be planned."));
  SayWhatItIs();
}

QJsonObject FitPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("proposals"), static_cast<int>(proposals_.size()));
  state.insert(QStringLiteral("budget"), fit_->budget());
  return state;
}

}  // namespace vramscope::ui
