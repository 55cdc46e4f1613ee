// The form of the program page. This file makes the rows of the form, and hides rows that do not
// apply to the place where the program runs.
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "profiler/run/device_profile.h"
#include "ui/panels/device_dialog.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/program_toggles.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/toggle_switch.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {
namespace {

constexpr int kMostRanks = 256;

QLineEdit* MakeEdit(const char* name, const QString& placeholder) {
  auto* edit = new QLineEdit;
  edit->setObjectName(QString::fromLatin1(name));
  edit->setFont(PanelFont(timeline::Font::kBody));
  edit->setPlaceholderText(placeholder);
  return edit;
}

// Makes a button next to a line edit for a path. A click opens a file dialog in which the user
// chooses the path.
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

}  // namespace

void ProgramPanel::AddRow(const QString& title, QWidget* widget, const QString& explanation) {
  QLabel* label = MakeLabel(title, LabelRole::kBody);
  label->setProperty("role", "label");
  label->setToolTip(explanation);
  widget->setToolTip(explanation);
  const int row = grid_->rowCount();
  grid_->addWidget(label, row, 0);
  grid_->addWidget(widget, row, 1);
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
  const auto edited = [this](QLineEdit* edit) {
    connect(edit, &QLineEdit::textEdited, this, &ProgramPanel::Edited);
  };

  where_ = MakeComboBox();
  where_->setObjectName(QStringLiteral("programWhere"));
  where_->addItem(tr("Plan: an emulated GPU"));  // the entries are in the order of program::Where
  where_->addItem(tr("Record: this computer's GPU"));
  where_->addItem(tr("Record: another computer, by ssh"));
  connect(where_, &QComboBox::activated, this, &ProgramPanel::Edited);
  AddRow(tr("What"), where_,
         tr("A plan needs no GPU. A recording measures memory, kernels and memcpys of a real run"));

  host_ = MakeEdit("programHost", tr("user@box"));
  edited(host_);
  AddRow(tr("Computer"), host_, tr("The name of the computer, as you would type it after `ssh`"));
  host_vramscope_ = MakeEdit("programHostVramscope", tr("from its PATH"));
  edited(host_vramscope_);
  AddRow(tr("vramscope"), host_vramscope_,
         tr("Path of vramscope on that computer, if ssh does not find it in the PATH"));

  script_ = MakeEdit("programScript", tr("train.py, or drop a script here"));
  choose_script_ = MakeChoose("programChooseScript", tr("Choose the script …"));
  connect(choose_script_, &QToolButton::clicked, this, &ProgramPanel::ChooseScript);
  edited(script_);
  connect(script_, &QLineEdit::editingFinished, this, &ProgramPanel::FindInterpreters);
  AddRow(tr("Script"), Beside(script_, choose_script_),
         tr("The training script, or -m and the name of a module"));

  interpreter_ = MakeComboBox();
  interpreter_->setObjectName(QStringLiteral("programInterpreter"));
  connect(interpreter_, &QComboBox::activated, this, &ProgramPanel::ChooseInterpreter);
  host_interpreter_ = MakeEdit("programHostInterpreter", tr("python3"));
  edited(host_interpreter_);
  AddRow(tr("Python"), Beside(interpreter_, host_interpreter_),
         tr("The interpreter of the environment that contains your PyTorch"));
  interpreter_note_ = new WrappedLabel(LabelRole::kDim);
  grid_->addWidget(interpreter_note_, grid_->rowCount(), 1);

  arguments_ = MakeEdit("programArguments", tr("none"));
  edited(arguments_);
  AddRow(tr("Arguments"), arguments_,
         tr("The program's arguments, as you would type them into a shell"));

  folder_ = MakeEdit("programFolder", {});
  choose_folder_ = MakeChoose("programChooseFolder", tr("Choose the folder …"));
  connect(choose_folder_, &QToolButton::clicked, this, &ProgramPanel::ChooseFolder);
  edited(folder_);
  AddRow(tr("Working directory"), Beside(folder_, choose_folder_),
         tr("The program's working directory"));

  device_ = MakeComboBox();
  device_->setObjectName(QStringLiteral("programDevice"));
  device_->setPlaceholderText(tr("this computer's GPU"));
  FillDevices(device_);
  connect(device_, &QComboBox::activated, this, &ProgramPanel::Edited);
  choose_device_ = MakeDeviceButton("programChooseDevice");
  connect(choose_device_, &QToolButton::clicked, this, &ProgramPanel::chooseDevice);
  AddRow(tr("GPU"), device_, tr("The emulated GPU on which the program is planned"));
  // Put the button next to the title, because the combo box needs the whole line below.
  grid_->addWidget(choose_device_, grid_->rowCount() - 1, 0, Qt::AlignRight | Qt::AlignVCenter);

  ranks_ = MakeSpinBox(1, kMostRanks);
  ranks_->setObjectName(QStringLiteral("programRanks"));
  connect(ranks_, &QSpinBox::valueChanged, this, &ProgramPanel::Edited);
  AddRow(tr("GPUs"), ranks_, tr("Number of processes, one for each GPU, as torchrun starts them"));

  steps_ = MakeSpinBox(0, 100'000);
  steps_->setObjectName(QStringLiteral("programSteps"));
  steps_->setSpecialValueText(tr("no limit"));
  connect(steps_, &QSpinBox::valueChanged, this, &ProgramPanel::Edited);
  AddRow(tr("Steps"), steps_,
         tr("Ends the program after this many optimizer steps; 0 means no limit. The first step "
            "creates the optimizer's state. All later steps are like the second"));

  const auto toggle = [&](const char* name, const QString& text) {
    auto* on = new ToggleSwitch;
    on->setObjectName(QString::fromLatin1(name));
    connect(on, &QAbstractButton::toggled, this, &ProgramPanel::Edited);
    auto* row = new QWidget;
    auto* pair = new QHBoxLayout(row);
    pair->setContentsMargins(0, 2, 0, 0);
    pair->setSpacing(8);
    pair->addWidget(on);
    auto* label = new ElidedLabel(LabelRole::kDim);  // a scroll bar may take some of the width
    label->setFullText(text);
    pair->addWidget(label, 1);
    return std::pair(on, row);
  };
  const auto [skip_init, weights] = toggle("programSkipInit", tr("skip parameter initialization"));
  skip_init_ = skip_init;
  AddRow(tr("Weights"), weights,
         tr("Skips parameter initialization, which is slow on the CPU and does not change the "
            "planned memory. Turn this off if the script reads parameter values"));
  const auto [operators, kernels] = toggle("programOperators", tr("record the launching op"));
  operators_ = operators;
  AddRow(tr("Kernels"), kernels,
         tr("Records which PyTorch operator launched each kernel. This costs a fifth of a step's "
            "CPU time. A plan always records these operators"));
  const auto [watch, watching] = toggle("programWatch", tr("plan again after saving"));
  watch_ = watch;
  watch_row_ = watching;
  connect(watch_, &QAbstractButton::toggled, this, &ProgramPanel::watchChanged);
  AddRow(tr("Watch"), watching,
         tr("Plans the program again, as `vramscope plan --watch` does, when you save the "
            "program's script, a file named in its arguments, or one of the program's own modules. "
            "The previous plan stays visible behind the new plan"));
}

bool ProgramPanel::watches() const { return request_.planned() && watch_->isChecked(); }

// Hides or disables the fields that do not apply to a recording, or to a run on another computer.
void ProgramPanel::ShowFields() {
  const bool idle = state_.stage == ProgramState::Stage::kIdle;
  const bool planned = request_.planned();
  const bool elsewhere = request_.where == program::Where::kHost;
  const auto row = [this](QWidget* widget, bool visible) {
    int at = 0, ignored = 0;
    grid_->getItemPosition(grid_->indexOf(widget), &at, &ignored, &ignored, &ignored);
    grid_->itemAtPosition(at, 0)->widget()->setVisible(visible);
    widget->setVisible(visible);
  };
  row(host_, elsewhere);
  row(host_vramscope_, elsewhere);
  row(watch_row_, planned);
  interpreter_->setVisible(!elsewhere);
  host_interpreter_->setVisible(elsewhere);
  choose_script_->setVisible(!elsewhere);
  choose_folder_->setVisible(!elsewhere);
  script_->setPlaceholderText(elsewhere ? tr("train.py, on that computer")
                                        : tr("train.py, or drop a script here"));
  folder_->setPlaceholderText(elsewhere ? tr("the login directory") : tr("the script's folder"));
  for (QWidget* field : std::initializer_list<QWidget*>{
           where_, host_, host_vramscope_, script_, choose_script_, interpreter_, host_interpreter_,
           arguments_, folder_, choose_folder_, ranks_, steps_})
    field->setEnabled(idle);
  device_->setEnabled(idle && planned);
  choose_device_->setEnabled(idle && planned);
  if (planned) {
    ShowDevice(device_, request_.device);
  } else {
    device_->setCurrentIndex(-1);
  }
  skip_init_->setEnabled(idle && planned);
  operators_->setEnabled(idle && !planned);
  toggles_->setIdle(idle);
}

}  // namespace vramscope::ui
