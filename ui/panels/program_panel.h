// The panel on the left side of the window when a program is planned or recorded. It has a form
// (script, interpreter, GPU, this or another computer), a start button, the run's progress, output
// and errors, the equivalent command line, and a menu to plan again for another GPU. The panel
// starts no program itself.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <functional>
#include <vector>

#include "profiler/program/interpreters.h"
#include "profiler/program/request.h"
#include "ui/program/program_runner.h"

class QComboBox;
class QFrame;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace vramscope::ui {

class ProgramToggles;
class ToggleSwitch;
class WrappedLabel;
namespace timeline {
struct Theme;
}

// How the last run of a document's program ended.
struct ProgramReport {
  ProgramEnd end;         // without its trace and folder, which need much memory
  bool received = false;  // events have arrived
  QString output;
};

class ProgramPanel : public QWidget {
  Q_OBJECT
 public:
  explicit ProgramPanel(QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme);

  // Fills the form with `request`, and searches for interpreters again.
  void setRequest(const program::Request& request);
  void setScript(const QString& path);
  const program::Request& request() const { return request_; }

  void setState(const ProgramState& state);
  void setPeak(uint64_t allocated);  // the peak of the shown document
  void addOutput(const QString& more);
  void clearOutput();
  // Shows how the run ended: its errors, or else what the user can do with the result.
  void setEnd(const ProgramEnd& end);
  // Shows how an earlier run ended, because its document is shown now. Null: this is not known.
  // Call it only while no program runs.
  void setReport(const ProgramReport* report);
  void focusScript();
  void setDevice(const QString& device);
  void chooseDevice();  // opens the device dialog
  ProgramToggles* toggles() const { return toggles_; }
  // Whether the user wants a new plan whenever a file of the program is saved.
  bool watches() const;
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void startRequested();
  void stopRequested();
  void againRequested(const QString& device);  // `device`: its key in the device table
  void requestChanged();                       // request() may have changed
  // Emitted after the user switched a technique. `before` is the request before the switch.
  void toggled(const vramscope::program::Request& before);
  void watchChanged();  // watches() has changed

 private:
  void BuildForm();
  void BuildRun();
  // Adds a row with a title and a widget. `explanation` becomes the tool tip.
  void AddRow(const QString& title, QWidget* widget, const QString& explanation);
  void ShowFields();        // shows the fields that apply to the place where the program runs
  void Edited();            // the form has changed
  void FindInterpreters();  // looks for interpreters for the script in the form
  void ShowInterpreters();
  void ChooseScript();
  void ChooseFolder();
  void ChooseInterpreter(int index);
  void ChooseDevice(const QString& now, const std::function<void(const QString&)>& chosen);
  void FillAgain();
  void ShowState();
  void ShowEnd(const ProgramEnd& end, bool received);
  void FitOutput(int least);  // `least`: the minimum height in lines
  void Explain();

  program::Request request_;
  std::vector<program::Interpreter> interpreters_;
  bool interpreter_chosen_ = false;  // the user, not the window, chose the interpreter
  ProgramState state_;
  uint64_t peak_ = 0;
  bool filling_ = false;

  QGridLayout* grid_ = nullptr;
  QComboBox* where_ = nullptr;
  QLineEdit* host_ = nullptr;
  QLineEdit* host_vramscope_ = nullptr;
  QLineEdit* host_interpreter_ = nullptr;
  QToolButton* choose_script_ = nullptr;
  QToolButton* choose_folder_ = nullptr;
  QLineEdit* script_ = nullptr;
  QComboBox* interpreter_ = nullptr;
  WrappedLabel* interpreter_note_ = nullptr;
  QLineEdit* arguments_ = nullptr;
  QLineEdit* folder_ = nullptr;
  QComboBox* device_ = nullptr;
  QToolButton* choose_device_ = nullptr;
  QSpinBox* ranks_ = nullptr;
  QSpinBox* steps_ = nullptr;
  ToggleSwitch* skip_init_ = nullptr;
  ToggleSwitch* operators_ = nullptr;
  ToggleSwitch* watch_ = nullptr;
  QWidget* watch_row_ = nullptr;
  WrappedLabel* warning_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* stop_ = nullptr;
  WrappedLabel* status_ = nullptr;
  WrappedLabel* error_ = nullptr;
  WrappedLabel* error_next_ = nullptr;
  QLabel* output_heading_ = nullptr;
  QPlainTextEdit* output_ = nullptr;
  int output_lines_ = 0;  // height of the output, in lines
  QToolButton* again_ = nullptr;
  WrappedLabel* command_ = nullptr;
  ProgramToggles* toggles_ = nullptr;  // shown for a plan
};

}  // namespace vramscope::ui
