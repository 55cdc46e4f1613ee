// Theme and language of the running window.
#include "ui/explain/explain_panel.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/allocations_panel.h"
#include "ui/panels/breakdown_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/phases_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/selection_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/shell/document_tabs.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/history_panel.h"
#include "ui/shell/main_window.h"
#include "ui/shell/settings_dialog.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {

void MainWindow::setThemeChoice(ThemeChoice choice, bool remember) {
  theme_choice_ = choice;
  if (remember) settings_->setValue(QStringLiteral("theme"), ThemeName(choice));
  theme_ = ResolveTheme(choice);
  ApplyChosenTheme();
}

void MainWindow::setLanguage(Language language, bool remember) {
  if (remember) settings_->setValue(QStringLiteral("language"), LanguageName(language));
  if (language == CurrentLanguage()) return;
  SetLanguage(language);
  actions_.Retranslate();
  Retranslate(this);
  recent_.show();
  // Rebuild the texts that contain data. Position and selection stay the same.
  KeepView();
  timeline_->retranslate();
  ShowNothing();
  ShowActive();
  SetConfig(doc().config);
  RefreshTabs();
  WarnOfFonts();
}

void MainWindow::WarnOfFonts() {
  if (FontsCover(CurrentLanguage())) return;
  banner_->show({.kind = "no-font",
                 .tone = Banner::Tone::kWarning,
                 .title = QStringLiteral("No font with Chinese characters is installed"),
                 .text = QStringLiteral("Install one, for instance with \"apt-get install "
                                        "fonts-noto-cjk\", and start vramscope again.")});
}

void MainWindow::ApplyChosenTheme() {
  ApplyTheme(theme_);
  timeline_->setTheme(theme_);
  techniques_->setTheme(theme_);
  program_->setTheme(theme_);
  breakdown_->setTheme(theme_);
  selection_->setTheme(theme_);
  explain_->setTheme(theme_);
  phases_->setTheme(theme_);
  allocations_->setTheme(theme_);
  kernels_->setTheme(theme_);
  search_->setTheme(theme_);
  notes_page_->setTheme(theme_);
  for (StudyPage* page : studies_) page->setTheme(theme_);
  history_->setTheme(theme_);
  document_tabs_->setTheme(theme_);
  if (auto* settings = findChild<SettingsDialog*>()) settings->setTheme(theme_);
  actions_.Refresh();
}

}  // namespace vramscope::ui
