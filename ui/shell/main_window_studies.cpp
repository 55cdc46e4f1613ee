// The pages that run a command of vramscope: studies of the model and of the user's program, and
// published experiments. Also the search for the program's toggles.
#include <QStackedWidget>
#include <QTabWidget>
#include <algorithm>

#include "ui/panels/program_panel.h"
#include "ui/panels/program_toggles.h"
#include "ui/panels/qt_theme.h"
#include "ui/program/program_runner.h"
#include "ui/shell/main_window.h"
#include "ui/studies/command_runner.h"
#include "ui/studies/program_pages.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
// Inserts the pages before the Log tab. They are in the order of pageNames().
void MainWindow::BuildStudies(const QString& vramscope, const QString& worker) {
  const StudyPrograms programs{vramscope, worker};
  fit_ = new FitPage(programs);
  waterfall_ = new WaterfallPage(programs);
  experiments_ = new ExperimentsPage(programs);
  program_fit_ = new ProgramFitPage(programs);
  program_waterfall_ = new ProgramWaterfallPage(programs);
  vary_ = new VaryPage(programs);
  studies_ = {fit_, waterfall_, experiments_, program_fit_, program_waterfall_, vary_};
  fit_pages_ = new QStackedWidget;
  fit_pages_->addWidget(fit_);
  fit_pages_->addWidget(program_fit_);
  waterfall_pages_ = new QStackedWidget;
  waterfall_pages_->addWidget(waterfall_);
  waterfall_pages_->addWidget(program_waterfall_);
  const std::pair<QWidget*, QString> pages[] = {{fit_pages_, tr("Make it fit")},
                                                {waterfall_pages_, tr("Waterfall")},
                                                {vary_, tr("Vary")},
                                                {experiments_, tr("Experiments")}};
  for (const auto& [page, title] : pages) tabs_->insertTab(tabs_->count() - 1, page, title);
  for (StudyPage* study : studies_) {
    connect(study, &StudyPage::editRequested, this, &MainWindow::editConfig);
    connect(study, &StudyPage::changed, this, [this] { actions_.Refresh(); });
  }
  toggle_search_ = new CommandRunner(vramscope, worker, this);
}

void MainWindow::ConnectProgramStudies() {
  for (ProgramStudyPage* page :
       std::initializer_list<ProgramStudyPage*>{program_fit_, program_waterfall_, vary_}) {
    connect(page, &ProgramStudyPage::planRequested, this, &MainWindow::planProgramBeside);
    connect(program_, &ProgramPanel::requestChanged, page,
            [this, page] { page->setRequest(program_->request()); });
    page->setRequest(program_->request());
  }
  ProgramToggles* toggles = program_->toggles();
  connect(toggles, &ProgramToggles::searchRequested, this, &MainWindow::FindToggles);
  connect(toggles, &ProgramToggles::cancelRequested, toggle_search_, &CommandRunner::cancel);
  connect(toggle_search_, &CommandRunner::arrived, toggles, &ProgramToggles::setPart);
  connect(toggle_search_, &CommandRunner::ended, this,
          [this, toggles](const QJsonObject& result, const QString& error) {
            toggles->endSearch(result, error);
            actions_.Refresh();
          });
  connect(program_, &ProgramPanel::toggled, this, &MainWindow::ProgramToggled);
  // Give the timeline the focus, so that Ctrl+Z undoes the toggle instead of text in the form.
  connect(toggles, &ProgramToggles::switchedByMouse, this, [this] { timeline_->setFocus(); });
}

// Plans the program without toggles, and then with one toggle at a time. So a toggle's figure does
// not depend on the other toggles that the user has switched on.
void MainWindow::FindToggles() {
  ProgramToggles* toggles = program_->toggles();
  const program::Request& request = program_->request();
  const absl::StatusOr<CommandProgram> program = ProgramOf(request);
  if (!program.ok()) return toggles->say(ToQString(std::string(program.status().message())));
  toggles->beginSearch(request);
  toggle_search_->run(StudyArguments(QStringLiteral("toggles"), request, {})
                          << QStringLiteral("--savings") << QStringLiteral("--json-lines"),
                      {}, *program);
  actions_.Refresh();
}

// Shows the studies of the program if the left side shows its controls. Otherwise shows the studies
// of the model.
void MainWindow::ShowStudies() {
  const bool program =
      ControlsShow(ControlsPage::kProgram) ||
      (ControlsShow(ControlsPage::kRecording) && doc().source.kind == SourceKind::kProgram);
  fit_pages_->setCurrentIndex(program ? 1 : 0);
  waterfall_pages_->setCurrentIndex(program ? 1 : 0);
}

// Studies of the program need no LibTorch.
bool MainWindow::CanStudy(const QStackedWidget* pages) const {
  const bool program = pages->currentIndex() == 1;
  return (program || can_plan_) && !static_cast<StudyPage*>(pages->currentWidget())->busy();
}

void MainWindow::MakeItFit() {
  if (fit_pages_->currentWidget() == program_fit_)
    program_fit_->makeItFit();
  else
    fit_->makeItFit();
}

void MainWindow::DrawWaterfall() {
  if (waterfall_pages_->currentWidget() == program_waterfall_)
    program_waterfall_->draw();
  else
    waterfall_->draw();
}

bool MainWindow::StudiesBusy() const {
  return toggle_search_->busy() ||
         std::ranges::any_of(studies_, [](const StudyPage* page) { return page->busy(); });
}

void MainWindow::CancelStudies() {
  for (StudyPage* page : studies_) page->cancel();
  toggle_search_->cancel();
}

}  // namespace vramscope::ui
