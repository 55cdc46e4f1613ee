#include <fmt/format.h>

#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <algorithm>
#include <cmath>

#include "profiler/run/units.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {
namespace {

constexpr int kProposals = 3;

std::string Bytes(double bytes) {
  return bytes < 0 ? "\u2212" + run::FormatBytes(static_cast<uint64_t>(-bytes))
                   : run::FormatBytes(static_cast<uint64_t>(bytes));
}

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
  budget_->setToolTip(tr("What the device may hold, as 24GiB; empty: its own memory"));
  make_->setToolTip(tr("Plans combinations of techniques; `vramscope fit` does the same"));
  controls_->insertWidget(0, new QLabel(tr("Budget")));
  controls_->insertWidget(1, budget_);
  controls_->insertWidget(2, make_);
  for (int i = 0; i < kProposals; ++i) {
    auto* button = new QPushButton(tr("Use %1").arg(i + 1));
    button->setToolTip(tr("Plans and shows this proposal; Ctrl+Z takes it back"));
    button->hide();
    controls_->insertWidget(3 + i, button);
    connect(button, &QPushButton::clicked, this, [this, i] { apply(i); });
    apply_.push_back(button);
  }
  connect(make_, &QPushButton::clicked, this, &FitPage::makeItFit);
  connect(budget_, &QLineEdit::returnPressed, this, &FitPage::makeItFit);
  view_->setEmptyText(
      tr("What makes the run on the left fit: three combinations of techniques, "
         "every one of them planned."));
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
  // A proposal that was taken is still one of these.
  const std::string now = run::ToJson(config_);
  const bool of_now =
      now == run::ToJson(asked_) ||
      std::ranges::any_of(proposals_, [&](auto& each) { return now == run::ToJson(each); });
  Say(of_now ? found_
             : tr("Of the run before the last change, which \"Use\" takes back: \"Make it fit\" "
                  "plans anew."));
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
  Table table{.columns = {{.title = "Proposal", .width = 220},
                          {.title = "Saves", .number = true},
                          {.title = "Time", .number = true},
                          {.title = "Why", .width = 320}},
              .rows = {}};
  const auto add = [&](std::string name, std::string saves, std::string time, std::string why,
                       bool marked) {
    Row row;
    for (std::string* text : {&name, &saves, &time, &why})
      row.cells.push_back({.text = std::move(*text)});
    row.marked = marked;
    table.rows.push_back(std::move(row));
  };
  const QJsonObject start = result.value(QLatin1String("start")).toObject();
  const bool fits_now = start.value(QLatin1String("fits")).toBool();
  if (!start.isEmpty())
    add(fmt::format("As it is: needs {}", Bytes(start.value(QLatin1String("needed")).toDouble())),
        "", fmt::format("{:.1f} ms", start.value(QLatin1String("step_ms")).toDouble()),
        fits_now ? "fits" : "does not fit", true);
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
    const QString changes = proposal.value(QLatin1String("changes")).toString();
    std::string more = fits ? "fits" : "does not fit";
    more += changes == QLatin1String("nothing")    ? "; the training stays as it is"
            : changes == QLatin1String("rounding") ? "; the same training in fewer bits"
                                                   : "; another training";
    const int batch = proposal.value(QLatin1String("largest_batch")).toInt();
    const int seq = proposal.value(QLatin1String("longest_seq")).toInt();
    if (batch > 0) more += fmt::format("; largest batch {}", batch);
    if (seq > 0) more += fmt::format(", longest sequence {}", seq);
    add(fmt::format("{}. needs {}", proposals_.size(),
                    Bytes(proposal.value(QLatin1String("needed")).toDouble())),
        "", fmt::format("{:.1f} ms", proposal.value(QLatin1String("step_ms")).toDouble()), more,
        true);
    for (const QJsonValue& each : proposal.value(QLatin1String("steps")).toArray()) {
      const QJsonObject step = each.toObject();
      add("   " + step.value(QLatin1String("title")).toString().toStdString(),
          Bytes(step.value(QLatin1String("saves")).toDouble()),
          SignedMs(step.value(QLatin1String("costs_ms")).toDouble()),
          step.value(QLatin1String("why")).toString().toStdString(), false);
    }
  }
  model_->setTable(std::move(table));
  for (size_t i = 0; i < apply_.size(); ++i) apply_[i]->setVisible(i < proposals_.size());
  found_ = fits_now ? tr("It fits as it is. ") : QString();
  found_ += fitting > 0
                ? tr("%1 combinations planned in %2 s.")
                          .arg(result.value(QLatin1String("plans")).toInt())
                          .arg(result.value(QLatin1String("seconds")).toDouble(), 0, 'f', 1) +
                      (result.value(QLatin1String("cut_short")).toBool()
                           ? tr(" Then the time was up: others may fit that change less.")
                           : QString())
                : tr("Nothing that was tried fits; this is the smallest.");
  SayWhatItIs();
}

QJsonObject FitPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("proposals"), static_cast<int>(proposals_.size()));
  state.insert(QStringLiteral("budget"), budget_->text());
  return state;
}

}  // namespace vramscope::ui
