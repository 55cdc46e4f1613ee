// The Help menu and the settings: commands, keys, the tour.
#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QMessageBox>
#include <QTabWidget>
#include <algorithm>

#include "ui/shell/command_palette.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/key_bindings.h"
#include "ui/shell/main_window.h"
#include "ui/shell/settings_dialog.h"
#include "ui/shell/tour.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr QLatin1String kTourShown("tour-shown");

QList<QKeySequence> HelpKeys(std::initializer_list<const char*> texts) {
  QList<QKeySequence> keys;
  for (const char* text : texts) keys << QKeySequence(QString::fromLatin1(text));
  return keys;
}

}  // namespace

// Returns a path next to the settings file: $XDG_CONFIG_HOME/vramscope/keys.json.
QString MainWindow::KeysFile() const {
  return QFileInfo(settings_->fileName()).absolutePath() + QStringLiteral("/keys.json");
}

void MainWindow::AddHelpActions() {
  const QString menu = tr("Help");
  actions_.Add({.id = "help.commands",
                .menu = menu,
                .text = tr("Commands …"),
                .shortcuts = HelpKeys({"Ctrl+K", "Ctrl+Shift+P"}),
                .run = [this] {
                  actions_.Refresh();
                  // When the palette is closed, the canvas gets the focus, unless the command moves
                  // it elsewhere.
                  timeline_->setFocus();
                  auto* palette = new CommandPalette(actions_, this);
                  const QPoint at =
                      mapToGlobal(QPoint((width() - palette->width()) / 2, height() / 8));
                  palette->move(at);
                  palette->show();
                }});
  actions_.Add({.id = "help.shortcuts",
                .menu = menu,
                .text = tr("Keyboard shortcuts"),
                .shortcuts = HelpKeys({"?", "F1"}),
                .run = [this] {
                  auto* sheet = findChild<ShortcutSheet*>();
                  if (sheet == nullptr) sheet = new ShortcutSheet(actions_, this);
                  sheet->show();
                  sheet->raise();
                }});
  actions_.Add({.id = "help.settings",
                .menu = menu,
                .text = tr("Settings …"),
                .shortcuts = HelpKeys({"Ctrl+,"}),
                .run = [this] { openSettings(QStringLiteral("appearance")); },
                .tip = tr("Changes the theme, language, UI scale, motion and keys"),
                .separator_before = true,
                .words = {tr("preferences"), tr("options"), tr("scale"), tr("reduced motion")}});
  actions_.Add({.id = "help.keys",
                .menu = menu,
                .text = tr("Change keys …"),
                .run = [this] { openSettings(QStringLiteral("keys")); },
                .tip = tr("Assign other keys to commands"),
                .words = {tr("shortcuts"), tr("rebind"), tr("key bindings")}});
  actions_.Add({.id = "help.tour",
                .menu = menu,
                .text = tr("Tour"),
                .run = [this] { startTour(); },
                .tip = tr("Explains the window in five steps, on a sample run"),
                .separator_before = true,
                .words = {tr("introduction"), tr("tutorial")}});
  actions_.Add({.id = "help.about", .menu = menu, .text = tr("About vramscope"), .run = [this] {
                  ShowAbout();
                }});
}

void MainWindow::openSettings(const QString& page) {
  auto* dialog = findChild<SettingsDialog*>();
  if (dialog == nullptr) {
    dialog = new SettingsDialog(&actions_, keys_, settings_.get(), this);
    connect(dialog, &SettingsDialog::restartAsked, this, [this] {
      restart_ = asked_to_restart_ = true;
      close();
    });
  }
  dialog->setTheme(theme_);
  dialog->openPage(page);
  dialog->show();
  dialog->raise();
}

bool MainWindow::offerTour() {
  if (settings_->value(kTourShown, false).toBool()) return false;
  startTour();
  return loader_->busy();
}

Tour* MainWindow::tour() const { return tour_; }

// Starts the tour. It shows the present run or, if there is none, a sample run in a tab of its own.
void MainWindow::startTour() {
  settings_->setValue(kTourShown, true);
  if (tour_ != nullptr) tour_->end();
  const setup::Samples samples = setup::Samples::In(setup_.samples_folder.toStdString());
  if (session().shown() == nullptr && run_tag_ == 0 && !samples.empty()) {
    const std::vector<std::string> files = samples.Files();
    const auto gpt2 = std::ranges::find_if(
        files, [](const std::string& file) { return file.ends_with("/gpt2.trace"); });
    openFile(QString::fromStdString(gpt2 == files.end() ? files.front() : *gpt2));
  }
  std::vector<TourStep> steps;
  steps.push_back({timeline_, tr("Memory over time"),
                   tr("Phases, memory, blocks, modules and kernels share one axis. Each color is a "
                      "category of memory. The wheel pans, Ctrl+wheel or W and S zoom, P goes to "
                      "the peak, and a drag selects a range."),
                   [this] { timeline_->zoomToFit(); }});
  steps.push_back({breakdown_dock_, tr("What is in memory"),
                   tr("This panel shows the memory at the peak, or at the cursor if you click in "
                      "the curve. Click a category to hide it. The selection is shown below, with "
                      "its call stack and links to its op, kernels and module."),
                   [this] { breakdown_dock_->show(); }});
  steps.push_back({controls_dock_, tr("What would change memory use"),
                   tr("Before you switch on a technique, you see what it saves and what it costs "
                      "in time. Ctrl+Z undoes the change. The history below lists every result."),
                   [this] {
                     controls_dock_->show();
                     ShowControlsPage(ControlsPage::kModel);
                   }});
  steps.push_back({tables_dock_, tr("Why memory is used"),
                   tr("The tables list findings, call sites, fragmentation, the live set at the "
                      "cursor, and kernels. Click a row to show it in the timeline. Press Ctrl+F "
                      "to find anything in the timeline."),
                   [this] { openPage(QStringLiteral("findings")); }});
  steps.push_back({controls_dock_, tr("Your own program"),
                   tr("Ctrl+G plans or records your train.py; Ctrl+O opens a "
                      "recording. Ctrl+K "
                      "finds any command. This tour is in the Help menu."),
                   [this] {
                     controls_dock_->show();
                     ShowControlsPage(ControlsPage::kProgram);
                   }});
  tour_ = new Tour(this);
  connect(tour_, &Tour::ended, this, [this] {
    if (doc().source.kind != SourceKind::kProgram) ShowControls();
    timeline_->setFocus();
  });
  tour_->start(std::move(steps));
}

void MainWindow::ShowAbout() {
  QMessageBox::about(this, tr("About vramscope"),
                     tr("<b>vramscope</b><br>What is in GPU memory while a "
                        "neural network trains.<br><br>Worker: "
                        "%1<br>Qt %2")
                         .arg(worker_->running() ? worker_->workerVersion() : tr("not running"),
                              QLatin1String(qVersion())));
}

}  // namespace vramscope::ui
