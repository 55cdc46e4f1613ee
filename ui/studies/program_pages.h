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
// (kInvalidArgument, kNotFound) state what the request lacks.
absl::StatusOr<CommandProgram> ProgramOf(const program::Request& request);
// Returns the words before "--": "fit", "--device", "h100-sxm", ... The words switch on `toggles`.
QStringList StudyArguments(const QString& command, const program::Request& request,
                           const std::vector<std::string>& toggles);

class ProgramStudyPage : public StudyPage {
  Q_OBJECT
 public:
  ProgramStudyPage(const StudyPrograms& programs, const char* name, QWidget* parent = nullptr);
  // Sets the program in the form on the left. Results for another program stay visible, with a
  // remark.
  void setRequest(const program::Request& request);

 Q_SIGNALS:
  // Asks the window to show the plan of `request` in a separate document. `base` is the request
  // to which the study's result belongs. `variant` states how `request` differs from `base`.
  void planRequested(const vramscope::program::Request& request,
                     const vramscope::program::Request& base, const QString& variant);

 protected:
  virtual void ShowResult(const QJsonObject& result) = 0;
  void Show(const QJsonObject& result) final;
  // Runs the command and shows `says` meanwhile. If the program in the form cannot be planned, says
  // why instead.
  void StartOn(const QStringList& arguments, const QString& says);
  void Found(const QString& text);  // sets the text that describes the result
  QString Budget(const QString& typed) const;

  program::Request request_;  // the program in the form
  program::Request asked_;    // the program to which the shown result belongs

 private:
  void SayWhatItIs();
  program::Request asking_;  // the program to which the running command belongs
  QString found_;            // the text of Found(); empty: no result
};

// Finds toggles with which the program fits. Each proposal can be opened as a separate document.
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

// Shows in a chart how much memory the program needs with other values of its arguments. A click on
// a point opens the point's plan.
class VaryPage : public ProgramStudyPage {
  Q_OBJECT
 public:
  explicit VaryPage(const StudyPrograms& programs, QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme) override;
  void vary();
  void open(int row);  // opens the plan of a row of the table
  QJsonObject dumpState() const override;

 protected:
  void ShowResult(const QJsonObject& result) override;

 private:
  void Open(const std::vector<std::string>& values);
  QLineEdit* argument_;
  QLineEdit* budget_;
  VaryChart* chart_;
  std::vector<std::string> names_;                // the names of the arguments
  std::vector<std::vector<std::string>> points_;  // argument values of each point of the chart
};

}  // namespace vramscope::ui
