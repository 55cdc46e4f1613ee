// Tests keys that the user assigns to commands, the settings dialog, and the tour, in the real
// window.
#include <gmock/gmock.h>

#include <QAbstractButton>
#include <QComboBox>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>

#include "tests/ui/shell/shell_window.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/key_bindings.h"
#include "ui/shell/keys_page.h"
#include "ui/shell/settings_dialog.h"
#include "ui/shell/tour.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;

QKeySequence Key(const char* text) { return QKeySequence(QString::fromLatin1(text)); }

class SettingsWindow : public testing::ShellWindow {
 protected:
  QString KeysFile() { return folder_.filePath(QStringLiteral("keys.json")); }
  void WriteKeys(const QByteArray& json) {
    QFile file(KeysFile());
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(json);
  }
  QByteArray ReadKeys() {
    QFile file(KeysFile());
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  QAction* Action(const char* id) {
    window_->actionRegistry()->Refresh();
    return window_->actionRegistry()->Find(QString::fromLatin1(id));
  }
  KeysPage* OpenKeys() {
    Action("help.keys")->trigger();
    auto* dialog = window_->findChild<SettingsDialog*>();
    EXPECT_NE(dialog, nullptr);
    return dialog == nullptr ? nullptr : dialog->keys();
  }
  template <class W>
  W* In(QWidget* page, const char* name) {
    return page->findChild<W*>(QString::fromLatin1(name));
  }
  // Like a user, chooses the command, presses the key and clicks the button.
  void AssignKey(KeysPage* page, const char* id, Qt::Key key, Qt::KeyboardModifiers modifiers,
                 const char* button = "keySet") {
    page->choose(QString::fromLatin1(id));
    auto* edit = In<KeyEdit>(page, "keyEdit");
    edit->setFocus();
    QTest::keyClick(edit, key, modifiers);
    ASSERT_TRUE(In<QPushButton>(page, button)->isEnabled());
    QTest::mouseClick(In<QPushButton>(page, button), Qt::LeftButton);
  }
  QString MessageOf(KeysPage* page) { return In<QLabel>(page, "keysSaid")->text(); }
};

TEST_F(SettingsWindow, KeyChangeAppliesAtOnceAndAfterRestart) {
  KeysPage* page = OpenKeys();
  AssignKey(page, "go.peak", Qt::Key_J, Qt::ControlModifier);
  EXPECT_EQ(Action("go.peak")->shortcuts(), QList<QKeySequence>{Key("Ctrl+J")});
  AssignKey(page, "go.peak", Qt::Key_F11, Qt::NoModifier, "keyAdd");
  EXPECT_EQ(Action("go.peak")->shortcuts(), (QList<QKeySequence>{Key("Ctrl+J"), Key("F11")}));
  EXPECT_THAT(ReadKeys().toStdString(), HasSubstr("\"go.peak\""));
  EXPECT_EQ(ReadKeys().count("\": ["), 1) << "only keys that differ from the defaults";
  // In the window, the new key must work, and the old key must not.
  RunDefault();
  window_->timelineWidget()->zoomIn();
  ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  page->window()->close();
  window_->timelineWidget()->setFocus();
  int peaks = 0;
  QObject::connect(Action("go.peak"), &QAction::triggered, window_.get(), [&] { ++peaks; });
  QTest::keyClick(window_->timelineWidget(), Qt::Key_J, Qt::ControlModifier);
  QTest::keyClick(window_->timelineWidget(), Qt::Key_P, Qt::ControlModifier);
  EXPECT_EQ(peaks, 1);
  // The list of shortcuts must show the new keys.
  Action("help.shortcuts")->trigger();
  QStringList texts;
  for (const QLabel* label : window_->findChild<ShortcutSheet*>()->findChildren<QLabel*>())
    texts << label->text();
  EXPECT_TRUE(texts.contains(QStringLiteral("Ctrl+J or F11"))) << texts.join('|').toStdString();
  // It must also list the keys of the timeline.
  for (const char* keys : {"F", "P", "R", "[ / ]", "C / T / H", "Alt+Up / Alt+Down", "Ctrl+drag"})
    EXPECT_TRUE(texts.contains(QLatin1String(keys))) << keys;
  // No key may be cut off on the right.
  const auto* list = window_->findChild<ShortcutSheet*>()->findChild<QScrollArea*>();
  QCoreApplication::processEvents();
  EXPECT_LE(list->widget()->width(), list->viewport()->width());
  Open(false);
  EXPECT_EQ(Action("go.peak")->shortcuts(), (QList<QKeySequence>{Key("Ctrl+J"), Key("F11")}));
  page = OpenKeys();
  page->choose(QStringLiteral("go.peak"));
  QTest::mouseClick(In<QPushButton>(page, "keyReset"), Qt::LeftButton);
  EXPECT_EQ(Action("go.peak")->shortcuts(), QList<QKeySequence>{Key("Ctrl+P")});
  EXPECT_EQ(ReadKeys().count("\": ["), 0);
}

TEST_F(SettingsWindow, ReassigningAKeyRemovesItFromTheOtherCommand) {
  KeysPage* page = OpenKeys();
  page->choose(QStringLiteral("go.peak"));
  auto* edit = In<KeyEdit>(page, "keyEdit");
  edit->setFocus();
  QTest::keyClick(edit, Qt::Key_F, Qt::ControlModifier);
  EXPECT_THAT(MessageOf(page).toStdString(), HasSubstr("“Find …” currently uses Ctrl+F"));
  EXPECT_EQ(In<QPushButton>(page, "keySet")->text(), QStringLiteral("Reassign"));
  QTest::mouseClick(In<QPushButton>(page, "keySet"), Qt::LeftButton);
  EXPECT_EQ(Action("go.peak")->shortcuts(), QList<QKeySequence>{Key("Ctrl+F")});
  EXPECT_TRUE(Action("edit.find")->shortcuts().isEmpty()) << "no key has two commands";
  // A key that the canvas uses must be accepted, but with a note.
  page->choose(QStringLiteral("go.largest"));
  edit->setFocus();
  QTest::keyClick(edit, Qt::Key_W);
  EXPECT_THAT(MessageOf(page).toStdString(), HasSubstr("The timeline currently uses W"));
  // Removes the key.
  page->choose(QStringLiteral("go.largest"));
  QTest::mouseClick(In<QPushButton>(page, "keyRemove"), Qt::LeftButton);
  EXPECT_TRUE(Action("go.largest")->shortcuts().isEmpty());
  QTest::mouseClick(In<QPushButton>(page, "keysResetAll"), Qt::LeftButton);
  EXPECT_EQ(Action("edit.find")->shortcuts(), QList<QKeySequence>{Key("Ctrl+F")});
  EXPECT_EQ(Action("go.peak")->shortcuts(), QList<QKeySequence>{Key("Ctrl+P")});
  EXPECT_EQ(Action("go.largest")->shortcuts(), QList<QKeySequence>{Key("Ctrl+L")});
  EXPECT_FALSE(In<QPushButton>(page, "keysResetAll")->isEnabled());
  // The list can be searched by name and by key.
  In<QLineEdit>(page, "keysFilter")->setText(QStringLiteral("ctrl+l"));
  auto* view = In<TableView>(page, "keysTable");
  EXPECT_EQ(view->model()->rowCount(), 1);
  In<QLineEdit>(page, "keysFilter")->setText(QStringLiteral("zzz"));
  EXPECT_EQ(view->model()->rowCount(), 0);
}

TEST_F(SettingsWindow, ReadsEditedKeysFileAndKeepsAnInvalidOne) {
  WriteKeys(R"({"version": 1, "keys": {"edit.find": ["F2"], "go.peak": ["Ctrl+O"],
                "of.another.version": ["F9"]}})");
  Open(false);
  EXPECT_EQ(Action("edit.find")->shortcuts(), QList<QKeySequence>{Key("F2")});
  EXPECT_EQ(Action("go.peak")->shortcuts(), QList<QKeySequence>{Key("Ctrl+O")});
  EXPECT_TRUE(Action("file.open")->shortcuts().isEmpty()) << "the user's key takes precedence";
  ASSERT_TRUE(window_->keyBindings()->set(QStringLiteral("edit.find"), {Key("F4")}).ok());
  EXPECT_THAT(ReadKeys().toStdString(), HasSubstr("of.another.version"));
  const QByteArray faulty[] = {"{",
                               "[]",
                               R"({"version": 2, "keys": {}})",
                               R"({"version": 1})",
                               R"({"version": 1, "keys": {"edit.find": "F2"}})",
                               R"({"version": 1, "keys": {"edit.find": ["Ctrl+Spoon"]}})",
                               R"({"version": 1, "keys": {"edit.find": [""]}})",
                               R"({"version": 1, "keys": {"edit.find": [1]}})",
                               QByteArray(KeyBindings::kMostBytes + 1, ' '),
                               R"({"version": 1, "keys": {"edit.find": [)" +
                                   QByteArray(R"("F2",)").repeated(20) + R"("F3"]}})"};
  for (const QByteArray& json : faulty) {
    SCOPED_TRACE(json.left(60).toStdString());
    WriteKeys(json);
    Open(false);
    EXPECT_EQ(Action("edit.find")->shortcuts(), QList<QKeySequence>{Key("Ctrl+F")});
    EXPECT_FALSE(window_->keyBindings()->error().isEmpty());
    EXPECT_FALSE(window_->keyBindings()->set(QStringLiteral("go.peak"), {Key("F2")}).ok());
    EXPECT_EQ(ReadKeys(), json) << "it is not changed";
    KeysPage* page = OpenKeys();
    EXPECT_THAT(MessageOf(page).toStdString(), HasSubstr("keys.json"));
    EXPECT_FALSE(In<QPushButton>(page, "keyRemove")->isEnabled());
  }
}

TEST_F(SettingsWindow, KeysDoNotChangeWhenTheyCannotBeSaved) {
  Open(false);
  KeyBindings* keys = window_->keyBindings();
  ASSERT_TRUE(QDir().mkpath(keys->file()));  // a folder in the file's place
  const auto find = QStringLiteral("edit.find"), peak = QStringLiteral("go.peak");
  const KeyBindings::Keys of_peak = keys->keysOf(peak);
  ASSERT_FALSE(of_peak.isEmpty());
  EXPECT_FALSE(keys->set(find, of_peak).ok());
  EXPECT_EQ(keys->keysOf(peak), of_peak);
  EXPECT_EQ(Action("edit.find")->shortcuts(), QList<QKeySequence>{Key("Ctrl+F")});
  EXPECT_FALSE(keys->resetAll().ok());
  EXPECT_FALSE(keys->any());
}

TEST_F(SettingsWindow, ScaleAndAnimationSettingAreStored) {
  Action("help.settings")->trigger();
  auto* dialog = window_->findChild<SettingsDialog*>();
  ASSERT_NE(dialog, nullptr);
  auto* scale = In<QComboBox>(dialog, "settingsScale");
  EXPECT_EQ(scale->currentData().toInt(), 100);
  scale->setCurrentIndex(scale->findData(150));
  Q_EMIT scale->activated(scale->currentIndex());
  EXPECT_TRUE(In<QWidget>(dialog, "settingsScaleLater")->isVisibleTo(dialog));
  const QSettings stored(folder_.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  EXPECT_EQ(StoredUiScale(stored), 150);
  EXPECT_TRUE(Action("view.animations")->isChecked());
  In<QAbstractButton>(dialog, "settingsMotion")->click();
  EXPECT_FALSE(Action("view.animations")->isChecked());
  auto* theme = In<QComboBox>(dialog, "settingsTheme");
  theme->setCurrentIndex(theme->findData(QStringLiteral("view.theme.light")));
  Q_EMIT theme->activated(theme->currentIndex());
  EXPECT_EQ(State()["theme"].toString(), QStringLiteral("light"));
  window_->setThemeChoice(ThemeChoice::kDark);
  Open(false);
  EXPECT_FALSE(Action("view.animations")->isChecked()) << "the setting was stored";
  // If the stored value is not a valid scale, it must be ignored.
  QSettings odd(folder_.filePath(QStringLiteral("odd.ini")), QSettings::IniFormat);
  for (const QVariant& value : {QVariant(7), QVariant(-100), QVariant(QStringLiteral("huge"))}) {
    odd.setValue(QStringLiteral("ui-scale"), value);
    EXPECT_EQ(StoredUiScale(odd), 100);
  }
}

TEST_F(SettingsWindow, RestartButtonClosesTheWindow) {
  Action("help.settings")->trigger();
  auto* dialog = window_->findChild<SettingsDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_FALSE(In<QWidget>(dialog, "settingsScaleLater")->isVisibleTo(dialog));
  EXPECT_FALSE(window_->restartRequested());
  Q_EMIT In<QComboBox>(dialog, "settingsScale")->activated(0);
  In<QAbstractButton>(dialog, "settingsRestart")->click();
  EXPECT_TRUE(window_->restartRequested());
  EXPECT_FALSE(window_->isVisible());
}

class TourWindow : public testing::ShellWindow {
 protected:
  void SetUp() override { OpenWithSamples(); }
  void OpenWithSamples() {
    window_.reset();
    MainWindowOptions options{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                              .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                              .savings = false};
    options.setup.samples_folder = QStringLiteral(VRAMSCOPE_SOURCE_DIR "/resources/samples");
    window_ = std::make_unique<MainWindow>(options);
    window_->resize(1400, 900);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    QApplication::setActiveWindow(window_.get());
  }
  // Expects the tour inside the window, and a visible border around the part that it describes.
  void ExpectInside() {
    QTest::qWait(20);
    EXPECT_TRUE(window_->rect().contains(window_->tour()->geometry()))
        << window_->tour()->step() << ": " << window_->tour()->x() << ", " << window_->tour()->y();
    EXPECT_TRUE(window_->findChild<QWidget*>(QStringLiteral("tourBorder"))->isVisible());
  }
};

TEST_F(TourWindow, TourHasFiveStepsAndIsOfferedOnce) {
  EXPECT_TRUE(window_->offerTour());
  ASSERT_NE(window_->tour(), nullptr);
  EXPECT_EQ(window_->tour()->steps(), 5u);
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  EXPECT_EQ(window_->documents().active().source.file,
            VRAMSCOPE_SOURCE_DIR "/resources/samples/gpt2.trace");
  Tour* tour = window_->tour();
  EXPECT_TRUE(tour->hasFocus()) << "the sample run must not take the tour's keys";
  QStringList titles;
  for (size_t step = 0; step < 5; ++step) {
    EXPECT_EQ(tour->step(), step);
    titles << State()["tour"].toObject()["title"].toString();
    EXPECT_FALSE(State()["tour"].toObject()["text"].toString().isEmpty());
    ExpectInside();
    if (step < 4) QTest::keyClick(tour, Qt::Key_Right);
  }
  titles.removeDuplicates();
  EXPECT_EQ(titles.size(), 5);
  QTest::keyClick(tour, Qt::Key_Left);
  EXPECT_EQ(tour->step(), 3u);
  window_->resize(1024, 700);
  ExpectInside();
  QTest::keyClick(tour, Qt::Key_Right);
  QTest::keyClick(tour, Qt::Key_Return);
  ASSERT_TRUE(WaitFor([this] { return window_->tour() == nullptr; }));
  EXPECT_TRUE(window_->timelineWidget()->hasFocus());
  EXPECT_FALSE(window_->offerTour()) << "never twice";
  EXPECT_EQ(window_->tour(), nullptr);
  OpenWithSamples();
  EXPECT_FALSE(window_->offerTour()) << "nor at the next start";
  // The menu must start the tour on the shown document, and Esc must end it.
  RunDefault();
  window_->actionRegistry()->Find(QStringLiteral("help.tour"))->trigger();
  ASSERT_NE(window_->tour(), nullptr);
  EXPECT_EQ(window_->documents().size(), 1u) << "what is shown stays";
  QTest::keyClick(window_->tour(), Qt::Key_Escape);
  ASSERT_TRUE(WaitFor([this] { return window_->tour() == nullptr; }));
}

TEST_F(TourWindow, DismissedTourIsNotOfferedAgain) {
  EXPECT_TRUE(window_->offerTour());
  QTest::mouseClick(window_->findChild<QPushButton*>(QStringLiteral("tourClose")), Qt::LeftButton);
  ASSERT_TRUE(WaitFor([this] { return window_->tour() == nullptr && !window_->busy(); }));
  window_.reset();
  OpenWithSamples();
  EXPECT_FALSE(window_->offerTour());
}

}  // namespace
}  // namespace vramscope::ui
