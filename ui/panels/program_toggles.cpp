#include "ui/panels/program_toggles.h"

#include <QClipboard>
#include <QEvent>
#include <QFile>
#include <QFileInfo>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
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
std::string StringAt(const QJsonObject& json, const char* key) {
  return TextAt(json, key).toStdString();
}
QDateTime SavedAt(const program::Request& request) {
  return QFileInfo(QFile::decodeName(request.script.c_str())).lastModified();
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
      tr("Each technique was planned without the others. The first number is the change in the "
         "memory that the program needs. The second number is the factor by which the step time "
         "changes. Several techniques together may save less than the sum of their savings."));
  head->addWidget(effect);
  column->addLayout(head);
  empty_ = new WrappedLabel(LabelRole::kDim);
  empty_->setWrappedText(
      tr("vramscope can switch on techniques in your program from outside, without changing the "
         "program. \"Find techniques\" plans the program with each technique that applies. You "
         "then see what each technique saves and which line of code to write."));
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
  copy_ = new QPushButton(tr("copy the code lines"));
  copy_->setObjectName(QStringLiteral("programCopyLines"));
  copy_->setProperty("role", "link");
  connect(copy_, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(LinesToWrite()); });
  says_ = new WrappedLabel(LabelRole::kDim);
  says_->hide();
  column->addWidget(says_);
  note_ = new WrappedLabel(LabelRole::kDim);
  note_->setWrappedText(
      tr("These savings are from before the program or its settings changed. \"Find techniques\" "
         "computes them again."));
  column->addWidget(note_);
  column_ = new QVBoxLayout;
  column_->setSpacing(2);
  column->addLayout(column_);
  column->addWidget(copy_, 0, Qt::AlignLeft);
  others_ = new WrappedLabel(LabelRole::kFaint);
  others_->hide();
  column->addWidget(others_);
  for (QWidget* text : std::initializer_list<QWidget*>{empty_, says_, note_, others_})
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  Update();
}

void ProgramToggles::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  for (const Line& line : lines_) line.toggle->setTheme(theme);
}

ProgramToggles::Known& ProgramToggles::Of(const std::string& script) {
  constexpr size_t kMost = 20;
  for (auto at = programs_.begin(); at != programs_.end() && programs_.size() >= kMost;)
    at = &at->second == now_ || at->first == searched_ || at->first == script ? std::next(at)
                                                                              : programs_.erase(at);
  return programs_[script];
}

void ProgramToggles::setRequest(const program::Request& request) {
  const bool other = request.script != request_.script;
  if (other) {
    // If the panel has no results for the old script, forget it. Its path may be a part of one that
    // the user is typing.
    const bool nothing = now_->entries.empty() && now_->chosen.empty() && now_->says.isEmpty();
    const std::string before = request_.script;
    now_ = &Of(request.script);
    if (nothing && before != searched_) programs_.erase(before);
  }
  request_ = request;
  if (other)
    Show(*now_);
  else
    Update();
}

void ProgramToggles::setChosen(const std::vector<std::string>& toggles) {
  now_->chosen = toggles;
  const size_t before = now_->entries.size();
  AddChosen(*now_);
  if (now_->entries.size() == before) return Update();
  Rebuild();
}

// Adds an entry for each toggle that is on and has no entry yet, because its saving is not known.
void ProgramToggles::AddChosen(Known& of) {
  for (const std::string& toggle : of.chosen)
    if (std::ranges::find(of.entries, toggle, &Entry::toggle) == of.entries.end())
      of.entries.push_back({.toggle = toggle});
}

// `start_ms` is the time that a step takes without toggles.
ProgramToggles::Entry ProgramToggles::ReadEntry(const QJsonObject& json, double start_ms) {
  Entry entry{.toggle = StringAt(json, "toggle"),
              .label = StringAt(json, "label"),
              .explains = StringAt(json, "explains"),
              .changes = StringAt(json, "changes"),
              .effect = !json.value(QLatin1String("same_peak")).toBool(),
              .error = StringAt(json, "error")};
  for (const QJsonValue& name : json.value(QLatin1String("excludes")).toArray())
    entry.excludes.push_back(name.toString().toStdString());
  for (const QJsonValue& report : json.value(QLatin1String("outcome")).toArray()) {
    for (const QJsonValue& each : report.toObject().value(QLatin1String("change")).toArray()) {
      const QJsonObject change = each.toObject();
      entry.lines.push_back({StringAt(change, "text"), StringAt(change, "where")});
    }
  }
  if (entry.error.empty() && json.contains(QLatin1String("saves")))
    entry.saves = json.value(QLatin1String("saves")).toDouble();
  if (entry.saves || !entry.error.empty()) entry.state = State::kPlanned;
  if (const double ms = json.value(QLatin1String("step_ms")).toDouble(); ms > 0 && start_ms > 0)
    entry.factor = ms / start_ms;
  return entry;
}

void ProgramToggles::beginSearch(const program::Request& request) {
  searching_ = true;
  searched_ = request.script;
  Known& of = Of(searched_);
  of.planned = of.all = 0;
  if (!IsOf(of, request)) {
    of.entries.clear();
    of.do_not_apply.clear();
    AddChosen(of);
  }
  of.asked = request;
  of.saved = SavedAt(request);
  of.says = tr("Planning the program without techniques …");
  Show(of);
}

void ProgramToggles::setPart(const QJsonObject& part) {
  if (!searching_) return;
  Known& of = Of(searched_);
  if (part.contains(QLatin1String("planning"))) {
    SetPlanning(of, part);
    return Show(of);
  }
  const QJsonObject row = part.value(QLatin1String("row")).toObject();
  const auto at = std::ranges::find(
      of.entries, row.isEmpty() ? StringAt(part, "begun") : StringAt(row, "toggle"),
      &Entry::toggle);
  if (at == of.entries.end()) return;
  if (row.isEmpty()) {
    at->state = State::kBegan;
  } else {
    *at = ReadEntry(row, of.start_ms);
    ++of.planned;
    of.says = tr("%1 of %2 techniques are planned").arg(of.planned).arg(of.all);
  }
  ShowEntry(of, static_cast<size_t>(at - of.entries.begin()));
}

// Until the search has ended, the rows stay in the same order, so that switches do not move.
void ProgramToggles::SetPlanning(Known& of, const QJsonObject& part) {
  of.start_ms =
      part.value(QLatin1String("start")).toObject().value(QLatin1String("step_ms")).toDouble();
  const QJsonArray planning = part.value(QLatin1String("planning")).toArray();
  std::vector<Entry> entries;
  for (const QJsonValue& each : planning) {
    Entry entry = ReadEntry(each.toObject(), of.start_ms);
    if (const auto before = std::ranges::find(of.entries, entry.toggle, &Entry::toggle);
        before != of.entries.end() && before->state == State::kPlanned)
      entry = *before;
    entry.state = State::kWaits;
    entries.push_back(std::move(entry));
  }
  of.entries = std::move(entries);
  AddChosen(of);
  of.all = static_cast<int>(planning.size());
  of.says = tr("%1 of %2 techniques are planned").arg(of.planned).arg(of.all);
}

void ProgramToggles::endSearch(const QJsonObject& result, const QString& error) {
  if (!searching_) return;
  Known& of = Of(searched_);
  searching_ = false;
  searched_.clear();
  for (Entry& entry : of.entries)
    if (entry.state != State::kPlanned)
      entry.state = entry.saves || !entry.error.empty() ? State::kPlanned : State::kNotPlanned;
  if (result.contains(QLatin1String("rows"))) {
    SetSavings(of, result);
  } else {
    Sort(of);
    of.says =
        error.isEmpty() || of.planned == 0
            ? error
            : tr("%1; %2 of %3 techniques are planned").arg(error).arg(of.planned).arg(of.all);
  }
  Show(of);
  Update();  // updates the button, even if the form shows another program
}

void ProgramToggles::SetSavings(Known& of, const QJsonObject& result) {
  const QJsonObject start = result.value(QLatin1String("start")).toObject();
  of.start_ms = start.value(QLatin1String("step_ms")).toDouble();
  of.entries.clear();
  for (const QJsonValue& row : result.value(QLatin1String("rows")).toArray())
    of.entries.push_back(ReadEntry(row.toObject(), of.start_ms));
  const double needed = start.value(QLatin1String("needed")).toDouble();
  of.says = of.entries.empty()
                ? tr("No technique applies to this program.")
                : tr("Without techniques, the program needs %1.")
                      .arg(Text(run::FormatBytes(static_cast<uint64_t>(std::max(0.0, needed)))));
  Sort(of);
  AddChosen(of);
  const QJsonDocument toggles(result.value(QLatin1String("toggles")).toArray());
  of.do_not_apply =
      program::ParseToggleReports(toggles.toJson(QJsonDocument::Compact).toStdString());
  std::erase_if(of.do_not_apply, [](const program::ToggleReport& report) {
    return report.why.empty() && report.overridden.empty() && report.unusable.empty();
  });
}

void ProgramToggles::Sort(Known& of) {
  std::ranges::stable_sort(of.entries, std::ranges::greater(),
                           [](const Entry& entry) { return entry.saves.value_or(-1e300); });
}

void ProgramToggles::Show(const Known& of) {
  if (&of != now_) return;
  ShowInapplicable();
  Rebuild();
}

void ProgramToggles::ShowEntry(const Known& of, size_t at) {
  if (&of != now_) return;
  Fill(lines_[at], of.entries[at]);
  Update();
}

void ProgramToggles::ShowInapplicable() {
  QStringList others;
  for (const program::ToggleReport& report : now_->do_not_apply)
    others << Text(report.name) + QStringLiteral(": ") + Text(program::WhyText(report));
  others_->setWrappedText(others.isEmpty() ? QString()
                                           : tr("Techniques that do not apply: %n", nullptr,
                                                static_cast<int>(others.size())));
  others_->setToolTip(others.join(QLatin1Char('\n')));
  others_->setVisible(!others.isEmpty());
}

// Returns whether the last search was for `request`, apart from its toggles, and for the present
// version of the script.
bool ProgramToggles::IsOf(const Known& known, program::Request request) {
  request.toggles = known.asked.toggles;
  return request == known.asked && SavedAt(request) == known.saved;
}

// Returns whether the shown savings were computed for an earlier state of the form's program.
bool ProgramToggles::Outdated() const {
  return !searching_ && !IsOf(*now_, request_) &&
         std::ranges::any_of(now_->entries,
                             [](const Entry& entry) { return entry.state == State::kPlanned; });
}

void ProgramToggles::say(const QString& text) {
  now_->says = text;
  Update();
}

void ProgramToggles::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::LanguageChange) return;
  ShowInapplicable();
  for (size_t i = 0; i < lines_.size(); ++i) Fill(lines_[i], now_->entries[i]);
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
  for (const Entry& entry : now_->entries) {
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
  line.title = new WrappedLabel(LabelRole::kBody);
  line.saving = MakeLabel({}, LabelRole::kNumber);
  line.factor = MakeLabel({}, LabelRole::kDim);
  line.explanation = new WrappedLabel(LabelRole::kDim);
  line.lines = new WrappedLabel(LabelRole::kDim);
  line.lines->setFont(PanelFont(timeline::Font::kMonoSmall));
  line.lines->setTextFormat(Qt::PlainText);
  line.lines->setTextInteractionFlags(Qt::TextSelectableByMouse);
  for (QWidget* text : std::initializer_list<QWidget*>{line.title, line.explanation, line.lines})
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  Fill(line, entry);
  grid->addWidget(line.toggle, 0, 0, Qt::AlignTop);
  grid->addWidget(line.title, 0, 1);
  grid->addWidget(line.saving, 0, 2, Qt::AlignRight | Qt::AlignTop);
  grid->addWidget(line.explanation, 1, 1);
  grid->addWidget(line.factor, 1, 2, Qt::AlignRight | Qt::AlignTop);
  grid->addWidget(line.lines, 2, 1, 1, 2);
  connect(line.toggle, &QAbstractButton::clicked, this,
          [this, toggle = entry.toggle](bool on) { Switch(toggle, on); });
  connect(line.toggle, &ToggleSwitch::mouseClicked, this, &ProgramToggles::switchedByMouse);
  return line;
}

void ProgramToggles::Fill(const Line& line, const Entry& entry) {
  line.title->setWrappedText(entry.label.empty() ? Text(entry.toggle)
                                                 : Text(entry.toggle) + QStringLiteral(" · ") +
                                                       ToQString(i18n::Text(entry.label)));
  line.title->setToolTip(entry.explains.empty() ? QString()
                                                : ToQString(i18n::Text(entry.explains)));
  line.saving->setText(entry.saves ? Text(FormatSaving(-static_cast<int64_t>(*entry.saves)))
                                   : QString());
  const bool counts =
      entry.saves && entry.effect && *entry.saves != 0 && entry.state == State::kPlanned;
  SetTone(line.saving, !counts ? "faint" : *entry.saves > 0 ? "good" : "bad");
  line.factor->setText(entry.factor ? Text(FormatFactor(*entry.factor)) : QString());
  line.explanation->setWrappedText(Explanation(entry));
  line.lines->setWrappedText(TextOf(entry.lines));
}

QString ProgramToggles::Explanation(const Entry& entry) const {
  if (entry.state == State::kWaits) return tr("waiting to be planned");
  if (entry.state == State::kBegan) return tr("being planned …");
  if (!entry.error.empty()) return Text(program::ReasonText(std::string_view(entry.error)));
  if (entry.state == State::kNotPlanned) return entry.label.empty() ? QString() : tr("not planned");
  return entry.changes == "nothing"    ? tr("the training stays the same")
         : entry.changes == "rounding" ? tr("the same training, with different rounding")
                                       : tr("the training changes");
}

bool ProgramToggles::IsOn(const std::string& toggle) const {
  return std::ranges::find(now_->chosen, toggle) != now_->chosen.end();
}

void ProgramToggles::Update() {
  const std::vector<Entry>& entries = now_->entries;
  empty_->setVisible(entries.empty());
  says_->setWrappedText(now_->says);
  says_->setVisible(!now_->says.isEmpty());
  search_->setText(searching_ ? tr("Cancel") : tr("Find techniques"));
  search_->setEnabled(searching_ || can_search_);
  search_->setToolTip(can_search_ ? tr("Plan the program with each technique that applies, as "
                                       "`vramscope toggles --savings` does")
                                  : tr("Choose a script to plan first"));
  progress_->setVisible(searching_ && request_.script == searched_);
  progress_->setRange(0, now_->all);
  progress_->setValue(now_->planned);
  note_->setVisible(Outdated());
  for (size_t i = 0; i < lines_.size(); ++i) {
    const bool on = IsOn(entries[i].toggle);
    const QSignalBlocker block(lines_[i].toggle);
    lines_[i].toggle->setChecked(on);
    lines_[i].toggle->setEnabled(idle_ && (on || entries[i].error.empty()));
    lines_[i].lines->setVisible(on && !entries[i].lines.empty());
  }
  copy_->setVisible(!LinesToWrite().isEmpty());
}

// Switches a toggle on or off. If it goes on, switches off its other values and the toggles that it
// excludes.
void ProgramToggles::Switch(const std::string& toggle, bool on) {
  std::vector<std::string>& chosen = now_->chosen;
  std::erase(chosen, toggle);
  if (on) {
    const auto excludes = [this](const std::string& one, const std::string& other) {
      const auto entry = std::ranges::find(now_->entries, one, &Entry::toggle);
      return entry != now_->entries.end() &&
             std::ranges::find(entry->excludes, NameOf(other)) != entry->excludes.end();
    };
    std::erase_if(chosen, [&](const std::string& other) {
      return NameOf(other) == NameOf(toggle) || excludes(toggle, other) || excludes(other, toggle);
    });
    chosen.push_back(toggle);
  }
  Update();
  Q_EMIT chosenChanged();
}

// Returns one line of text for each change, with its place.
QString ProgramToggles::TextOf(const std::vector<program::ToggleChange>& lines) {
  QStringList texts;
  for (const auto& [text, where] : lines) {
    const QString place = where == "environment" ? ToQString(i18n::Text("environment"))
                                                 : Text(where.substr(where.rfind('/') + 1));
    texts << (place.isEmpty() ? QString() : place + QStringLiteral(": ")) + Text(text);
  }
  return texts.join(QLatin1Char('\n'));
}

QString ProgramToggles::LinesToWrite() const {
  std::vector<program::ToggleChange> lines;
  for (const Entry& entry : now_->entries)
    if (IsOn(entry.toggle)) lines.insert(lines.end(), entry.lines.begin(), entry.lines.end());
  return TextOf(program::JoinChanges(lines));
}

QJsonObject ProgramToggles::dumpState() const {
  const std::vector<Entry>& entries = now_->entries;
  QJsonArray rows;
  for (size_t i = 0; i < lines_.size(); ++i)
    rows.append(QJsonObject{{"toggle", Text(entries[i].toggle)},
                            {"on", lines_[i].toggle->isChecked()},
                            {"enabled", lines_[i].toggle->isEnabled()},
                            {"saving", lines_[i].saving->text()},
                            {"time", lines_[i].factor->text()},
                            {"error", Text(entries[i].error)},
                            {"title", lines_[i].title->text()},
                            {"explanation", lines_[i].explanation->text()},
                            {"lines", TextOf(entries[i].lines)}});
  return {{"rows", rows},
          {"searching", searching_},
          {"can_search", search_->isEnabled()},
          {"planned", now_->planned},
          {"of", now_->all},
          {"outdated", note_->isVisibleTo(this)},
          {"says", says_->isVisibleTo(this) ? says_->text() : QString()},
          {"others", others_->toolTip()},
          {"to_write", LinesToWrite()}};
}

}  // namespace vramscope::ui
