#include <fmt/format.h>

#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
#include "ui/studies/fit_rows.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {
namespace {

constexpr int kProposals = 3;

std::string SignedMs(double ms) {
  return fmt::format("{}{:.1f} ms", ms < 0 ? "\u2212" : "+", std::abs(ms));
}

}  // namespace

FitPage::FitPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "fitPage", parent),
      budget_(new QLineEdit),
      make_(new QPushButton(tr("Make it fit"))) {
  budget_->setMaximumWidth(90);
  budget_->setObjectName(QStringLiteral("fitBudget"));
  budget_->setToolTip(tr("Memory budget, for example 24GiB; empty: the device's memory"));
  make_->setToolTip(tr("Plan combinations of techniques, as `vramscope fit` does"));
  controls_->insertWidget(0, new QLabel(tr("Budget")));
  controls_->insertWidget(1, budget_);
  controls_->insertWidget(2, make_);
  for (int i = 0; i < kProposals; ++i) {
    auto* button = new QPushButton(tr("Use %1").arg(i + 1));
    button->setToolTip(tr("Plan and show this proposal; Ctrl+Z undoes it"));
    button->hide();
    controls_->insertWidget(3 + i, button);
    connect(button, &QPushButton::clicked, this, [this, i] { apply(i); });
    apply_.push_back(button);
  }
  connect(make_, &QPushButton::clicked, this, &FitPage::makeItFit);
  connect(budget_, &QLineEdit::returnPressed, this, &FitPage::makeItFit);
  view_->setEmptyText(
      tr("Combinations of techniques that make the run on the left fit; each one is planned."));
}

void FitPage::setConfig(const run::RunConfig& config) {
  StudyPage::setConfig(config);
  const absl::StatusOr<run::DeviceProfile> device = run::ResolveDevice(config);
  if (device.ok())
    budget_->setPlaceholderText(QString::fromStdString(run::FormatBytes(device->memory_bytes)));
  SayWhatItIs();
}

void FitPage::SayWhatItIs() {
  if (found_.isEmpty() || busy()) return;
  // If the run is one of the proposals, it was applied from this page, so the result is still
  // valid.
  const std::string now = run::ToJson(config_);
  const bool of_now =
      now == run::ToJson(asked_) ||
      std::ranges::any_of(proposals_, [&](auto& each) { return now == run::ToJson(each); });
  Say(of_now ? found_
             : tr("These results precede your last change. \"Use\" undoes that change; \"Make it "
                  "fit\" plans again."));
}

void FitPage::makeItFit() {
  QString budget = budget_->text().trimmed();
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
  const bool fits_now = AddStartRow(table, result.value(QLatin1String("start")).toObject());
  int fitting = 0;
  for (const QJsonValue& value : result.value(QLatin1String("proposals")).toArray()) {
    const QJsonObject proposal = value.toObject();
    run::RunConfigBuilder builder(asked_);
    const QJsonObject settings = proposal.value(QLatin1String("settings")).toObject();
    for (auto it = settings.begin(); it != settings.end(); ++it)
      (void)builder.Set(it.key().toStdString(), it.value().toString().toStdString());
    const absl::StatusOr<run::RunConfig> config = builder.Build();
    if (!config.ok()) continue;
    proposals_.push_back(*config);
    const bool fits = proposal.value(QLatin1String("fits")).toBool();
    fitting += fits ? 1 : 0;
    std::string more = FitVerdict(proposal);
    const int batch = proposal.value(QLatin1String("largest_batch")).toInt();
    const int seq = proposal.value(QLatin1String("longest_seq")).toInt();
    if (batch > 0) more += i18n::Format("; largest batch {}", batch);
    if (seq > 0) more += i18n::Format(", longest sequence {}", seq);
    AddFitRow(table,
              i18n::Format("{}. needs {}", proposals_.size(),
                           SignedSize(proposal.value(QLatin1String("needed")).toDouble())),
              "", fmt::format("{:.1f} ms", proposal.value(QLatin1String("step_ms")).toDouble()),
              more, true);
    for (const QJsonValue& each : proposal.value(QLatin1String("steps")).toArray()) {
      const QJsonObject step = each.toObject();
      AddFitRow(table, "   " + step.value(QLatin1String("title")).toString().toStdString(),
                SignedSize(step.value(QLatin1String("saves")).toDouble()),
                SignedMs(step.value(QLatin1String("costs_ms")).toDouble()),
                step.value(QLatin1String("why")).toString().toStdString(), false);
    }
  }
  model_->setTable(std::move(table));
  for (size_t i = 0; i < apply_.size(); ++i) apply_[i]->setVisible(i < proposals_.size());
  found_ = fits_now ? tr("It already fits. ") : QString();
  found_ += fitting > 0
                ? tr("%1 combinations planned in %2 s.")
                          .arg(result.value(QLatin1String("plans")).toInt())
                          .arg(result.value(QLatin1String("seconds")).toDouble(), 0, 'f', 1) +
                      (result.value(QLatin1String("cut_short")).toBool()
                           ? tr(" The time limit was reached: other combinations may fit with "
                                "smaller changes.")
                           : QString())
                : tr("None of the combinations fits; this is the smallest.");
  SayWhatItIs();
}

QJsonObject FitPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("proposals"), static_cast<int>(proposals_.size()));
  state.insert(QStringLiteral("budget"), budget_->text());
  return state;
}

}  // namespace vramscope::ui
