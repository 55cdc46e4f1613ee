// Tests the window in other languages: that the language can be changed while the window is open,
// that all texts are translated, and that longer texts fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSet>
#include <QStyle>
#include <QTabBar>
#include <QTableView>
#include <map>

#include "profiler/base/i18n.h"
#include "profiler/run/catalogue.h"
#include "tests/ui/shell/recorded_window.h"
#include "ui/language/language.h"
#include "ui/panels/form_widgets.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Maps the place of each widget to its text, such as "QLabel heading" to "AT THE PEAK".
using Texts = std::map<QString, QString>;

QString PathOf(const QObject* object) {
  QString path;
  for (const QObject* at = object; at != nullptr; at = at->parent()) {
    const qsizetype place = at->parent() != nullptr ? at->parent()->children().indexOf(at) : 0;
    path.prepend(QStringLiteral("/%1:%2")
                     .arg(QString::fromLatin1(at->metaObject()->className()))
                     .arg(at->objectName().isEmpty() ? QString::number(place) : at->objectName()));
  }
  return path;
}

Texts TextsOf(QWidget* window) {
  Texts texts;
  const auto add = [&](const QObject* of, const QString& what, const QString& text) {
    if (!text.isEmpty()) texts[PathOf(of) + QLatin1Char(' ') + what] = text;
  };
  QList<QWidget*> widgets = window->findChildren<QWidget*>();
  for (QWidget* widget : widgets) {
    add(widget, QStringLiteral("tip"), widget->toolTip());
    if (auto* label = qobject_cast<QLabel*>(widget))
      add(label, QStringLiteral("text"), label->text());
    if (auto* button = qobject_cast<QAbstractButton*>(widget))
      add(button, QStringLiteral("text"), button->text());
    if (auto* edit = qobject_cast<QLineEdit*>(widget))
      add(edit, QStringLiteral("placeholder"), edit->placeholderText());
    if (auto* menu = qobject_cast<QMenu*>(widget))
      add(menu, QStringLiteral("title"), menu->title());
    if (auto* tabs = qobject_cast<QTabBar*>(widget))
      for (int i = 0; i < tabs->count(); ++i)
        add(tabs, QStringLiteral("tab %1").arg(i), tabs->tabText(i));
    if (auto* box = qobject_cast<QComboBox*>(widget); box != nullptr && !box->isEditable())
      for (int i = 0; i < box->count(); ++i)
        add(box, QStringLiteral("item %1").arg(i), box->itemText(i));
    if (auto* table = qobject_cast<QTableView*>(widget);
        table != nullptr && table->model() != nullptr)
      for (int i = 0; i < table->model()->columnCount(); ++i)
        for (const int role : {int{Qt::DisplayRole}, int{Qt::ToolTipRole}})
          add(table, QStringLiteral("column %1 %2").arg(i).arg(role),
              table->model()->headerData(i, Qt::Horizontal, role).toString());
  }
  for (const QAction* action : window->findChildren<QAction*>()) {
    add(action, QStringLiteral("text"), action->text());
    add(action, QStringLiteral("status"), action->statusTip());
  }
  return texts;
}

class LanguageWindowTest : public testing::RecordedWindow {
 protected:
  void SetUp() override {
    SetLanguage(Language::kEnglish);
    testing::RecordedWindow::SetUp();
  }
  void TearDown() override {
    window_.reset();
    SetLanguage(Language::kEnglish);
  }
  void ShowAllPages() {
    for (const QString& page : window_->pageNames()) {
      window_->openPage(page);
      ASSERT_TRUE(Idle());
    }
    window_->openPage(QStringLiteral("phases"));
  }
  bool HasChinese() const { return Languages().contains(Language::kChinese); }
};

TEST(LanguageTest, ParsesLocaleNames) {
  EXPECT_EQ(LanguageFromName(QStringLiteral("zh_CN")), Language::kChinese);
  EXPECT_EQ(LanguageFromName(QStringLiteral("zh_CN.UTF-8")), Language::kChinese);
  EXPECT_EQ(LanguageFromName(QStringLiteral("zh-Hans")), Language::kChinese);
  EXPECT_EQ(LanguageFromName(QStringLiteral("zh")), Language::kChinese);
  EXPECT_EQ(LanguageFromName(QStringLiteral("zh_TW.UTF-8")), std::nullopt);
  EXPECT_EQ(LanguageFromName(QStringLiteral("en_US.UTF-8")), Language::kEnglish);
  EXPECT_EQ(LanguageFromName(QStringLiteral("C")), std::nullopt);
  EXPECT_EQ(LanguageFromName({}), std::nullopt);
}

TEST(LanguageTest, IsChosenByEnvironmentVariables) {
  const auto with = [](const char* all, const char* lang) {
    qputenv("LC_ALL", all);
    qputenv("LANG", lang);
    const Language language = SystemLanguage();
    qunsetenv("LC_ALL");
    qunsetenv("LANG");
    return language;
  };
  EXPECT_EQ(with("C", "zh_CN.UTF-8"), Language::kEnglish);
  EXPECT_EQ(with("", "de_DE.UTF-8"), Language::kEnglish);
  if (!Languages().contains(Language::kChinese)) GTEST_SKIP() << "built without lrelease";
  EXPECT_EQ(with("", "zh_CN.UTF-8"), Language::kChinese);
  EXPECT_EQ(with("zh_CN.UTF-8", "en_US.UTF-8"), Language::kChinese);
}

TEST(LanguageTest, IgnoresTranslationsWithWrongPlaceholders) {
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "{} of {}") return "{1} / {0}";
    if (english == "{} blocks") return "{} {} blocks";
    return {};
  });
  EXPECT_EQ(i18n::Format("{} of {}", 1, 2), "2 / 1");
  EXPECT_EQ(i18n::Format("{} blocks", 3), "3 blocks");
  EXPECT_EQ(i18n::Text("untranslated"), "untranslated");
  {
    const i18n::InEnglish english;
    EXPECT_EQ(i18n::Format("{} of {}", 1, 2), "1 of 2");
  }
  EXPECT_EQ(i18n::Format("{} of {}", 1, 2), "2 / 1");
  const std::string& kept = i18n::Text("untranslated");
  i18n::SetTranslator(nullptr);
  EXPECT_EQ(kept, "untranslated") << "references stay valid";
  EXPECT_EQ(i18n::Format("{} of {}", 1, 2), "1 of 2");
}

TEST(LanguageTest, TranslatesStoredEnglishTextWhereItIsShown) {
  const std::string rows = i18n::English("{} rows of {} are left out: {}", 3, "a.json", "cut off");
  const std::string other = i18n::English("{} rows are left out", 7);
  EXPECT_EQ(rows, "3 rows of a.json are left out: cut off");
  EXPECT_EQ(i18n::Shown(rows), rows) << "no translator";
  constexpr std::string_view kFormats[] = {"the file has {:.1f} % of {{them}}"};
  i18n::Know(kFormats);
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "{} rows of {} are left out: {}") return "{1}/{0}/{2}";
    if (english == "{} rows are left out") return "{} {} too many";
    if (english == "cut off") return "CUT";
    if (english == "a.json") return "not a name of ours";
    if (english == "the file has {:.1f} % of {{them}}") return "{{{:.1f}}}";
    return {};
  });
  EXPECT_EQ(i18n::Shown(rows), "a.json/3/CUT");
  EXPECT_EQ(i18n::Shown("rank 3: " + rows), "rank 3: a.json/3/CUT");
  EXPECT_EQ(i18n::Shown("cut off"), "CUT");
  EXPECT_EQ(i18n::Shown("the file has 12.5 % of {them}"), "{12.5}");
  EXPECT_EQ(i18n::Shown(other), other) << "a translation that does not fit";
  EXPECT_EQ(i18n::Shown("another: text"), "another: text");
  {
    const i18n::InEnglish english;
    EXPECT_EQ(i18n::Shown(rows), rows);
  }
  i18n::SetTranslator(nullptr);
  EXPECT_EQ(i18n::Shown(rows), rows);
}

TEST_F(LanguageWindowTest, SwitchesLanguageAndBackWhileRunning) {
  if (!HasChinese()) GTEST_SKIP() << "built without lrelease";
  OpenRecorded();
  ShowAllPages();
  const Texts english = TextsOf(window_.get());
  window_->setLanguage(Language::kChinese);
  ASSERT_TRUE(Idle());
  ShowAllPages();
  EXPECT_EQ(window_->menuBar()->actions().front()->text(), QStringLiteral("文件"));
  EXPECT_EQ(Find<QTabBar>("controlsTabs")->tabText(0), QStringLiteral("模型"));
  EXPECT_EQ(State()["breakdown"].toObject()["heading"].toString(), QStringLiteral("峰值处"));
  EXPECT_THAT(State()["tables"].toObject()["current"].toString().toStdString(), HasSubstr("阶段"));
  EXPECT_EQ(Find<QTableView>("allocationsTable")->model()->headerData(1, Qt::Horizontal).toString(),
            QStringLiteral("模块"));
  window_->setLanguage(Language::kEnglish);
  ASSERT_TRUE(Idle());
  ShowAllPages();
  QStringList differences;
  for (const auto& [where, text] : TextsOf(window_.get()))
    if (const auto before = english.find(where); before != english.end() && before->second != text)
      differences << where + QStringLiteral(": ") + before->second + QStringLiteral(" -> ") + text;
  EXPECT_TRUE(differences.isEmpty()) << differences.join(QLatin1Char('\n')).toStdString();
}

// Returns whether a text need not be translated: a name in a trace or file, a setting or its value,
// or a unit.
bool IsForeign(const QString& text) {
  // Settings without a display name show the last word of their key.
  static const QSet<QString> keys = [] {
    QSet<QString> words;
    for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques)
      for (const run::SettingDeclaration& setting : technique.settings)
        words << QString::fromStdString(setting.key.substr(setting.key.rfind('.') + 1));
    return words;
  }();
  if (keys.contains(text)) return true;
  static const QRegularExpression letters(QStringLiteral("[A-Za-z]{2,}"));
  if (!letters.match(text).hasMatch()) return true;
  static const QRegularExpression foreign(
      QStringLiteral(
          // Names of keys on the keyboard, units, and numbers with units.
          "^((Ctrl|Alt|Shift|Esc|Return|Home|End|PgUp|PgDown|Tab|F\\d+|Del|Ins)\\b.*"
          "|[^A-Za-z]*(B|[KMGT]iB|GB/s|ns|us|ms|s|min|x|GiB·s)?[^A-Za-z]*"
          // Files, paths, modules, frames, commands.
          "|\\S*[./_:>]\\S*( .*)?|/.*|vramscope.*|.*\\.(py|trace|pickle)\\b.*"
          // Values of settings and proper names.
          "|(bf16|fp16|fp32|amp-\\S+|eager|fused|adam\\S*|sgd|gpt2|cpu|cuda|none|nvme|true|false)"
          "|CUDA memory snapshot .*|CUDA memor…rotocol 4\\)|cuda(Malloc|Free)|recorded"
          "|(English|简体中文|Qt|ssh|user@box|python3?|Python|config\\.json|GPU)"
          "|(RTX|GeForce|NVIDIA|A100|H100|GPT|Llama|Qwen|Mistral|BERT).*)$"),
      QRegularExpression::CaseInsensitiveOption);
  return foreign.match(text).hasMatch();
}

TEST_F(LanguageWindowTest, EveryTextIsTranslatable) {
  window_.reset();
  SetPseudoLanguage();
  Open({});
  OpenRecorded();
  ShowAllPages();
  QStringList bare;
  for (const auto& [where, text] : TextsOf(window_.get())) {
    if (text.contains(QChar(0x27e6)) || IsForeign(text)) continue;
    // Items of combo boxes are names from the trace, the device table and the presets.
    if (where.contains(QLatin1String("QComboBox")) && where.contains(QLatin1String(" item")))
      continue;
    if (where.contains(QLatin1String("QToolBar")) || where.contains(QLatin1String("QDockWidget")))
      if (where.endsWith(QLatin1String("status"))) continue;
    bare << where.section(QLatin1Char('/'), -3) + QStringLiteral(": ") + text;
  }
  EXPECT_TRUE(bare.isEmpty()) << bare.size() << " texts:\n"
                              << bare.join(QLatin1Char('\n')).toStdString();
}

// Returns labels and buttons that cut their text. Leaves out those that wrap, elide or scroll.
QStringList CutTexts(QWidget* window) {
  QStringList cut;
  for (QWidget* widget : window->findChildren<QWidget*>()) {
    if (!widget->isVisible() || widget->visibleRegion().isEmpty()) continue;
    if (qobject_cast<ElidedLabel*>(widget) != nullptr) continue;
    int needed = 0;
    QString text;
    if (auto* label = qobject_cast<QLabel*>(widget)) {
      text = label->text();
      if (label->wordWrap() || text.isEmpty() || text.contains(QLatin1Char('\n'))) continue;
      if (label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored) continue;
      needed = label->fontMetrics().horizontalAdvance(text);
    } else if (auto* button = qobject_cast<QAbstractButton*>(widget)) {
      text = button->text();
      if (text.isEmpty()) continue;
      if (button->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored) continue;
      needed = button->fontMetrics().horizontalAdvance(text);
    }
    if (needed > widget->width() + 1)
      cut << QStringLiteral("%1 (%2 of %3 pixels): %4")
                 .arg(PathOf(widget).section(QLatin1Char('/'), -3))
                 .arg(widget->width())
                 .arg(needed)
                 .arg(text);
  }
  return cut;
}

void ExpectNothingIsCut(MainWindow* window, const std::function<bool()>& idle) {
  window->resize(1024, 700);
  for (const QString& page : window->pageNames()) {
    window->openPage(page);
    ASSERT_TRUE(idle());
    QApplication::processEvents();
    const QStringList cut = CutTexts(window);
    EXPECT_TRUE(cut.isEmpty()) << page.toStdString() << ": "
                               << cut.join(QLatin1Char('\n')).toStdString();
  }
}

TEST_F(LanguageWindowTest, NoTextIsCutOffInChinese) {
  if (!HasChinese()) GTEST_SKIP() << "built without lrelease";
  OpenRecorded();
  window_->setLanguage(Language::kChinese, false);
  ExpectNothingIsCut(window_.get(), [this] { return Idle(); });
}

// Panels scroll only vertically, so a panel wider than its dock would lose its right edge.
TEST_F(LanguageWindowTest, PanelsFitTheirDocks) {
  window_->resize(1024, 700);
  OpenRecorded();
  auto* pages = Find<QTabBar>("controlsTabs");
  for (const Language language : Languages()) {
    window_->setLanguage(language, false);
    for (int i = 0; i < pages->count(); ++i) {
      if (!pages->isTabVisible(i)) continue;
      pages->setCurrentIndex(i);
      ASSERT_TRUE(Idle());
      QApplication::processEvents();
      int shown = 0;
      for (const QScrollArea* area : window_->findChildren<QScrollArea*>()) {
        if (!area->isVisible() || area->widget() == nullptr) continue;
        ++shown;
        EXPECT_LE(area->widget()->width(), area->viewport()->width())
            << LanguageName(language).toStdString() << ", " << pages->tabText(i).toStdString()
            << ", " << PathOf(area).toStdString();
      }
      EXPECT_GT(shown, 0);
    }
  }
}

TEST_F(LanguageWindowTest, NoTextIsCutOffInLongerPseudoLanguage) {
  window_.reset();
  SetPseudoLanguage();
  Open({});
  OpenRecorded();
  ExpectNothingIsCut(window_.get(), [this] { return Idle(); });
}

// Writes images for visual checks: language_window_test --shots FOLDER 1024x700 zh_CN FILE.
int DrawImages(const QStringList& arguments) {
  const QString folder = arguments.value(2), size = arguments.value(3), name = arguments.value(4);
  SetLanguage(LanguageFromName(name).value_or(Language::kEnglish));
  QTemporaryDir scratch;
  const QString worker = QStringLiteral(VRAMSCOPE_REAL_WORKER);
  MainWindow window(
      {.worker_program = worker.isEmpty() ? QStringLiteral(VRAMSCOPE_FAKE_WORKER) : worker,
       .settings_file = scratch.filePath(QStringLiteral("settings.ini")),
       .savings = true});
  window.resize(size.section(QLatin1Char('x'), 0, 0).toInt(),
                size.section(QLatin1Char('x'), 1, 1).toInt());
  window.show();
  if (const QString file = arguments.value(5); file.isEmpty())
    window.runConfig(window.config());
  else
    window.openFile(file);
  bool good =
      QTest::qWaitFor([&] { return window.settled() && window.digest() != nullptr; }, 300'000);
  for (const QString& page : window.pageNames())
    for (const auto choice : {ThemeChoice::kDark, ThemeChoice::kLight}) {
      window.openPage(page);
      window.setThemeChoice(choice);
      good = good && QTest::qWaitFor(
                         [&] { return !window.busy() && !window.explainPanel()->busy(); }, 60'000);
      window.settleCanvas();
      QTest::qWait(100);
      good = window.grab().save(QStringLiteral("%1/%2-%3-%4-%5.png")
                                    .arg(folder, name, page, ThemeName(choice), size)) &&
             good;
    }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!qEnvironmentVariableIsSet("DISPLAY") && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  const QStringList arguments = QApplication::arguments();
  if (arguments.value(1) == QLatin1String("--shots")) return vramscope::ui::DrawImages(arguments);
  return RUN_ALL_TESTS();
}
