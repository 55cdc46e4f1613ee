// Pages of the bottom dock about a user's program: *Make it fit*, *Waterfall* and *Vary*. Each page
// runs a command of vramscope for the program on the page *Your program*. The user can open the
// plans of the result as documents.
#pragma once

#include <QJsonObject>
#include <QStringList>
#include <string>
#include <vector>

#include "profiler/program/request.h"
#include "profiler/program/vary.h"
#include "ui/studies/study_page.h"

class QLineEdit;

namespace vramscope::ui {

// Returns the words after "--" of a command about the program, and the program's folder. Errors
// (kInvalidArgument, kNotFound) say what the request lacks.
absl::StatusOr<CommandProgram> ProgramOf(const program::Request& request);
// Returns the words before "--": "fit", "--device", "h100-sxm", ... `toggles` are switched on.
QStringList StudyArguments(const QString& command, const program::Request& request,
                           const std::vector<std::string>& toggles);

class ProgramStudyPage : public StudyPage {
  Q_OBJECT
 public:
  ProgramStudyPage(const StudyPrograms& programs, const char* name, QWidget* parent = nullptr);
  // Sets the program of the form on the left. Results for another program stay, with a remark.
  void setRequest(const program::Request& request);

 Q_SIGNALS:
  // Asks the window to show the plan of `request` in a separate document. `base` is the request
  // with which the study began. `variant` says how `request` differs from `base`.
  void planRequested(const vramscope::program::Request& request,
                     const vramscope::program::Request& base, const QString& variant);

 protected:
  virtual void ShowResult(const QJsonObject& result) = 0;
  void Show(const QJsonObject& result) final;
  // Runs the command, or says why the program of the form cannot be planned.
  void StartOn(const QStringList& arguments, const QString& says);
  void Found(const QString& text);  // describes the result
  QString Budget(const QString& typed) const;

  program::Request request_;  // of the form
  program::Request asked_;    // to which the shown result belongs

 private:
  void SayWhatItIs();
  program::Request asking_;  // on which the running command works
  QString found_;            // empty: no result
};

// Finds toggles with which the program fits. Each proposal can be opened as a document.
class ProgramFitPage : public ProgramStudyPage {
  Q_OBJECT
 public:
  explicit ProgramFitPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void makeItFit();
  void open(int proposal);  // index of the proposal
  QJsonObject dumpState() const override;

 protected:
  void ShowResult(const QJsonObject& result) override;

 private:
  FitControls* fit_;
  std::vector<std::vector<std::string>> proposals_;  // toggles of each proposal
};

// Shows a bar for each toggle that is on, in an order that the user can change.
class ProgramWaterfallPage : public ProgramStudyPage {
  Q_OBJECT
 public:
  explicit ProgramWaterfallPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme) override;
  void draw();
  void move(int by);  // moves the selected bar up or down; it stays selected
  QJsonObject dumpState() const override;

 protected:
  void ShowResult(const QJsonObject& result) override;

 private:
  void DrawInOrder(const std::vector<std::string>& order);
  void Open(int row);
  WaterfallControls* bars_;
};

class VaryChart;

// Shows the memory that the program needs with other values of its arguments, in a chart. A click
// on a point opens its plan.
class VaryPage : public ProgramStudyPage {
  Q_OBJECT
 public:
  explicit VaryPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme) override;
  void vary();
  void open(int row);  // of the table
  QJsonObject dumpState() const override;

 protected:
  void ShowResult(const QJsonObject& result) override;

 private:
  void Open(const std::vector<std::string>& values);
  QLineEdit* argument_;
  QLineEdit* budget_;
  VaryChart* chart_;
  std::vector<std::string> names_;                // of the arguments
  std::vector<std::vector<std::string>> points_;  // values of each point of the chart
};

}  // namespace vramscope::ui
