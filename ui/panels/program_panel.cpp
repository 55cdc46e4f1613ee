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

#include "profiler/run/device.h"
#include "ui/panels/device_dialog.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/program_toggles.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/toggle_switch.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {
namespace {

constexpr int kOutputLines = 2000;
constexpr int kLeastShown = 2, kMostShown = 9;  // minimum and maximum number of lines

QString Text(const std::string& text) { return QString::fromStdString(text); }

QString InterpreterText(const program::Interpreter& interpreter) {
  return Text(program::TorchText(interpreter)) + QStringLiteral(" · ") + Text(interpreter.where);
}

}  // namespace

ProgramPanel::ProgramPanel(QWidget* parent) : QWidget(parent) {
  BuildForm();
  BuildRun();
  setRequest(request_);
}

void ProgramPanel::BuildRun() {
  auto* column = static_cast<QVBoxLayout*>(layout());
  warning_ = new WrappedLabel(LabelRole::kDim);
  warning_->setObjectName(QStringLiteral("programWarning"));
  column->addWidget(warning_);

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  start_ = new QPushButton;
  start_->setObjectName(QStringLiteral("programStart"));
  start_->setProperty("role", "primary");
  connect(start_, &QPushButton::clicked, this, &ProgramPanel::startRequested);
  buttons->addWidget(start_, 1);
  stop_ = new QPushButton(tr("Stop"));
  stop_->setObjectName(QStringLiteral("programStop"));
  stop_->setToolTip(
      tr("Interrupts the program as Ctrl-C does. Press again to kill the program. The data "
         "received so far is kept"));
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
  again_->setToolTip(
      tr("Plan the same program for another GPU, and compare the new plan with this run. This run "
         "becomes the baseline"));
  again_->setPopupMode(QToolButton::InstantPopup);
  again_->setMenu(new QMenu(again_));
  connect(again_->menu(), &QMenu::aboutToShow, this, &ProgramPanel::FillAgain);
  column->addWidget(again_, 0, Qt::AlignLeft);

  output_heading_ = MakeLabel(tr("OUTPUT"), LabelRole::kHeading);
  column->addWidget(output_heading_);
  output_ = new QPlainTextEdit;
  output_->setObjectName(QStringLiteral("programOutput"));
  output_->setReadOnly(true);
  output_->setMaximumBlockCount(kOutputLines);
  output_->setFont(PanelFont(timeline::Font::kMonoSmall));
  output_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  column->addWidget(output_);

  auto* line = new QHBoxLayout;
  line->addWidget(MakeLabel(tr("ON THE COMMAND LINE"), LabelRole::kHeading), 1);
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
  toggles_ = new ProgramToggles;
  connect(toggles_, &ProgramToggles::chosenChanged, this, [this] {
    const program::Request before = request_;
    Edited();
    Q_EMIT toggled(before);
  });
  column->addWidget(toggles_);
  column->addStretch();
  // Do not let long words, such as paths and settings, widen the panel.
  for (QWidget* text : std::initializer_list<QWidget*>{interpreter_note_, warning_, status_, error_,
                                                       error_next_, command_})
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  for (QWidget* widget : std::initializer_list<QWidget*>{stop_, status_, error_, error_next_,
                                                         again_, output_heading_, output_})
    widget->hide();
}

void ProgramPanel::setTheme(const timeline::Theme& theme) {
  skip_init_->setTheme(theme);
  operators_->setTheme(theme);
  watch_->setTheme(theme);
  toggles_->setTheme(theme);
}

void ProgramPanel::setRequest(const program::Request& request) {
  // The shown error belongs to the request that was started, so hide it when the request changes.
  if (!(request == request_)) {
    error_->hide();
    error_next_->hide();
  }
  request_ = request;
  filling_ = true;
  where_->setCurrentIndex(static_cast<int>(request.where));
  host_->setText(Text(request.host));
  host_vramscope_->setText(Text(request.host_vramscope));
  host_interpreter_->setText(Text(request.host_interpreter));
  script_->setText(Text(request.script));
  arguments_->setText(Text(request.arguments));
  folder_->setText(Text(request.folder));
  ranks_->setValue(static_cast<int>(request.ranks));
  steps_->setValue(static_cast<int>(request.steps));
  skip_init_->setChecked(request.skip_init);
  operators_->setChecked(request.operators);
  toggles_->setRequest(request);
  toggles_->setChosen(request.toggles);
  filling_ = false;
  interpreter_chosen_ = !request.interpreter.empty();
  FindInterpreters();
}

void ProgramPanel::setScript(const QString& path) {
  script_->setText(path);
  interpreter_chosen_ = false;  // another project may need another environment
  Edited();
  FindInterpreters();
}

void ProgramPanel::Edited() {
  if (filling_) return;
  const bool was_elsewhere = request_.where == program::Where::kHost;
  request_.where = static_cast<program::Where>(where_->currentIndex());
  const bool elsewhere = request_.where == program::Where::kHost;
  const auto text_of = [](const QLineEdit* edit) { return edit->text().trimmed().toStdString(); };
  const auto path_of = [&](const QLineEdit* edit) {
    QString path = edit->text().trimmed();
    // Expand "~/". With ssh, just remove it, because the command starts in the home directory.
    if (path.startsWith(QLatin1String("~/")))
      path.replace(0, elsewhere ? 2 : 1, elsewhere ? QString() : QDir::homePath());
    return path.toStdString();
  };
  request_.host = text_of(host_);
  request_.host_vramscope = text_of(host_vramscope_);
  request_.host_interpreter = text_of(host_interpreter_);
  request_.script = path_of(script_);
  request_.arguments = arguments_->text().toStdString();
  request_.folder = path_of(folder_);
  if (device_->currentIndex() >= 0)
    request_.device = device_->currentData().toString().toStdString();
  request_.ranks = static_cast<uint32_t>(ranks_->value());
  request_.steps = static_cast<uint32_t>(steps_->value());
  request_.skip_init = skip_init_->isChecked();
  request_.operators = operators_->isChecked();
  toggles_->setRequest(request_);
  request_.toggles = toggles_->chosen();
  if (was_elsewhere && !elsewhere) FindInterpreters();
  Explain();
}

void ProgramPanel::FindInterpreters() {
  if (request_.where == program::Where::kHost) return Explain();
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
    // Choose the first interpreter that can run the program. If none can, choose the first of the
    // list. The note below the field then explains what that interpreter lacks.
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
  interpreter_->addItem(tr("another …"));
  Explain();
}

void ProgramPanel::ChooseInterpreter(int index) {
  if (index >= 0 && static_cast<size_t>(index) < interpreters_.size()) {
    request_.interpreter = interpreters_[static_cast<size_t>(index)].path;
    interpreter_chosen_ = true;
  } else if (index == interpreter_->count() - 1) {
    const QString path = QFileDialog::getOpenFileName(
        this,
        tr("The Python interpreter of the environment that contains your PyTorch (bin/python)"),
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
      this, tr("The program's working directory"), Text(program::FolderOf(request_)));
  if (path.isEmpty()) return;
  folder_->setText(path);
  Edited();
}

// Shows what the run will do, in words and as a command line. If the run cannot start, shows why.
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
  const bool elsewhere = request_.where == program::Where::kHost;
  if (elsewhere) note.clear();
  if (!note.isEmpty()) note[0] = note[0].toUpper();
  SetTone(interpreter_note_, good ? "dim" : "bad");
  interpreter_note_->setWrappedText(note);
  interpreter_note_->setVisible(!note.isEmpty());
  warning_->setWrappedText(
      request_.planned()
          ? tr("The script runs with your rights on an emulated GPU: nothing is computed, and "
               "losses are 0. The script's changes to files go to a temporary layer, which is "
               "deleted afterwards. Uploads to known services are disabled, but downloads work.")
      : elsewhere ? tr("The script runs on that computer, and the files that it writes stay there. "
                       "vramscope must be installed there, too. The recorded data arrives through "
                       "ssh while the script runs. ssh has no terminal here, so it cannot ask for "
                       "a password: use a key.")
                  : tr("The script runs on this computer's GPU as it would without vramscope. The "
                       "files that it writes are kept. vramscope measures memory, kernels and "
                       "memcpys while the script runs."));
  start_->setText(request_.planned() ? tr("Plan this program") : tr("Record this program"));
  again_->setText(request_.planned() ? tr("Plan on another GPU …") : tr("Plan on a GPU …"));
  ShowFields();
  program::Request told = request_;
  if (told.script.empty()) told.script = "train.py";  // the empty field's placeholder text
  command_->setWrappedText(Text(program::CommandLineOf(told)));
  const absl::Status possible = program::CommandOf(request_).status();
  const bool idle = state_.stage == ProgramState::Stage::kIdle;
  start_->setEnabled(idle && possible.ok());
  QString why = Text(std::string(possible.message()));
  if (!why.isEmpty()) why[0] = why[0].toUpper();
  start_->setToolTip(possible.ok() ? tr("Start it now (Ctrl+R)") : why);
  // Do not show an error while the form is still empty.
  const bool say = !possible.ok() && !request_.script.empty() && idle;
  if (say || status_->property("why").toBool()) {
    status_->setProperty("why", say);
    status_->setWrappedText(say ? why + QLatin1Char('.') : QString());
    status_->setVisible(say);
  }
  toggles_->setRequest(request_);
  toggles_->setVisible(request_.planned());
  toggles_->setCanSearch(request_.planned() && possible.ok());
  Q_EMIT requestChanged();
}

void ProgramPanel::setState(const ProgramState& state) {
  const bool was_idle = state_.stage == ProgramState::Stage::kIdle;
  state_ = state;
  const bool idle = state_.stage == ProgramState::Stage::kIdle;
  if (was_idle && !idle) {
    peak_ = 0;
    error_->hide();
    error_next_->hide();
    again_->setEnabled(false);  // disabled, not hidden, so that the switches below do not move
    status_->setProperty("why", false);
  }
  stop_->setVisible(!idle);
  stop_->setEnabled(state_.stage != ProgramState::Stage::kReading);
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
      text = request_.where == program::Where::kHost
                 ? tr("Connecting to %1, starting Python there").arg(Text(request_.host))
                 : tr("Starting Python, importing torch");
      break;
    case Stage::kImported:
      text = tr("torch is imported; nothing is on the GPU yet");
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
      text = tr("All steps are done; Python is exiting");
      break;
    case Stage::kStopping:
      text = tr("Stopping");
      break;
    case Stage::kReading:
      text = tr("The program has ended; reading the remaining data");
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
  FitOutput(output_lines_);
}

// Makes the output box as high as its text, within limits. While a program runs, the box never
// shrinks, so that the switches below it do not move up.
void ProgramPanel::FitOutput(int least) {
  const auto wrapped =
      static_cast<int>(output_->document()->documentLayout()->documentSize().height());
  output_lines_ = std::clamp(std::max(wrapped, least), kLeastShown, kMostShown);
  output_->setFixedHeight(output_lines_ * output_->fontMetrics().lineSpacing() + 16);
  output_heading_->show();
  output_->show();
}

void ProgramPanel::clearOutput() { output_->clear(); }

void ProgramPanel::setEnd(const ProgramEnd& end) {
  state_.stage = ProgramState::Stage::kIdle;
  setState(state_);
  ShowEnd(end, end.trace != nullptr);
}

void ProgramPanel::setReport(const ProgramReport* report) {
  output_->setPlainText(report != nullptr ? report->output : QString());
  if (report != nullptr) return ShowEnd(report->end, report->received);
  for (QWidget* of_run :
       std::initializer_list<QWidget*>{error_, error_next_, again_, output_heading_, output_})
    of_run->hide();
  if (!status_->property("why").toBool()) status_->hide();
}

void ProgramPanel::ShowEnd(const ProgramEnd& end, bool received) {
  QString error = end.error;
  if (!error.isEmpty()) error[0] = error[0].toUpper();
  if (!end.place.isEmpty()) error += tr(" (%1)").arg(end.place);
  error_->setWrappedText(error);
  error_->setVisible(!error.isEmpty());
  error_next_->setWrappedText(end.next);
  error_next_->setVisible(!end.next.isEmpty());
  const QString took = QString::number(end.seconds, 'f', 1);
  QString status = end.stopped && received
                       ? tr("Stopped after %1 s; data received so far is kept").arg(took)
                   : end.stopped        ? tr("Stopped before anything was on the GPU")
                   : request_.planned() ? tr("Planned in %1 s").arg(took)
                                        : tr("Recorded in %1 s").arg(took);
  if (!end.remark.isEmpty()) status += QStringLiteral("; ") + end.remark;
  status_->setWrappedText(status);
  status_->setVisible(end.stopped || error.isEmpty());
  const bool printed = !output_->document()->isEmpty();
  if (printed) FitOutput(0);
  output_heading_->setVisible(printed);
  output_->setVisible(printed);
  again_->setEnabled(true);
  // Hide the menu for a script on another computer, which cannot be planned here.
  again_->setVisible(received && request_.where != program::Where::kHost);
}

void ProgramPanel::ChooseDevice(const QString& now,
                                const std::function<void(const QString&)>& chosen) {
  auto* dialog = new DeviceDialog(now, window());
  connect(dialog, &DeviceDialog::chosen, this, chosen);
  dialog->open();
}

// Fills the menu with all GPUs except the GPU of the shown plan. There are many, so each product
// line has a submenu.
void ProgramPanel::FillAgain() {
  QMenu* menu = again_->menu();
  menu->clear();
  QMenu* lines = nullptr;
  std::string line;
  for (const run::Device& device : run::DeviceTable()) {
    if (lines == nullptr || device.line != line) lines = menu->addMenu(Text(device.line));
    line = device.line;
    if (request_.planned() && device.key == request_.device) continue;
    const QString key = Text(device.key);
    QAction* action = lines->addAction(ShortDeviceName(device));
    action->setObjectName(key);
    connect(action, &QAction::triggered, this, [this, key] { Q_EMIT againRequested(key); });
  }
  menu->addSeparator();
  connect(menu->addAction(tr("Another GPU …")), &QAction::triggered, this, [this] {
    ChooseDevice(Text(request_.device),
                 [this](const QString& device) { Q_EMIT againRequested(device); });
  });
}

void ProgramPanel::setDevice(const QString& device) {
  ShowDevice(device_, device.toStdString());
  Edited();
}

void ProgramPanel::chooseDevice() {
  ChooseDevice(Text(request_.device), [this](const QString& device) { setDevice(device); });
}

void ProgramPanel::focusScript() {
  script_->setFocus();
  script_->selectAll();
}

QJsonObject ProgramPanel::dumpState() const {
  QJsonArray interpreters;
  for (const program::Interpreter& interpreter : interpreters_)
    interpreters.append(InterpreterText(interpreter));
  QJsonArray fields;  // the names of the enabled fields
  for (const QWidget* field : std::initializer_list<const QWidget*>{
           host_, interpreter_, host_interpreter_, device_, ranks_, steps_, skip_init_, operators_})
    if (field->isVisibleTo(this) && field->isEnabled()) fields.append(field->objectName());
  return {{"script", script_->text()},
          {"fields", fields},
          {"start", start_->text()},
          {"warning", warning_->text()},
          {"interpreters", interpreters},
          {"interpreter", Text(request_.interpreter)},
          {"note", interpreter_note_->text()},
          {"can_start", start_->isEnabled()},
          {"running", state_.stage != ProgramState::Stage::kIdle},
          {"status", status_->isVisibleTo(this) ? status_->text() : QString()},
          {"error", error_->isVisibleTo(this) ? error_->text() : QString()},
          {"next", error_next_->isVisibleTo(this) ? error_next_->text() : QString()},
          {"again", again_->isVisibleTo(this) && again_->isEnabled()},
          {"output", output_->toPlainText()},
          {"command", command_->text()},
          {"device", Text(request_.device)},
          {"watches", watches()},
          {"toggles", toggles_->dumpState()}};
}

}  // namespace vramscope::ui
