#include "ui/studies/study_page.h"

#include <QHBoxLayout>
#include <QJsonArray>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/panels/form_widgets.h"

namespace vramscope::ui {

StudyPage::StudyPage(const StudyPrograms& programs, const char* name, QWidget* parent)
    : QWidget(parent),
      runner_(new CommandRunner(programs.vramscope, programs.worker, this)),
      controls_(new QHBoxLayout),
      column_(new QVBoxLayout(this)),
      model_(new TableModel(this)),
      view_(new TableView),
      says_(new ElidedLabel(LabelRole::kBody)),
      progress_(new QProgressBar),
      cancel_(new QToolButton) {
  setObjectName(QLatin1String(name));
  column_->setContentsMargins(8, 6, 8, 0);
  column_->addLayout(controls_);
  controls_->addWidget(says_, 1);
  says_->setSelectable();
  progress_->setRange(0, 0);
  progress_->setMaximumWidth(120);
  progress_->setTextVisible(false);
  cancel_->setText(tr("Cancel"));
  controls_->addWidget(progress_);
  controls_->addWidget(cancel_);
  view_->setObjectName(QLatin1String(name) + QStringLiteral("Table"));
  view_->setRowModel(model_);
  column_->addWidget(view_, 1);
  connect(cancel_, &QToolButton::clicked, this, &StudyPage::cancel);
  connect(runner_, &CommandRunner::ended, this,
          [this](const QJsonObject& result, const QString& error) {
            Busy(false);
            if (error.isEmpty()) {
              Show(result);
            } else {
              Say(error);
            }
          });
  Busy(false);
}

void StudyPage::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

void StudyPage::Busy(bool busy) {
  progress_->setVisible(busy);
  cancel_->setVisible(busy);
  Q_EMIT changed();
}

void StudyPage::Start(const QStringList& arguments, const std::string& config,
                      const CommandProgram& program) {
  runner_->run(arguments, config, program);
  Busy(runner_->busy());
}

void StudyPage::Say(const QString& text) { says_->setFullText(text); }

QJsonObject StudyPage::dumpState() const {
  return {{"says", says_->fullText()}, {"busy", busy()}, {"table", view_->dumpState()}};
}

}  // namespace vramscope::ui
