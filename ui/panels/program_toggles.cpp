#include "ui/panels/program_toggles.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/rows.h"
#include "ui/panels/toggle_switch.h"

namespace vramscope::ui {
namespace {

QString Text(const std::string& text) { return QString::fromStdString(text); }
QString TextAt(const QJsonObject& json, const char* key) {
  return json.value(QLatin1String(key)).toString();
}
std::string NameOf(const std::string& toggle) { return toggle.substr(0, toggle.find('=')); }

}  // namespace

ProgramToggles::ProgramToggles(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("programToggles"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  auto* head = new QHBoxLayout;
  head->addWidget(MakeLabel(tr("TECHNIQUES"), LabelRole::kHeading));
  head->addStretch();
  QLabel* effect = MakeLabel(tr("memory needed"), LabelRole::kFaint);
  effect->setToolTip(
      tr("Each technique was planned alone, switched on from outside: the memory that the program "
         "needs with it minus the memory that it needs without techniques, and the ratio of the "
         "steps' times. Several together may save less than their sum."));
  head->addWidget(effect);
  column->addLayout(head);
  empty_ = new WrappedLabel(LabelRole::kDim);
  empty_->setWrappedText(
      tr("Techniques can be switched on in your program from outside, without changing it. \"Find "
         "techniques\" plans it with each one that applies, and shows what each saves and the line "
         "to write."));
  column->addWidget(empty_);
  auto* search = new QHBoxLayout;
  search_ = new QPushButton;
  search_->setObjectName(QStringLiteral("programFindToggles"));
  connect(search_, &QPushButton::clicked, this, [this] {
    if (searching_)
      Q_EMIT cancelRequested();
    else
      Q_EMIT searchRequested();
  });
  search->addWidget(search_);
  progress_ = new QProgressBar;
  progress_->setRange(0, 0);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(120);
  search->addWidget(progress_);
  search->addStretch();
  column->addLayout(search);
  copy_ = new QPushButton(tr("copy the lines to write"));
  copy_->setObjectName(QStringLiteral("programCopyLines"));
  copy_->setProperty("role", "link");
  connect(copy_, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(LinesToWrite()); });
  says_ = new WrappedLabel(LabelRole::kDim);
  says_->hide();
  column->addWidget(says_);
  column_ = new QVBoxLayout;
  column_->setSpacing(2);
  column->addLayout(column_);
  column->addWidget(copy_, 0, Qt::AlignLeft);
  others_ = new WrappedLabel(LabelRole::kFaint);
  others_->hide();
  column->addWidget(others_);
  for (QWidget* text : std::initializer_list<QWidget*>{empty_, says_, others_})
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  Update();
}

void ProgramToggles::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  for (const Line& line : lines_) line.toggle->setTheme(theme);
}

void ProgramToggles::setChosen(const std::vector<std::string>& toggles) {
  chosen_ = toggles;
  const bool known = std::ranges::all_of(toggles, [this](const std::string& toggle) {
    return std::ranges::find(entries_, toggle, &Entry::toggle) != entries_.end();
  });
  if (known) return Update();
  for (const std::string& toggle : toggles)
    if (std::ranges::find(entries_, toggle, &Entry::toggle) == entries_.end())
      entries_.push_back({.toggle = toggle});
  Rebuild();
}

// `start_ms`: the time of a step without toggles.
ProgramToggles::Entry ProgramToggles::ReadEntry(const QJsonObject& json, double start_ms) {
  Entry entry{.toggle = TextAt(json, "toggle").toStdString(),
              .label = TextAt(json, "label"),
              .explains = TextAt(json, "explains"),
              .effect = !json.value(QLatin1String("same_peak")).toBool(),
              .error = TextAt(json, "error")};
  const QString changes = TextAt(json, "changes");
  entry.changes = changes == QLatin1String("nothing") ? tr("the training stays the same")
                  : changes == QLatin1String("rounding")
                      ? tr("the same training, rounded otherwise")
                      : tr("another training");
  for (const QJsonValue& name : json.value(QLatin1String("excludes")).toArray())
    entry.excludes.push_back(name.toString().toStdString());
  for (const QJsonValue& report : json.value(QLatin1String("outcome")).toArray()) {
    for (const QJsonValue& each : report.toObject().value(QLatin1String("change")).toArray()) {
      const QJsonObject change = each.toObject();
      const QString where = TextAt(change, "where");
      const QString place = where.mid(where.lastIndexOf(QLatin1Char('/')) + 1);
      entry.lines << (place.isEmpty() ? QString() : place + QStringLiteral(": ")) +
                         TextAt(change, "text");
    }
  }
  if (entry.error.isEmpty()) entry.saves = json.value(QLatin1String("saves")).toDouble();
  if (const double ms = json.value(QLatin1String("step_ms")).toDouble(); ms > 0 && start_ms > 0)
    entry.factor = ms / start_ms;
  return entry;
}

void ProgramToggles::setSavings(const QJsonObject& result) {
  entries_.clear();
  const double start_ms =
      result.value(QLatin1String("start")).toObject().value(QLatin1String("step_ms")).toDouble();
  for (const QJsonValue& row : result.value(QLatin1String("rows")).toArray())
    entries_.push_back(ReadEntry(row.toObject(), start_ms));
  std::ranges::stable_sort(entries_, std::ranges::greater(),
                           [](const Entry& entry) { return entry.saves.value_or(-1e300); });
  for (const std::string& toggle : chosen_)
    if (std::ranges::find(entries_, toggle, &Entry::toggle) == entries_.end())
      entries_.push_back({.toggle = toggle});
  QStringList others;
  for (const QJsonValue& each : result.value(QLatin1String("toggles")).toArray()) {
    const QJsonObject toggle = each.toObject();
    const QString why = TextAt(toggle, "why") + TextAt(toggle, "overridden");
    if (!why.isEmpty()) others << TextAt(toggle, "name") + QStringLiteral(": ") + why;
  }
  others_->setWrappedText(others.isEmpty() ? QString()
                                           : tr("Techniques that do not apply: %n", nullptr,
                                                static_cast<int>(others.size())));
  others_->setToolTip(others.join(QLatin1Char('\n')));
  others_->setVisible(!others.isEmpty());
  say(entries_.empty() ? tr("No technique applies to this program.") : QString());
  Rebuild();
}

void ProgramToggles::forget() {
  chosen_.clear();
  entries_.clear();
  others_->hide();
  say({});
  Rebuild();
}

void ProgramToggles::say(const QString& text) {
  says_->setWrappedText(text);
  says_->setVisible(!text.isEmpty());
}

void ProgramToggles::setSearching(bool searching) {
  searching_ = searching;
  Update();
}

void ProgramToggles::setCanSearch(bool can) {
  can_search_ = can;
  Update();
}

void ProgramToggles::setIdle(bool idle) {
  idle_ = idle;
  Update();
}

void ProgramToggles::Rebuild() {
  ClearLayout(column_);
  lines_.clear();
  for (const Entry& entry : entries_) {
    lines_.push_back(MakeRow(entry));
    column_->addWidget(lines_.back().widget);
  }
  Update();
}

ProgramToggles::Line ProgramToggles::MakeRow(const Entry& entry) {
  Line line;
  line.widget = new QWidget;
  auto* grid = new QGridLayout(line.widget);
  grid->setContentsMargins(0, 1, 0, 2);
  grid->setHorizontalSpacing(9);
  grid->setVerticalSpacing(0);
  grid->setColumnStretch(1, 1);
  line.toggle = new ToggleSwitch;
  line.toggle->setObjectName(QStringLiteral("program-toggle-") + Text(entry.toggle));
  line.toggle->setAccessibleName(Text(entry.toggle));
  line.toggle->setTheme(theme_);
  auto* title = new WrappedLabel(LabelRole::kBody);
  title->setWrappedText(entry.label.isEmpty()
                            ? Text(entry.toggle)
                            : Text(entry.toggle) + QStringLiteral(" · ") + entry.label);
  title->setToolTip(entry.explains);
  line.saving =
      MakeLabel(entry.saves ? Text(FormatSaving(-static_cast<int64_t>(*entry.saves))) : QString(),
                LabelRole::kNumber);
  SetTone(line.saving, !entry.saves || !entry.effect ? "faint" : *entry.saves > 0 ? "good" : "bad");
  line.factor =
      MakeLabel(entry.factor ? Text(FormatFactor(*entry.factor)) : QString(), LabelRole::kDim);
  auto* explanation = new WrappedLabel(LabelRole::kDim);
  explanation->setWrappedText(!entry.error.isEmpty() ? entry.error : entry.changes);
  line.lines = new WrappedLabel(LabelRole::kDim);
  line.lines->setFont(PanelFont(timeline::Font::kMonoSmall));
  line.lines->setTextFormat(Qt::PlainText);
  line.lines->setTextInteractionFlags(Qt::TextSelectableByMouse);
  line.lines->setWrappedText(entry.lines.join(QLatin1Char('\n')));
  for (QWidget* text : std::initializer_list<QWidget*>{title, explanation, line.lines})
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  grid->addWidget(line.toggle, 0, 0, Qt::AlignTop);
  grid->addWidget(title, 0, 1);
  grid->addWidget(line.saving, 0, 2, Qt::AlignRight | Qt::AlignTop);
  grid->addWidget(explanation, 1, 1);
  grid->addWidget(line.factor, 1, 2, Qt::AlignRight | Qt::AlignTop);
  grid->addWidget(line.lines, 2, 1, 1, 2);
  connect(line.toggle, &QAbstractButton::clicked, this,
          [this, toggle = entry.toggle](bool on) { Switch(toggle, on); });
  return line;
}

bool ProgramToggles::IsOn(const std::string& toggle) const {
  return std::ranges::find(chosen_, toggle) != chosen_.end();
}

void ProgramToggles::Update() {
  empty_->setVisible(entries_.empty());
  search_->setText(searching_ ? tr("Cancel") : tr("Find techniques"));
  search_->setEnabled(searching_ || can_search_);
  search_->setToolTip(can_search_ ? tr("Plan the program with each technique that applies, as "
                                       "`vramscope toggles --savings` does")
                                  : tr("Choose a script to plan first"));
  progress_->setVisible(searching_);
  for (size_t i = 0; i < lines_.size(); ++i) {
    const bool on = IsOn(entries_[i].toggle);
    const QSignalBlocker block(lines_[i].toggle);
    lines_[i].toggle->setChecked(on);
    lines_[i].toggle->setEnabled(idle_ && (on || entries_[i].error.isEmpty()));
    lines_[i].lines->setVisible(on && !entries_[i].lines.isEmpty());
  }
  copy_->setVisible(!LinesToWrite().isEmpty());
}

// Switching one on switches those off that it excludes, and other values of the same toggle.
void ProgramToggles::Switch(const std::string& toggle, bool on) {
  std::erase(chosen_, toggle);
  if (on) {
    const auto excludes = [this](const std::string& one, const std::string& other) {
      const auto entry = std::ranges::find(entries_, one, &Entry::toggle);
      return entry != entries_.end() &&
             std::ranges::find(entry->excludes, NameOf(other)) != entry->excludes.end();
    };
    std::erase_if(chosen_, [&](const std::string& other) {
      return NameOf(other) == NameOf(toggle) || excludes(toggle, other) || excludes(other, toggle);
    });
    chosen_.push_back(toggle);
  }
  Update();
  Q_EMIT chosenChanged();
}

QString ProgramToggles::LinesToWrite() const {
  QStringList lines;
  for (const Entry& entry : entries_)
    if (IsOn(entry.toggle)) lines << entry.lines;
  return lines.join(QLatin1Char('\n'));
}

QJsonObject ProgramToggles::dumpState() const {
  QJsonArray rows;
  for (size_t i = 0; i < lines_.size(); ++i)
    rows.append(QJsonObject{{"toggle", Text(entries_[i].toggle)},
                            {"on", lines_[i].toggle->isChecked()},
                            {"enabled", lines_[i].toggle->isEnabled()},
                            {"saving", lines_[i].saving->text()},
                            {"time", lines_[i].factor->text()},
                            {"error", entries_[i].error},
                            {"lines", entries_[i].lines.join(QLatin1Char('\n'))}});
  return {{"rows", rows},
          {"searching", searching_},
          {"can_search", search_->isEnabled()},
          {"says", says_->isVisibleTo(this) ? says_->text() : QString()},
          {"others", others_->toolTip()},
          {"to_write", LinesToWrite()}};
}

}  // namespace vramscope::ui
