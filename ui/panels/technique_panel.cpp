#include "ui/panels/technique_panel.h"

#include <fmt/format.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <string_view>

#include "profiler/run/facts.h"
#include "ui/language/language.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/rows.h"
#include "ui/panels/toggle_switch.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

// An effect below this fraction of the peak is shown in grey, not in green or red.
constexpr double kNoticeable = 0.01;
constexpr QLatin1String kGroupWord("group:");
// Settings that this panel does not show, because the run's form edits them (run_panel.h).
constexpr std::string_view kOfTheRunForm[] = {"optimizer.name", "optimizer.impl"};

// Returns whether a row of the list of toggles sets `key` to `value`.
bool SetByARow(const std::string& key, const std::string& value) {
  return std::ranges::any_of(run::Toggles(), [&](const run::ToggleRow& row) {
    return std::ranges::any_of(row.toggle->ways, [&](const run::SettingValues& way) {
      return std::ranges::any_of(
          way, [&](const auto& set) { return set.first == key && set.second == value; });
    });
  });
}

bool HasItsOwnControl(const std::string& key) {
  return std::ranges::find(kOfTheRunForm, key) != std::end(kOfTheRunForm) ||
         std::ranges::any_of(run::Toggles(), [&](const run::ToggleRow& row) {
           return std::ranges::find(row.toggle->controls, key) != row.toggle->controls.end();
         });
}

constexpr int kWidestOfTwo = 80;  // maximum width in pixels of a label if two numbers share a line

// Returns the words that a search compares: the English texts and their translations.
std::string WordsOf(const run::TechniqueDeclaration& technique, const run::Toggle* row) {
  QString shown = Translated(technique.title) + QLatin1Char(' ') +
                  Translated(technique.explanation) + QLatin1Char(' ') +
                  Translated(technique.group);
  if (row != nullptr)
    shown +=
        QLatin1Char(' ') + Translated(row->title) + QLatin1Char(' ') + Translated(row->explanation);
  return run::SearchText(technique, row) + " " + shown.toLower().toStdString();
}

// Returns the setting's label or, without one, the end of its key: "lr" for "optimizer.lr".
QString LabelOf(const run::SettingDeclaration& setting) {
  return setting.label.empty() ? ToQString(setting.key.substr(setting.key.rfind('.') + 1))
                               : Translated(setting.label);
}

// Returns whether a row of the list is on or off depending on the value of `key`.
bool SwitchesARow(const std::string& key) {
  return std::ranges::any_of(run::Toggles(), [&](const run::ToggleRow& row) {
    return std::ranges::any_of(row.toggle->on,
                               [&](const run::Condition& c) { return c.key == key; });
  });
}

// Gives the label a fixed size that is at least as wide as `text` and never shrinks, so that the
// layout stays valid when the label's figures change, which is often.
void KeepSize(QLabel* label, const QString& text) {
  const QFontMetrics metrics(label->font());
  const int width = std::max(metrics.horizontalAdvance(text) + 2, label->minimumWidth());
  if (width > label->minimumWidth() || label->minimumHeight() == 0)
    label->setFixedSize(width, metrics.height());
}

// Returns the settings of a technique that no toggle's row covers: they have a value that no toggle
// sets, and no control in such a row. They get a row of their own, which is always open.
std::vector<std::string> OtherSettings(const run::TechniqueDeclaration& technique) {
  std::vector<std::string> out;
  for (const run::SettingDeclaration& setting : technique.settings) {
    if (HasItsOwnControl(setting.key)) continue;
    const bool by_rows =
        setting.kind == run::ValueKind::kChoice &&
        std::ranges::all_of(setting.choices, [&](const run::Choice& choice) {
          return choice.value == setting.default_value || SetByARow(setting.key, choice.value);
        });
    if (!by_rows) out.push_back(setting.key);
  }
  return out;
}

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
      tr("The effect of each technique on the peak, if all other settings stay the same: the peak "
         "with the technique minus the peak without the technique.\nGreen with −: the technique "
         "saves memory. Red with +: the technique costs memory. Grey: the effect is less than 1 % "
         "of the peak.\nIf the technique is on, −1.41 GiB means that turning it off would add 1.41 "
         "GiB.\n“1.18× time” means that a step takes 1.18 times as long with the technique as "
         "without it.\nThese values are computed in the background, from plans with and without "
         "the technique."));
  head->addWidget(against);
  column->addLayout(head);

  filter_ = new QLineEdit;
  filter_->setObjectName(QStringLiteral("technique-filter"));
  filter_->setPlaceholderText(tr("Search techniques"));
  filter_->setClearButtonEnabled(true);
  filter_->setAccessibleName(tr("Search techniques"));
  filter_->setToolTip(
      tr("Finds words in titles, explanations and keys. “group:precision” shows all techniques of "
         "a group"));
  column->addSpacing(5);
  column->addWidget(filter_);
  connect(filter_, &QLineEdit::textChanged, this, &TechniquePanel::ApplyFilter);
  auto* nothing = new WrappedLabel(LabelRole::kDim);
  nothing_ = nothing;
  nothing_->hide();
  column->addWidget(nothing_);

  std::vector<std::string_view> names;
  for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques)
    if (std::ranges::find(names, technique.group) == names.end()) names.push_back(technique.group);
  QStringList known;
  for (const std::string_view group : names) known << Translated(std::string(group));
  nothing->setWrappedText(
      tr("No technique matches. To change the model, device, batch, sequence, micro-batches, steps "
         "or optimizer, use the fields above. Groups of techniques: %1.")
          .arg(known.join(QStringLiteral(", "))));
  for (const std::string_view group : names) {
    QLabel* label = MakeLabel(Translated(std::string(group)), LabelRole::kGroup);
    label->setContentsMargins(0, 8, 0, 2);
    column->addWidget(label);
    groups_.emplace_back(group, label);
    for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques)
      if (technique.group == group) AddTechnique(technique, *column);
  }
}

void TechniquePanel::AddTechnique(const run::TechniqueDeclaration& technique, QVBoxLayout& column) {
  for (const run::Toggle& toggle : technique.toggles) {
    column.addWidget(MakeRow(toggle));
    RowWidgets& made = rows_[ToQString(toggle.id)];
    made.words = WordsOf(technique, &toggle);
    made.widget->setToolTip(Translated(technique.explanation));
  }
  const std::vector<std::string> others = OtherSettings(technique);
  if (others.empty()) return;
  auto* widget = new QWidget(this);
  auto* lines = new QVBoxLayout(widget);
  lines->setContentsMargins(0, 3, 0, 4);
  lines->setSpacing(0);
  auto* title = new WrappedLabel(LabelRole::kBody);
  title->setWrappedText(technique.toggles.empty()
                            ? Translated(technique.title)
                            : tr("%1: settings").arg(Translated(technique.title)));
  lines->addWidget(title);
  // A technique with toggles needs no explanation here, because the rows of its toggles have one.
  if (technique.toggles.empty()) {
    auto* explanation = new WrappedLabel(LabelRole::kDim);
    explanation->setWrappedText(Translated(technique.explanation));
    lines->addWidget(explanation);
  } else {
    widget->setToolTip(Translated(technique.explanation));
  }
  lines->addWidget(MakeControls(others));
  column.addWidget(widget);
  settings_rows_.push_back({&technique, widget, WordsOf(technique, nullptr), others});
}

QWidget* TechniquePanel::MakeRow(const run::Toggle& technique) {
  auto* widget = new QWidget(this);
  auto* grid = new QGridLayout(widget);
  grid->setContentsMargins(0, 1, 0, 2);
  grid->setHorizontalSpacing(9);
  grid->setVerticalSpacing(0);
  grid->setColumnStretch(1, 1);

  RowWidgets row;
  row.row = &technique;
  row.toggle = new ToggleSwitch(widget);
  row.toggle->setObjectName(QStringLiteral("toggle-") + ToQString(technique.id));
  row.toggle->setAccessibleName(Translated(technique.title));
  row.title = new WrappedLabel(LabelRole::kBody);
  row.title->setWrappedText(Translated(technique.title));
  row.explanation = new WrappedLabel(LabelRole::kDim);
  row.explanation->setWrappedText(Translated(technique.explanation));
  row.saving = MakeLabel({}, LabelRole::kNumber);
  row.factor = MakeLabel({}, LabelRole::kDim);
  row.saving->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row.factor->setAlignment(Qt::AlignRight | Qt::AlignTop);
  KeepSize(row.saving, QStringLiteral("\u22120.00 GiB"));
  KeepSize(row.factor, QStringLiteral("0.00\u00d7 time"));
  grid->addWidget(row.toggle, 0, 0);
  grid->addWidget(row.title, 0, 1);
  grid->addWidget(row.saving, 0, 2, Qt::AlignRight);
  grid->addWidget(row.explanation, 1, 1);
  grid->addWidget(row.factor, 1, 2, Qt::AlignRight | Qt::AlignTop);
  row.options = MakeControls(technique.controls);
  if (row.options != nullptr) {
    row.options->hide();
    grid->addWidget(row.options, 2, 1, 1, 2);
  }
  connect(row.toggle, &QAbstractButton::clicked, this, [this, &technique] { Switch(technique); });
  connect(row.toggle, &ToggleSwitch::mouseClicked, this, &TechniquePanel::switchedByMouse);
  row.widget = widget;
  rows_.insert(ToQString(technique.id), row);
  return widget;
}

QWidget* TechniquePanel::MakeControls(const std::vector<std::string>& keys) {
  if (keys.empty()) return nullptr;
  auto* widget = new QWidget(this);
  auto* grid = new QGridLayout(widget);
  grid->setContentsMargins(0, 3, 0, 3);
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(3);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 1);
  // Two controls for numbers with short names share a line. A wider control has its own line.
  int cell = 0;
  for (const std::string& key : keys) {
    Control control{.setting = run::FindSetting(key)};
    if (control.setting == nullptr) continue;
    const run::SettingDeclaration& setting = *control.setting;
    const bool text = setting.kind == run::ValueKind::kText;
    QLabel* label = MakeLabel(LabelOf(setting), LabelRole::kDim);
    const bool number =
        setting.kind == run::ValueKind::kInteger || setting.kind == run::ValueKind::kNumber;
    const bool wide = !number || label->sizeHint().width() > kWidestOfTwo;
    if (wide) cell += cell % 2;
    label->setToolTip(Translated(setting.help));
    grid->addWidget(label, cell / 2, cell % 2 * 2);
    QWidget* shown = nullptr;
    if (setting.kind == run::ValueKind::kInteger) {
      // If 0 switches the row off, the control of a row that is on offers numbers from 1.
      const int low = static_cast<int>(setting.low);
      shown = control.box =
          MakeSpinBox(SwitchesARow(key) ? std::max(1, low) : low, static_cast<int>(setting.high));
      connect(control.box, &QSpinBox::valueChanged, this,
              [this, key](int value) { EditSetting(key, std::to_string(value)); });
    } else if (setting.kind == run::ValueKind::kNumber) {
      shown = control.number = MakeNumberBox(setting.low, setting.high);
      connect(control.number, &QDoubleSpinBox::valueChanged, this,
              [this, key](double value) { EditSetting(key, fmt::format("{}", value)); });
    } else {
      shown = control.list = MakeComboBox();
      connect(control.list, &QComboBox::activated, this, [this, key, list = control.list](int i) {
        EditSetting(key, list->itemData(i).toString().toStdString());
      });
      // The user can choose from the list of usual values, or type a name or path.
      if (text) {
        control.list->setEditable(true);
        control.list->setInsertPolicy(QComboBox::NoInsert);
        QLineEdit* edit = control.list->lineEdit();
        edit->setPlaceholderText(Translated(setting.help));
        connect(edit, &QLineEdit::editingFinished, this, [this, key, list = control.list] {
          const QString text = list->currentText().trimmed();
          const int known = list->findText(text);
          const QString value = known >= 0 ? list->itemData(known).toString() : text;
          if (value.toStdString() != config_.Get(key)) EditSetting(key, value.toStdString());
        });
      }
    }
    shown->setObjectName(QStringLiteral("setting-") + ToQString(key));
    shown->setToolTip(Translated(setting.help));
    grid->addWidget(shown, cell / 2, cell % 2 * 2 + 1, 1, wide ? 3 : 1);
    cell += wide ? 2 : 1;
    control.widget = shown;
    controls_.push_back(control);
  }
  return widget;
}

void TechniquePanel::EditSetting(const std::string& key, const std::string& value) {
  run::RunConfigBuilder builder(config_);
  absl::Status status = builder.Set(key, value);
  const absl::StatusOr<run::RunConfig> config = builder.Build();
  if (status.ok()) status = config.status();
  if (status.ok()) return Edit(*config);
  Q_EMIT refused(ToQString(std::string(status.message())));
  setConfig(config_);
}

void TechniquePanel::ShowValue(Control& control) {
  const run::SettingDeclaration& setting = *control.setting;
  const std::string& value = config_.Get(setting.key);
  if (control.box != nullptr) {
    const QSignalBlocker block(control.box);
    control.box->setValue(static_cast<int>(config_.Integer(setting.key)));
  } else if (control.number != nullptr) {
    const QSignalBlocker block(control.number);
    control.number->setValue(config_.Number(setting.key));
  } else {
    const QSignalBlocker block(control.list);
    std::vector<run::Choice> offered = run::ChoicesOf(setting, config_);
    // Add the present value if it is not in the list. It was set elsewhere, such as in a file.
    if (std::ranges::find(offered, value, &run::Choice::value) == offered.end())
      offered.push_back({.value = value});
    if (!std::ranges::equal(offered, control.offered, {}, &run::Choice::value,
                            &run::Choice::value)) {
      control.list->clear();
      for (const run::Choice& choice : offered) {
        control.list->addItem(
            choice.title.empty() ? ToQString(choice.value) : Translated(choice.title),
            ToQString(choice.value));
      }
      control.offered = std::move(offered);
    }
    const int at = control.list->findData(ToQString(value));
    control.list->setCurrentIndex(at);
    // If the user's text was refused, show the value again.
    if (control.list->isEditable()) control.list->setEditText(control.list->itemText(at));
  }
}

void TechniquePanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::LanguageChange) return;
  for (const run::ToggleRow& each : run::Toggles())
    rows_[ToQString(each.toggle->id)].words = WordsOf(*each.technique, each.toggle);
  for (SettingsRow& row : settings_rows_) row.words = WordsOf(*row.technique, nullptr);
  ApplyFilter();
}

void TechniquePanel::setFilter(const QString& text) { filter_->setText(text); }

void TechniquePanel::ApplyFilter() {
  const QStringList words = filter_->text().toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  std::set<std::string> groups;
  std::vector<std::string> of_text;
  QStringList of_group;
  for (const QString& word : words) {
    if (word.startsWith(kGroupWord))
      of_group << word.mid(kGroupWord.size());
    else
      of_text.push_back(word.toStdString());
  }
  const auto show = [&](QWidget* widget, const std::string& text, const std::string& group) {
    const bool found =
        run::HasWords(text, of_text) && std::ranges::all_of(of_group, [&](const QString& word) {
          return ToQString(group).toLower().startsWith(word);
        });
    widget->setVisible(found);
    if (found) groups.insert(group);
  };
  for (const run::ToggleRow& each : run::Toggles()) {
    const RowWidgets& row = rows_[ToQString(each.toggle->id)];
    show(row.widget, row.words, each.technique->group);
  }
  for (const SettingsRow& row : settings_rows_) show(row.widget, row.words, row.technique->group);
  for (auto& [group, label] : groups_) label->setVisible(groups.contains(group));
  nothing_->setVisible(groups.empty());
  QStringList ids;
  if (!words.isEmpty())
    for (const run::ToggleRow& each : run::Toggles())
      if (const QString id = ToQString(each.toggle->id); !rows_[id].widget->isHidden()) ids << id;
  Q_EMIT searched(ids);
}

void TechniquePanel::Switch(const run::Toggle& technique) {
  Edit(run::IsOn(technique, config_) ? run::SwitchedOff(technique, config_)
                                     : run::SwitchedOn(technique, config_));
}

void TechniquePanel::Edit(const run::RunConfig& config) {
  told_ = false;
  Q_EMIT configEdited(config);
  if (!told_) setConfig(config_);  // edit not accepted: show the present values again
}

void TechniquePanel::setConfig(const run::RunConfig& config) {
  told_ = true;
  config_ = config;
  for (RowWidgets& row : rows_) {
    const bool on = run::IsOn(*row.row, config);
    const QString why =
        on ? QString() : QString::fromStdString(run::BlockedBecause(*row.row, config));
    // A row that is on must stay enabled, so that the user can switch it off.
    const bool possible = on || why.isEmpty();
    const bool enabled =
        possible && (!available_ || available_(on ? run::SwitchedOff(*row.row, config)
                                                  : run::SwitchedOn(*row.row, config)));
    row.toggle->setChecked(on);
    row.toggle->setEnabled(enabled);
    row.title->setEnabled(enabled);
    row.explanation->setWrappedText(possible ? Translated(row.row->explanation) : why);
    row.toggle->setToolTip(enabled ? QString() : possible ? unavailable_ : why);
    if (row.known) row.saving->setToolTip(ExplainSaving(row));
    if (row.options != nullptr) row.options->setVisible(on);
  }
  for (Control& control : controls_) ShowValue(control);
}

void TechniquePanel::setAvailable(std::function<bool(const run::RunConfig&)> available,
                                  const QString& why) {
  if (!available && !available_) return;
  available_ = std::move(available);
  unavailable_ = why;
  for (Control& control : controls_) {
    control.widget->setEnabled(!available_);
    control.widget->setToolTip(available_ ? unavailable_ : Translated(control.setting->help));
  }
  setConfig(config_);
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

// Returns a text such as "It is on: the peak is 10.664 GiB; turned off it would be 12.073 GiB."
QString TechniquePanel::ExplainSaving(const RowWidgets& row) const {
  const int64_t bytes = row.known->bytes;
  const QString with = QString::fromStdString(timeline::FormatBytes(
      static_cast<uint64_t>(static_cast<int64_t>(row.known->without) + bytes)));
  const QString without = QString::fromStdString(timeline::FormatBytes(row.known->without));
  const QString difference = QLocale(QLocale::C).toString(qint64{bytes});
  return row.toggle->isChecked() ? tr("The technique is on, and the peak is %1. Without the "
                                      "technique, the peak would be %2.\nDifference: %3 bytes.")
                                       .arg(with, without, difference)
                                 : tr("The technique is off, and the peak is %1. With the "
                                      "technique, the peak would be %2.\nDifference: %3 bytes.")
                                       .arg(without, with, difference);
}

void TechniquePanel::setSaving(const QString& id, std::optional<Saving> saving,
                               const QString& instead, const QString& why) {
  const auto at = rows_.find(id);
  if (at == rows_.end()) return;
  RowWidgets& row = *at;
  row.known = saving;
  row.saving->setText(saving ? QString::fromStdString(FormatSaving(saving->bytes)) : instead);
  row.saving->setToolTip(saving ? ExplainSaving(row) : why);
  row.factor->setText(saving && saving->factor > 0
                          ? QString::fromStdString(FormatFactor(saving->factor))
                          : QString());
  row.factor->setToolTip(saving ? row.saving->toolTip() : QString());
  KeepSize(row.saving, row.saving->text());
  KeepSize(row.factor, row.factor->text());
  ColorSaving(row);
}

ToggleSwitch* TechniquePanel::toggle(const QString& id) const {
  const auto at = rows_.find(id);
  return at == rows_.end() ? nullptr : at->toggle;
}

QJsonObject TechniquePanel::DumpControls(const std::vector<std::string>& keys) const {
  QJsonObject out;  // the enabled settings and the values that their controls display
  for (const Control& control : controls_) {
    if (std::ranges::find(keys, control.setting->key) == keys.end()) continue;
    if (!control.widget->isVisibleTo(this)) continue;
    out[ToQString(control.setting->key)] = control.box != nullptr ? control.box->text()
                                           : control.number != nullptr
                                               ? control.number->text()
                                               : control.list->currentText();
  }
  return out;
}

QJsonArray TechniquePanel::dumpState() const {
  QJsonArray out;
  for (const run::ToggleRow& each : run::Toggles()) {
    const RowWidgets row = rows_.value(ToQString(each.toggle->id));
    QJsonObject object{{"title", row.title->text()},
                       {"settings", DumpControls(each.toggle->controls)},
                       {"id", ToQString(each.toggle->id)},
                       {"group", ToQString(each.technique->group)},
                       {"on", row.toggle->isChecked()},
                       {"enabled", row.toggle->isEnabled()},
                       {"explanation", row.explanation->text()},
                       {"saving", row.saving->text()},
                       {"saving_why", row.saving->toolTip()},
                       {"time", row.factor->text()},
                       {"found", !row.widget->isHidden()}};
    if (row.known) object["saving_bytes"] = static_cast<double>(row.known->bytes);
    if (!row.toggle->isEnabled()) object["reason"] = row.toggle->toolTip();
    out.append(object);
  }
  for (const SettingsRow& row : settings_rows_) {
    out.append(QJsonObject{{"title", ToQString(row.technique->title)},
                           {"settings", DumpControls(row.keys)},
                           {"id", ToQString("settings:" + row.technique->id)},
                           {"group", ToQString(row.technique->group)},
                           {"enabled", true},
                           {"explanation", ToQString(row.technique->explanation)},
                           {"found", !row.widget->isHidden()}});
  }
  return out;
}

}  // namespace vramscope::ui
