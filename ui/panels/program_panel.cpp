#include "ui/panels/program_panel.h"

#include <QAbstractTextDocumentLayout>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QTextCursor>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "profiler/run/device_profile.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/run_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {
namespace {

constexpr int kOutputLines = 2000;
constexpr int kLeastShown = 2, kMostShown = 9;  // lines of it
constexpr int kMostRanks = 256;

QString Text(const std::string& text) { return QString::fromStdString(text); }

QLineEdit* MakeEdit(const char* name, const QString& placeholder) {
  auto* edit = new QLineEdit;
  edit->setObjectName(QString::fromLatin1(name));
  edit->setFont(PanelFont(timeline::Font::kBody));
  edit->setPlaceholderText(placeholder);
  return edit;
}

// Beside a line edit: opens a dialog for it.
QToolButton* MakeChoose(const char* name, const QString& tip) {
  auto* button = new QToolButton;
  button->setObjectName(QString::fromLatin1(name));
  button->setProperty("role", "quiet");
  button->setText(QStringLiteral("\u2026"));
  button->setToolTip(tip);
  return button;
}

QWidget* Beside(QWidget* field, QWidget* button) {
  auto* pair = new QWidget;
  auto* line = new QHBoxLayout(pair);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(2);
  line->addWidget(field, 1);
  line->addWidget(button);
  return pair;
}

QString InterpreterText(const program::Interpreter& interpreter) {
  return Text(program::TorchText(interpreter)) + QStringLiteral(" · ") + Text(interpreter.where);
}

}  // namespace

ProgramPanel::ProgramPanel(QWidget* parent) : QWidget(parent) {
  BuildForm();
  BuildRun();
  setRequest(request_);
}

void ProgramPanel::BuildForm() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(15, 12, 15, 10);
  column->setSpacing(10);
  auto* form = new QWidget;
  grid_ = new QGridLayout(form);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(8);
  grid_->setVerticalSpacing(4);
  grid_->setColumnStretch(1, 1);
  column->addWidget(form);

  int line = 0;
  const auto add = [&](const QString& title, QWidget* widget, const QString& explanation) {
    QLabel* label = MakeLabel(title, LabelRole::kBody);
    label->setProperty("role", "label");
    label->setToolTip(explanation);
    widget->setToolTip(explanation);
    grid_->addWidget(label, line, 0);
    grid_->addWidget(widget, line, 1);
    ++line;
  };

  script_ = MakeEdit("programScript", tr("train.py, or drop it here"));
  QToolButton* choose = MakeChoose("programChooseScript", tr("Choose the script …"));
  connect(choose, &QToolButton::clicked, this, &ProgramPanel::ChooseScript);
  connect(script_, &QLineEdit::textEdited, this, &ProgramPanel::Edited);
  connect(script_, &QLineEdit::editingFinished, this, &ProgramPanel::FindInterpreters);
  add(tr("Script"), Beside(script_, choose),
      tr("The Python script that trains; or -m and the name of a module"));

  interpreter_ = MakeComboBox();
  interpreter_->setObjectName(QStringLiteral("programInterpreter"));
  connect(interpreter_, &QComboBox::activated, this, &ProgramPanel::ChooseInterpreter);
  add(tr("Python"), interpreter_, tr("The interpreter that has your PyTorch"));
  interpreter_note_ = new WrappedLabel(LabelRole::kDim);
  grid_->addWidget(interpreter_note_, line++, 1);

  arguments_ = MakeEdit("programArguments", tr("none"));
  connect(arguments_, &QLineEdit::textEdited, this, &ProgramPanel::Edited);
  add(tr("Arguments"), arguments_, tr("As you would type them into a shell"));

  folder_ = MakeEdit("programFolder", tr("the script's"));
  QToolButton* choose_folder = MakeChoose("programChooseFolder", tr("Choose the folder …"));
  connect(choose_folder, &QToolButton::clicked, this, &ProgramPanel::ChooseFolder);
  connect(folder_, &QLineEdit::textEdited, this, &ProgramPanel::Edited);
  add(tr("Starts in"), Beside(folder_, choose_folder), tr("Its working folder"));

  device_ = MakeComboBox();
  device_->setObjectName(QStringLiteral("programDevice"));
  for (const run::DeviceProfile& device : run::Devices())
    device_->addItem(ShortDeviceName(device), Text(device.key));
  connect(device_, &QComboBox::activated, this, &ProgramPanel::Edited);
  add(tr("Card"), device_, tr("The GPU that the program finds"));

  ranks_ = MakeSpinBox(1, kMostRanks);
  ranks_->setObjectName(QStringLiteral("programRanks"));
  connect(ranks_, &QSpinBox::valueChanged, this, &ProgramPanel::Edited);
  add(tr("GPUs"), ranks_, tr("So many processes, one a GPU, as torchrun starts them"));

  steps_ = MakeSpinBox(0, 100'000);
  steps_->setObjectName(QStringLiteral("programSteps"));
  steps_->setSpecialValueText(tr("until it ends"));
  connect(steps_, &QSpinBox::valueChanged, this, &ProgramPanel::Edited);
  add(tr("Steps"), steps_,
      tr("It is ended after so many optimizer steps; the first makes the optimizer's state, the "
         "second is as all later ones. 0: it runs until it ends"));

  auto* row = new QWidget;
  auto* pair = new QHBoxLayout(row);
  pair->setContentsMargins(0, 2, 0, 0);
  pair->setSpacing(8);
  skip_init_ = new ToggleSwitch;
  skip_init_->setObjectName(QStringLiteral("programSkipInit"));
  connect(skip_init_, &QAbstractButton::toggled, this, &ProgramPanel::Edited);
  pair->addWidget(skip_init_);
  pair->addWidget(MakeLabel(tr("parameters are not filled"), LabelRole::kDim), 1);
  add(tr("Weights"), row,
      tr("Filling them on the processor takes long and changes nothing of the GPU's memory. "
         "Switch it off where the script looks at their values"));
}

void ProgramPanel::BuildRun() {
  auto* column = static_cast<QVBoxLayout*>(layout());
  warning_ = new WrappedLabel(LabelRole::kDim);
  warning_->setObjectName(QStringLiteral("programWarning"));
  column->addWidget(warning_);

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  start_ = new QPushButton(tr("Plan this program"));
  start_->setObjectName(QStringLiteral("programStart"));
  start_->setProperty("role", "primary");
  connect(start_, &QPushButton::clicked, this, &ProgramPanel::startRequested);
  buttons->addWidget(start_, 1);
  stop_ = new QPushButton(tr("Stop"));
  stop_->setObjectName(QStringLiteral("programStop"));
  stop_->setToolTip(tr("As Ctrl-C; once more: harder. What arrived stays"));
  connect(stop_, &QPushButton::clicked, this, &ProgramPanel::stopRequested);
  buttons->addWidget(stop_);
  column->addLayout(buttons);

  status_ = new WrappedLabel(LabelRole::kBody);
  status_->setObjectName(QStringLiteral("programStatus"));
  column->addWidget(status_);
  error_ = new WrappedLabel(LabelRole::kBody);
  error_->setObjectName(QStringLiteral("programError"));
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  SetTone(error_, "bad");
  column->addWidget(error_);
  error_next_ = new WrappedLabel(LabelRole::kDim);
  column->addWidget(error_next_);

  again_ = new QToolButton;
  again_->setObjectName(QStringLiteral("programAgain"));
  again_->setProperty("role", "chip");
  again_->setText(tr("Again on another card \u2026"));
  again_->setToolTip(tr("Plans the same program on it and compares: this run is the baseline"));
  again_->setPopupMode(QToolButton::InstantPopup);
  again_->setMenu(new QMenu(again_));
  connect(again_->menu(), &QMenu::aboutToShow, this, &ProgramPanel::FillAgain);
  column->addWidget(again_, 0, Qt::AlignLeft);

  output_heading_ = MakeLabel(tr("IT PRINTED"), LabelRole::kHeading);
  column->addWidget(output_heading_);
  output_ = new QPlainTextEdit;
  output_->setObjectName(QStringLiteral("programOutput"));
  output_->setReadOnly(true);
  output_->setMaximumBlockCount(kOutputLines);
  output_->setFont(PanelFont(timeline::Font::kMonoSmall));
  output_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  column->addWidget(output_);

  auto* line = new QHBoxLayout;
  line->addWidget(MakeLabel(tr("THE SAME ON THE COMMAND LINE"), LabelRole::kHeading), 1);
  auto* copy = new QPushButton(tr("copy"));
  copy->setObjectName(QStringLiteral("programCopy"));
  copy->setProperty("role", "link");
  connect(copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(command_->text()); });
  line->addWidget(copy);
  column->addLayout(line);
  command_ = new WrappedLabel(LabelRole::kDim);
  command_->setObjectName(QStringLiteral("programCommand"));
  command_->setFont(PanelFont(timeline::Font::kMonoSmall));
  command_->setTextFormat(Qt::PlainText);
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(command_);
  column->addStretch();
  // A long word (a path, a setting) is cut and makes nothing wider.
  for (QWidget* text : std::initializer_list<QWidget*>{interpreter_note_, warning_, status_, error_,
                                                       error_next_, command_})
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  for (QWidget* widget : std::initializer_list<QWidget*>{stop_, status_, error_, error_next_,
                                                         again_, output_heading_, output_})
    widget->hide();
}

void ProgramPanel::setTheme(const timeline::Theme& theme) { skip_init_->setTheme(theme); }

void ProgramPanel::setRequest(const program::Request& request) {
  request_ = request;
  filling_ = true;
  script_->setText(Text(request.script));
  arguments_->setText(Text(request.arguments));
  folder_->setText(Text(request.folder));
  device_->setCurrentIndex(std::max(0, device_->findData(Text(request.device))));
  ranks_->setValue(static_cast<int>(request.ranks));
  steps_->setValue(static_cast<int>(request.steps));
  skip_init_->setChecked(request.skip_init);
  filling_ = false;
  interpreter_chosen_ = !request.interpreter.empty();
  FindInterpreters();
}

void ProgramPanel::setScript(const QString& path) {
  script_->setText(path);
  interpreter_chosen_ = false;  // another project, another environment
  Edited();
  FindInterpreters();
}

void ProgramPanel::Edited() {
  if (filling_) return;
  const auto path_of = [](const QLineEdit* edit) {
    QString path = edit->text().trimmed();
    if (path.startsWith(QLatin1String("~/"))) path.replace(0, 1, QDir::homePath());
    return path.toStdString();
  };
  request_.script = path_of(script_);
  request_.arguments = arguments_->text().toStdString();
  request_.folder = path_of(folder_);
  request_.device = device_->currentData().toString().toStdString();
  request_.ranks = static_cast<uint32_t>(ranks_->value());
  request_.steps = static_cast<uint32_t>(steps_->value());
  request_.skip_init = skip_init_->isChecked();
  Explain();
}

void ProgramPanel::FindInterpreters() {
  const program::Places places = program::OwnPlaces();
  interpreters_ = program::FindInterpreters(request_.script, places);
  const auto same = [this](const program::Interpreter& i) {
    return i.path == request_.interpreter;
  };
  if (interpreter_chosen_ && std::ranges::none_of(interpreters_, same) &&
      QFileInfo::exists(Text(request_.interpreter)))
    interpreters_.insert(
        interpreters_.begin(),
        program::InspectInterpreter(request_.interpreter,
                                    QFileInfo(Text(request_.interpreter)).fileName().toStdString(),
                                    places));
  if (!interpreter_chosen_ || std::ranges::none_of(interpreters_, same)) {
    // The first that can do it, else the first: its note says what is missing.
    const auto good = std::ranges::find_if(
        interpreters_, [](const program::Interpreter& i) { return program::WhyNot(i).empty(); });
    request_.interpreter = good != interpreters_.end() ? good->path
                           : interpreters_.empty()     ? std::string()
                                                       : interpreters_.front().path;
  }
  ShowInterpreters();
}

void ProgramPanel::ShowInterpreters() {
  const QSignalBlocker block(interpreter_);
  interpreter_->clear();
  for (const program::Interpreter& interpreter : interpreters_) {
    interpreter_->addItem(InterpreterText(interpreter));
    interpreter_->setItemData(interpreter_->count() - 1, Text(interpreter.path), Qt::ToolTipRole);
    if (interpreter.path == request_.interpreter)
      interpreter_->setCurrentIndex(interpreter_->count() - 1);
  }
  if (interpreters_.empty()) interpreter_->addItem(tr("none found"));
  interpreter_->insertSeparator(interpreter_->count());
  interpreter_->addItem(tr("another one \u2026"));
  Explain();
}

void ProgramPanel::ChooseInterpreter(int index) {
  if (index >= 0 && static_cast<size_t>(index) < interpreters_.size()) {
    request_.interpreter = interpreters_[static_cast<size_t>(index)].path;
    interpreter_chosen_ = true;
  } else if (index == interpreter_->count() - 1) {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("The Python interpreter that has your PyTorch (bin/python of its environment)"),
        QFileInfo(Text(request_.interpreter)).path());
    if (!path.isEmpty()) {
      request_.interpreter = path.toStdString();
      interpreter_chosen_ = true;
      FindInterpreters();
      return;
    }
  }
  ShowInterpreters();
}

void ProgramPanel::ChooseScript() {
  const QString path = QFileDialog::getOpenFileName(this, tr("The script that trains"),
                                                    QFileInfo(script_->text()).path(),
                                                    tr("Python (*.py);;All files (*)"));
  if (!path.isEmpty()) setScript(path);
}

void ProgramPanel::ChooseFolder() {
  const QString path = QFileDialog::getExistingDirectory(
      this, tr("The folder that the program starts in"), Text(program::FolderOf(request_)));
  if (path.isEmpty()) return;
  folder_->setText(path);
  Edited();
}

// What is going to happen, in words and as a command line, and what stands against it.
void ProgramPanel::Explain() {
  QString note;
  bool good = true;
  for (const program::Interpreter& interpreter : interpreters_) {
    if (interpreter.path != request_.interpreter) continue;
    note = Text(program::WhyNot(interpreter));
    good = note.isEmpty();
    if (good && !interpreter.python.empty())
      note = tr("Python %1, %2").arg(Text(interpreter.python), Text(interpreter.path));
  }
  if (!note.isEmpty()) note[0] = note[0].toUpper();
  SetTone(interpreter_note_, good ? "dim" : "bad");
  interpreter_note_->setWrappedText(note);
  interpreter_note_->setVisible(!note.isEmpty());
  warning_->setWrappedText(
      tr("The script really runs, with your rights, on a card that is not there: nothing is "
         "computed, losses are 0. What torch.save and safetensors write goes to a scratch folder "
         "that is removed; wandb and Comet are off. Other files it writes where it always does."));
  command_->setWrappedText(Text(program::CommandLineOf(request_)));
  const absl::Status possible = program::CommandOf(request_).status();
  const bool idle = state_.stage == ProgramState::Stage::kIdle;
  start_->setEnabled(idle && possible.ok());
  QString why = Text(std::string(possible.message()));
  if (!why.isEmpty()) why[0] = why[0].toUpper();
  start_->setToolTip(possible.ok() ? tr("Starts it now (Ctrl+R)") : why);
  // An empty form needs no reproach.
  const bool say = !possible.ok() && !request_.script.empty() && idle;
  if (say || status_->property("why").toBool()) {
    status_->setProperty("why", say);
    status_->setWrappedText(say ? why + QLatin1Char('.') : QString());
    status_->setVisible(say);
  }
}

void ProgramPanel::setState(const ProgramState& state) {
  const bool was_idle = state_.stage == ProgramState::Stage::kIdle;
  state_ = state;
  const bool idle = state_.stage == ProgramState::Stage::kIdle;
  if (was_idle && !idle) {
    peak_ = 0;
    error_->hide();
    error_next_->hide();
    again_->hide();
    status_->setProperty("why", false);
  }
  stop_->setVisible(!idle);
  stop_->setEnabled(state_.stage != ProgramState::Stage::kReading);
  for (QWidget* field : std::initializer_list<QWidget*>{script_, interpreter_, arguments_, folder_,
                                                        device_, ranks_, steps_, skip_init_})
    field->setEnabled(idle);
  Explain();
  ShowState();
}

void ProgramPanel::setPeak(uint64_t allocated) {
  peak_ = allocated;
  ShowState();
}

void ProgramPanel::ShowState() {
  using Stage = ProgramState::Stage;
  if (state_.stage == Stage::kIdle) return;
  QString text;
  switch (state_.stage) {
    case Stage::kIdle:
      break;
    case Stage::kStarting:
      text = tr("Starting Python, importing torch");
      break;
    case Stage::kImported:
      text = tr("torch is imported; nothing is on the card yet");
      break;
    case Stage::kBuilding:
      text = tr("Building the model");
      break;
    case Stage::kTraining:
      text = request_.steps == 0 ? tr("Step %1").arg(state_.step)
                                 : tr("Step %1 of %2")
                                       .arg(std::min<uint64_t>(state_.step, request_.steps))
                                       .arg(request_.steps);
      break;
    case Stage::kEnding:
      text = tr("All steps are there; Python is ending");
      break;
    case Stage::kStopping:
      text = tr("Stopping");
      break;
    case Stage::kReading:
      text = tr("It has ended; reading the rest");
      break;
  }
  if (state_.events > 0) text += tr(" · %1 events").arg(Text(timeline::FormatCount(state_.events)));
  if (peak_ > 0) text += tr(" · peak so far %1").arg(Text(timeline::FormatBytes(peak_)));
  text += tr(" · %1 s").arg(state_.seconds, 0, 'f', 0);
  status_->setWrappedText(text);
  status_->show();
}

void ProgramPanel::addOutput(const QString& more) {
  const bool at_end =
      output_->verticalScrollBar()->value() == output_->verticalScrollBar()->maximum();
  QTextCursor cursor(output_->document());
  cursor.movePosition(QTextCursor::End);
  cursor.insertText(more);
  if (at_end) output_->verticalScrollBar()->setValue(output_->verticalScrollBar()->maximum());
  // As high as what there is to read.
  const auto wrapped =
      static_cast<int>(output_->document()->documentLayout()->documentSize().height());
  const int lines = std::clamp(wrapped, kLeastShown, kMostShown);
  output_->setFixedHeight(lines * output_->fontMetrics().lineSpacing() + 16);
  output_heading_->show();
  output_->show();
}

void ProgramPanel::clearOutput() {
  output_->clear();
  output_heading_->hide();
  output_->hide();
}

void ProgramPanel::setEnd(const ProgramEnd& end) {
  state_.stage = ProgramState::Stage::kIdle;
  setState(state_);
  QString error = end.error;
  if (!error.isEmpty()) error[0] = error[0].toUpper();
  if (!end.place.isEmpty()) error += tr(" (%1)").arg(end.place);
  error_->setWrappedText(error);
  error_->setVisible(!error.isEmpty());
  error_next_->setWrappedText(end.next);
  error_next_->setVisible(!end.next.isEmpty());
  const QString took = QString::number(end.seconds, 'f', 1);
  status_->setWrappedText(end.stopped && end.trace != nullptr
                              ? tr("Stopped after %1 s; what arrived is shown").arg(took)
                          : end.stopped ? tr("Stopped before anything was on the card")
                                        : tr("Planned in %1 s").arg(took));
  status_->setVisible(end.stopped || error.isEmpty());
  again_->setVisible(end.trace != nullptr);
}

// All cards but the one that it was planned on.
void ProgramPanel::FillAgain() {
  QMenu* menu = again_->menu();
  menu->clear();
  for (const run::DeviceProfile& device : run::Devices()) {
    if (device.key == request_.device) continue;
    const QString key = Text(device.key);
    QAction* action = menu->addAction(ShortDeviceName(device));
    action->setObjectName(key);
    connect(action, &QAction::triggered, this, [this, key] { Q_EMIT againRequested(key); });
  }
}

void ProgramPanel::focusScript() {
  script_->setFocus();
  script_->selectAll();
}

QJsonObject ProgramPanel::dumpState() const {
  QJsonArray interpreters;
  for (const program::Interpreter& interpreter : interpreters_)
    interpreters.append(InterpreterText(interpreter));
  return {{"script", script_->text()},
          {"interpreters", interpreters},
          {"interpreter", Text(request_.interpreter)},
          {"note", interpreter_note_->text()},
          {"can_start", start_->isEnabled()},
          {"running", state_.stage != ProgramState::Stage::kIdle},
          {"status", status_->isVisibleTo(this) ? status_->text() : QString()},
          {"error", error_->isVisibleTo(this) ? error_->text() : QString()},
          {"next", error_next_->isVisibleTo(this) ? error_next_->text() : QString()},
          {"again", again_->isVisibleTo(this)},
          {"output", output_->toPlainText()},
          {"command", command_->text()},
          {"device", Text(request_.device)}};
}

}  // namespace vramscope::ui
