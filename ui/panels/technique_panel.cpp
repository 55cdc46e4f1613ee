#include "ui/panels/technique_panel.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/rows.h"
#include "ui/panels/toggle_switch.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

// A smaller part of the peak is noise to a reader: neither green nor red.
constexpr double kNoticeable = 0.01;

}  // namespace

TechniquePanel::TechniquePanel(QWidget* parent) : QWidget(parent), theme_(timeline::Theme::Dark()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);

  auto* head = new QHBoxLayout;
  head->setContentsMargins(0, 0, 0, 0);
  head->addWidget(MakeLabel(tr("TECHNIQUES"), LabelRole::kHeading));
  head->addStretch();
  QLabel* against = MakeLabel(tr("effect on the peak"), LabelRole::kFaint);
  against->setToolTip(
      tr("What each technique does to the peak, everything else as it is now: the peak with it "
         "minus the peak without it.\n"
         "\u2212 in green: it saves memory. + in red: it costs memory. Grey: less than 1 % of the "
         "peak.\n"
         "The sense is the same for rows that are on: \u22121.41 GiB there means that switching it "
         "off would bring 1.41 GiB back.\n"
         "\u201c1.18\u00d7 time\u201d: a step takes 1.18 times as long with it as without it.\n"
         "Computed in the background by planning both."));
  head->addWidget(against);
  column->addLayout(head);

  std::string_view group;
  for (const Technique& technique : Techniques()) {
    if (technique.group != group) {
      group = technique.group;
      QLabel* label = MakeLabel(ToQString(group), LabelRole::kGroup);
      label->setContentsMargins(0, 6, 0, 0);
      column->addWidget(label);
    }
    column->addWidget(MakeRow(technique));
  }
}

QWidget* TechniquePanel::MakeRow(const Technique& technique) {
  auto* widget = new QWidget(this);
  auto* grid = new QGridLayout(widget);
  grid->setContentsMargins(0, 1, 0, 2);
  grid->setHorizontalSpacing(9);
  grid->setVerticalSpacing(0);
  grid->setColumnStretch(1, 1);

  RowWidgets row;
  row.technique = &technique;
  row.toggle = new ToggleSwitch(widget);
  row.toggle->setObjectName(QStringLiteral("toggle-") + ToQString(technique.id));
  row.toggle->setAccessibleName(ToQString(technique.title));
  row.title = MakeLabel(ToQString(technique.title), LabelRole::kBody);
  row.explanation = new WrappedLabel(LabelRole::kDim);
  row.explanation->setWrappedText(ToQString(technique.explanation));
  row.saving = MakeLabel({}, LabelRole::kNumber);
  row.factor = MakeLabel({}, LabelRole::kDim);
  for (QLabel* label : {row.saving, row.factor})
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row.factor->setAlignment(Qt::AlignRight | Qt::AlignTop);
  grid->addWidget(row.toggle, 0, 0);
  grid->addWidget(row.title, 0, 1);
  grid->addWidget(row.saving, 0, 2);
  grid->addWidget(row.explanation, 1, 1);
  grid->addWidget(row.factor, 1, 2);
  row.options = MakeOptions(technique.id);
  if (row.options != nullptr) {
    row.options->hide();
    grid->addWidget(row.options, 2, 1, 1, 2);
  }
  connect(row.toggle, &QAbstractButton::clicked, this, [this, &technique](bool on) {
    Edit(on ? technique.with(config_) : technique.without(config_));
  });
  rows_.insert(ToQString(technique.id), row);
  return widget;
}

QWidget* TechniquePanel::MakeOptions(std::string_view id) {
  if (id != "lora" && id != "checkpoint-k") return nullptr;
  auto* widget = new QWidget(this);
  auto* line = new QHBoxLayout(widget);
  line->setContentsMargins(0, 3, 0, 3);
  line->setSpacing(6);
  if (id == "checkpoint-k") {
    every_ = MakeSpinBox(1, 4096);
    every_->setObjectName(QStringLiteral("checkpoint-k-value"));
    line->addWidget(MakeLabel(tr("layers"), LabelRole::kDim));
    line->addWidget(every_);
    connect(every_, &QSpinBox::valueChanged, this, [this](int k) {
      run::RunConfig config = config_;
      config.checkpointing.k = k;
      Edit(config);
    });
  } else {
    rank_ = MakeSpinBox(1, 4096);
    rank_->setObjectName(QStringLiteral("lora-rank"));
    targets_ = MakeComboBox();
    targets_->setObjectName(QStringLiteral("lora-targets"));
    line->addWidget(MakeLabel(tr("rank"), LabelRole::kDim));
    line->addWidget(rank_);
    line->addWidget(MakeLabel(tr("on"), LabelRole::kDim));
    line->addWidget(targets_, 1);
    connect(rank_, &QSpinBox::valueChanged, this, [this](int rank) {
      run::RunConfig config = config_;
      config.lora.rank = rank;
      Edit(config);
    });
    connect(targets_, &QComboBox::activated, this, [this](int index) {
      const std::vector<LoraTargets> choices = LoraTargetChoices(config_);
      if (index < 0 || index >= static_cast<int>(choices.size())) return;
      run::RunConfig config = config_;
      config.lora.targets = choices[static_cast<size_t>(index)].names;
      Edit(config);
    });
  }
  line->addStretch();
  return widget;
}

void TechniquePanel::Edit(const run::RunConfig& config) {
  Q_EMIT configEdited(config);
  setConfig(config_);  // what it is now: the window may have said no
}

void TechniquePanel::setConfig(const run::RunConfig& config) {
  config_ = config;
  for (RowWidgets& row : rows_) {
    const bool on = row.technique->on(config);
    const QString why = QString::fromStdString(row.technique->blocked(config));
    // What is on can always be switched off.
    const bool enabled = on || why.isEmpty();
    row.toggle->setChecked(on);
    row.toggle->setEnabled(enabled);
    row.title->setEnabled(enabled);
    row.explanation->setWrappedText(enabled ? ToQString(row.technique->explanation) : why);
    row.toggle->setToolTip(enabled ? QString() : why);
    if (row.known) row.saving->setToolTip(ExplainSaving(row));
    if (row.options != nullptr) row.options->setVisible(on);
  }
  const QSignalBlocker block_every(every_), block_rank(rank_), block_targets(targets_);
  every_->setValue(config.checkpointing.k);
  rank_->setValue(std::max(1, config.lora.rank));
  targets_->clear();
  const std::vector<LoraTargets> choices = LoraTargetChoices(config);
  int chosen = -1;
  for (size_t i = 0; i < choices.size(); ++i) {
    targets_->addItem(ToQString(choices[i].label));
    if (choices[i].names == config.lora.targets) chosen = static_cast<int>(i);
  }
  if (chosen < 0) {
    QStringList names;
    for (const std::string& name : config.lora.targets) names << QString::fromStdString(name);
    targets_->addItem(names.join(QStringLiteral(", ")));
    chosen = targets_->count() - 1;
  }
  targets_->setCurrentIndex(chosen);
}

void TechniquePanel::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  for (RowWidgets& row : rows_) {
    row.toggle->setTheme(theme);
    ColorSaving(row);
  }
}

void TechniquePanel::ColorSaving(RowWidgets& row) {
  const char* tone = "faint";
  if (row.known) {
    const double part = row.known->without > 0 ? static_cast<double>(row.known->bytes) /
                                                     static_cast<double>(row.known->without)
                                               : 0;
    tone = part <= -kNoticeable ? "good" : part >= kNoticeable ? "bad" : "faint";
  }
  SetTone(row.saving, tone);
}

// "On. Without it the peak would be 12.073 GiB in place of 10.664 GiB (−1,512,345,600 B)."
QString TechniquePanel::ExplainSaving(const RowWidgets& row) const {
  const int64_t bytes = row.known->bytes;
  const QString with = QString::fromStdString(timeline::FormatBytes(
      static_cast<uint64_t>(static_cast<int64_t>(row.known->without) + bytes)));
  const QString without = QString::fromStdString(timeline::FormatBytes(row.known->without));
  const QString difference = QLocale(QLocale::C).toString(qint64{bytes});
  return row.toggle->isChecked() ? tr("It is on: the peak is %1; switched off it would be %2.\n"
                                      "Difference with it: %3 bytes.")
                                       .arg(with, without, difference)
                                 : tr("It is off: the peak is %1; switched on it would be %2.\n"
                                      "Difference with it: %3 bytes.")
                                       .arg(without, with, difference);
}

void TechniquePanel::setSaving(const QString& id, std::optional<Saving> saving,
                               const QString& instead, const QString& why) {
  const auto at = rows_.find(id);
  if (at == rows_.end()) return;
  RowWidgets& row = *at;
  row.known = saving;
  if (saving) {
    row.saving->setText(QString::fromStdString(FormatSaving(saving->bytes)));
    row.saving->setToolTip(ExplainSaving(row));
    row.factor->setToolTip(row.saving->toolTip());
    row.factor->setText(saving->factor > 0 ? QString::fromStdString(FormatFactor(saving->factor))
                                           : QString());
  } else {
    row.saving->setText(instead);
    row.saving->setToolTip(why);
    row.factor->setToolTip({});
    row.factor->clear();
  }
  ColorSaving(row);
}

ToggleSwitch* TechniquePanel::toggle(const QString& id) const {
  const auto at = rows_.find(id);
  return at == rows_.end() ? nullptr : at->toggle;
}

QJsonArray TechniquePanel::dumpState() const {
  QJsonArray out;
  for (const Technique& technique : Techniques()) {
    const RowWidgets row = rows_.value(ToQString(technique.id));
    QJsonObject object{
        {"id", ToQString(technique.id)},          {"group", ToQString(technique.group)},
        {"on", row.toggle->isChecked()},          {"enabled", row.toggle->isEnabled()},
        {"explanation", row.explanation->text()}, {"saving", row.saving->text()},
        {"saving_why", row.saving->toolTip()},    {"time", row.factor->text()}};
    if (row.known) object["saving_bytes"] = static_cast<double>(row.known->bytes);
    if (!row.toggle->isEnabled()) object["reason"] = row.explanation->text();
    out.append(object);
  }
  return out;
}

}  // namespace vramscope::ui
