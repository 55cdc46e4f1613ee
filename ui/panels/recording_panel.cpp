#include "ui/panels/recording_panel.h"

#include <QGridLayout>
#include <QJsonArray>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "profiler/trace/assumptions.h"
#include "profiler/trace/segment_record.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kFactSpacing = 7;

QPushButton* LinkTo(const QString& text, const QString& tip) {
  auto* button = new QPushButton(text);
  button->setProperty("role", "wide");
  button->setToolTip(tip);
  return button;
}

}  // namespace

RecordingPanel::RecordingPanel(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(15, 12, 15, 10);
  column->setSpacing(10);
  heading_ = MakeLabel(tr("RECORDED FILE"), LabelRole::kHeading);
  column->addWidget(heading_);
  facts_box_ = new QWidget;
  facts_ = MakeFactGrid(facts_box_, kFactSpacing);
  column->addWidget(facts_box_);

  inferred_ = MakeLabel(tr("CATEGORIES"), LabelRole::kHeading);
  inferred_->setContentsMargins(0, 8, 0, 0);
  column->addWidget(inferred_);
  rules_box_ = new QWidget;
  rules_ = MakeFactGrid(rules_box_, kFactSpacing);
  column->addWidget(rules_box_);

  assumed_ = MakeLabel(tr("ASSUMPTIONS"), LabelRole::kHeading);
  assumed_->setContentsMargins(0, 8, 0, 0);
  column->addWidget(assumed_);
  assumed_list_ = new WrappedLabel(LabelRole::kDim);
  column->addWidget(assumed_list_);

  QLabel* next = MakeLabel(tr("ANALYSES"), LabelRole::kHeading);
  next->setContentsMargins(0, 8, 0, 0);
  column->addWidget(next);
  calm_ = MakeLabel({}, LabelRole::kDim);
  calm_->setWordWrap(true);
  column->addWidget(calm_);
  QPushButton* what_if = LinkTo(tr("Try other allocator settings"), {});
  what_if->setObjectName(QStringLiteral("recordingWhatIf"));
  connect(what_if, &QPushButton::clicked, this,
          [this] { Q_EMIT pageRequested(QStringLiteral("what-if")); });
  column->addWidget(what_if);
  what_if_ = what_if;
  QPushButton* plan =
      LinkTo(tr("Plan a run to compare"), tr("Makes the recording the baseline, and shows the "
                                             "settings of a run that you can plan and compare"));
  plan->setObjectName(QStringLiteral("recordingPlan"));
  connect(plan, &QPushButton::clicked, this, &RecordingPanel::planRequested);
  column->addWidget(plan);
  QPushButton* part = LinkTo(tr("Open a part …"), {});
  part->setObjectName(QStringLiteral("recordingPart"));
  connect(part, &QPushButton::clicked, this, &RecordingPanel::partRequested);
  column->addWidget(part);
  part_ = part;
  column->addStretch();
}

void RecordingPanel::setDigest(const Digest& digest, const QString& file, bool partial) {
  shown_ = RecordingFactsOf(digest, file.toStdString());
  const QString what = digest.program()   ? tr("PLANNED PROGRAM")
                       : digest.watched() ? tr("RECORDED PROGRAM")
                                          : tr("RECORDED FILE");
  const QString device = QString::fromStdString(digest.trace->info.device.name);
  heading_->setText(partial ? tr("%1 · OPENING").arg(what) : what);
  calm_->setText(
      digest.program()
          ? tr("Planned on an emulated %1. The program ran with PyTorch's own CUDA code and "
               "allocator, but no kernel ran. To switch a technique on or off, change the program "
               "itself.")
                .arg(device.isEmpty() ? tr("GPU") : device)
          : tr("You cannot switch techniques on or off in a recording."));
  const bool history = !digest.state();
  const std::string no_replay(trace::WhyNoReplay(*digest.trace));
  const bool replays = history && no_replay.empty();
  QString can;
  if (digest.program())
    can = replays ? tr("You can try other allocator settings.") : QString();
  else
    can = replays
              ? tr("You can try other allocator settings, or plan a similar model to compare with.")
              : tr("You can plan a similar model to compare with.");
  if (!can.isEmpty()) calm_->setText(calm_->text() + QLatin1Char(' ') + can);
  what_if_->setEnabled(replays);
  what_if_->setToolTip(
      !history ? tr("A snapshot without history cannot be replayed")
      : no_replay.empty()
          ? tr("Replay the recording under other settings of PYTORCH_CUDA_ALLOC_CONF")
          : QString::fromStdString(no_replay));
  part_->setEnabled(history);
  part_->setToolTip(history ? tr("Choose a device, a range of history entries or a time range")
                            : tr("A snapshot without history has no entries to choose from"));
  QStringList lines;
  if (digest.program() && !partial)
    for (const run::Assumption& a : trace::AssumptionsOf(*digest.trace))
      lines << QStringLiteral("• ") + QString::fromStdString(AssumptionText(a));
  assumed_->setVisible(!lines.isEmpty());
  assumed_list_->setVisible(!lines.isEmpty());
  assumed_list_->setWrappedText(lines.join(QLatin1Char('\n')));
  FillFacts(facts_, shown_.facts, FactStyle::kRightMiddle);
  inferred_->setText(shown_.inferred ? tr("CATEGORIES · INFERRED") : tr("CATEGORIES"));
  inferred_->setVisible(!partial && !shown_.rules.empty());
  rules_box_->setVisible(inferred_->isVisibleTo(this));
  FillFacts(rules_, shown_.rules, FactStyle::kLeft);
}

QJsonObject RecordingPanel::dumpState() const {
  QJsonArray rules;
  for (const Fact& rule : shown_.rules)
    rules.append(QString::fromStdString(rule.label + "  " + rule.value));
  const auto object = [](const std::vector<Fact>& facts) {
    QJsonObject out;
    for (const Fact& fact : facts)
      out[QString::fromStdString(fact.label)] = QString::fromStdString(fact.value);
    return out;
  };
  return {{"heading", heading_->text()},
          {"facts", object(shown_.facts)},
          {"inferred", shown_.inferred},
          {"assumed", assumed_list_->text()},
          {"says", calm_->text()},
          {"rules", rules},
          {"what_if", what_if_->isEnabled()},
          {"part", part_->isEnabled()}};
}

}  // namespace vramscope::ui
