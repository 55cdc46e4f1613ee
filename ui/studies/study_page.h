// Pages of the bottom dock. Each page runs a command of vramscope. It has a line of controls (with
// progress and cancel) and a table, and offers its results to the window as configurations.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"
#include "ui/panels/table_panel.h"
#include "ui/studies/command_runner.h"
#include "ui/timeline/theme.h"

class QComboBox;
class QHBoxLayout;
class QProgressBar;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace vramscope::ui {

class ElidedLabel;
class FitControls;
class WaterfallControls;

struct StudyPrograms {
  QString vramscope, worker;
};

class StudyPage : public QWidget {
  Q_OBJECT
 public:
  StudyPage(const StudyPrograms& programs, const char* name, QWidget* parent = nullptr);
  bool busy() const { return runner_->busy(); }
  void cancel() { runner_->cancel(); }
  virtual void setTheme(const timeline::Theme& theme);
  virtual void setConfig(const run::RunConfig& config) { config_ = config; }
  virtual QJsonObject dumpState() const;

 Q_SIGNALS:
  // Asks the window to plan and show this run, as one undo step.
  void editRequested(const vramscope::run::RunConfig& config);
  void changed();  // busy() has changed

 protected:
  virtual void Show(const QJsonObject& result) = 0;
  void Start(const QStringList& arguments, const std::string& config = {},
             const CommandProgram& program = {});
  void Say(const QString& text);

  CommandRunner* runner_;
  run::RunConfig config_;
  QHBoxLayout* controls_;
  QVBoxLayout* column_;
  TableModel* model_;
  TableView* view_;

 private:
  void Busy(bool busy);
  ElidedLabel* says_;
  QProgressBar* progress_;
  QToolButton* cancel_;
};

// Shows published experiments, with published and planned figures. The user can open an experiment
// as a run.
class ExperimentsPage : public StudyPage {
  Q_OBJECT
 public:
  explicit ExperimentsPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void planAll();
  void open(int row);  // opens the experiment of this row as a run

 protected:
  void Show(const QJsonObject& result) override;

 private:
  QPushButton* plan_;
  QPushButton* open_;
  std::vector<std::vector<std::pair<std::string, std::string>>> settings_;  // indexed by row
  std::vector<std::string> ids_;
};

// Finds techniques that make the current run fit. Applies a proposal when the user clicks it.
class FitPage : public StudyPage {
  Q_OBJECT
 public:
  explicit FitPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void setConfig(const run::RunConfig& config) override;
  void makeItFit();
  void apply(int proposal);  // index of the proposal
  QJsonObject dumpState() const override;

 protected:
  void Show(const QJsonObject& result) override;

 private:
  void SayWhatItIs();
  FitControls* fit_;
  std::vector<run::RunConfig> proposals_;
  run::RunConfig asked_;  // the run with which the search started
  QString found_;         // the message about the result; empty: no result
};

// Shows how techniques lead from the model's defaults to the current run, with a bar for each
// technique. The user can change the order of the bars.
class WaterfallPage : public StudyPage {
  Q_OBJECT
 public:
  explicit WaterfallPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void setConfig(const run::RunConfig& config) override;
  void setTheme(const timeline::Theme& theme) override;
  void draw();
  void move(int by);  // moves the selected bar up or down; it stays selected
  QString command() const;
  QPixmap image() const;
  QJsonObject dumpState() const override;

 protected:
  void Show(const QJsonObject& result) override;

 private:
  void DrawInOrder(const std::vector<std::string>& order);
  void SayWhatItIs();
  WaterfallControls* bars_;
  run::RunConfig asked_;
  std::vector<std::string> asked_order_;
  QString found_;  // the message about the bars; empty: no bars
};

}  // namespace vramscope::ui
