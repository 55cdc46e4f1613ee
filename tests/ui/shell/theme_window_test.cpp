// Tests that a change of theme reaches all parts of the window, without a new layout, and that the
// style gives widgets the sizes and the colours that their roles ask for.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/technique_panel.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using timeline::Theme;

constexpr int kSettling = 300;  // milliseconds until pages that were just shown are laid out

Theme Light() { return Theme::Light(); }
Theme Dark() { return Theme::Dark(); }

// Counts the events of one type that widgets in the window receive.
class EventCounter : public QObject {
 public:
  EventCounter(const QWidget* window, QEvent::Type type) : window_(window), type_(type) {
    qApp->installEventFilter(this);
  }
  int count() const { return count_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == type_ && watched->isWidgetType() &&
        window_->isAncestorOf(static_cast<QWidget*>(watched))) {
      ++count_;
    }
    return false;
  }

 private:
  const QWidget* window_;
  QEvent::Type type_;
  int count_ = 0;
};

class ThemeWindowTest : public testing::RecordedWindow {
 protected:
  // Changes the theme within the event loop, as in normal use: outside of it, Qt does not tell
  // widgets about a new palette.
  void SetTheme(ThemeChoice choice) {
    QTimer::singleShot(0, qApp, [this, choice] {
      window_->setThemeChoice(choice, false);
      QCoreApplication::processEvents();
      QCoreApplication::exit();
    });
    QCoreApplication::exec();
  }
  // Returns the colour in which a label is drawn.
  static QColor TextOf(const QLabel* label) {
    return label->palette().color(label->foregroundRole());
  }
  static QColor Corner(QWidget* widget) {  // where there is no text
    const QImage image = widget->grab().toImage();
    return image.pixelColor(image.width() - 3, image.height() - 3);
  }
  // Whether a picture of the widget has a pixel of the colour.
  static bool Shows(QWidget* widget, timeline::Color color) {
    const QImage image = widget->grab().toImage();
    const QRgb wanted = ToQColor(color).rgb();
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x)
        if (image.pixel(x, y) == wanted) return true;
    return false;
  }
};

TEST_F(ThemeWindowTest, VisibleWidgetsChangeThemeAtOnce) {
  OpenRecorded();
  SetTheme(ThemeChoice::kLight);
  for (const char* name : {"breakdownDock", "controlsDock", "tablesDock"}) {
    auto* dock = Find<QWidget>(name);
    ASSERT_TRUE(dock->isVisible()) << name;
    EXPECT_EQ(Corner(dock), ToQColor(Light().panel)) << name;
  }
  EXPECT_EQ(Corner(window_->menuBar()), ToQColor(Light().panel));
  EXPECT_TRUE(Shows(Find<QWidget>("header"), Light().line));
  EXPECT_TRUE(Shows(Find<QToolButton>("chip-peak"), Light().raised));
  int labels = 0;
  for (const QLabel* label : window_->findChildren<QLabel*>())
    if (label->isVisible() && label->isEnabled() &&
        label->property("role") == QLatin1String("body") && label->property("tone").isNull()) {
      ++labels;
      EXPECT_EQ(TextOf(label), ToQColor(Light().text)) << label->text().toStdString();
    }
  EXPECT_GT(labels, 0);
}

// Pages must have the colours of the theme even before there is a run.
TEST_F(ThemeWindowTest, EmptyPagesUseTheTheme) {
  SetTheme(ThemeChoice::kLight);
  window_->openPage(QStringLiteral("fragmentation"));
  ASSERT_TRUE(Idle());
  ASSERT_EQ(window_->digest(), nullptr);
  auto* map = Find<QAbstractScrollArea>("segmentMap");
  ASSERT_TRUE(map->isVisible());
  EXPECT_EQ(Corner(map->viewport()), ToQColor(Light().panel));
}

// Pages that are hidden during a change of theme must have the new colours when they are shown.
TEST_F(ThemeWindowTest, HiddenPagesHaveTheThemeWhenShown) {
  OpenRecorded();
  window_->openPage(QStringLiteral("call-sites"));
  window_->openPage(QStringLiteral("phases"));
  ASSERT_TRUE(Idle());
  SetTheme(ThemeChoice::kLight);
  window_->openPage(QStringLiteral("call-sites"));
  ASSERT_TRUE(Idle());
  auto* sites = Find<QTableView>("callSitesTable");
  EXPECT_EQ(Corner(sites->viewport()), ToQColor(Light().panel));
  EXPECT_TRUE(Shows(sites, Light().text));
  EXPECT_TRUE(Shows(Find<QComboBox>("siteGrouping"), Light().raised));
  // A page that was not shown with this theme, and a theme that was set while the page was hidden.
  window_->openPage(QStringLiteral("phases"));
  SetTheme(ThemeChoice::kDark);
  window_->openPage(QStringLiteral("call-sites"));
  EXPECT_EQ(Corner(sites->viewport()), ToQColor(Dark().panel));
}

TEST_F(ThemeWindowTest, HiddenPagesOfTheLeftDockChangeThemeToo) {
  OpenRecorded();
  auto* tabs = Find<QTabBar>("controlsTabs");
  tabs->setCurrentIndex(1);
  SetTheme(ThemeChoice::kLight);
  tabs->setCurrentIndex(0);
  int labels = 0;
  for (const QLabel* label : window_->findChild<TechniquePanel*>()->findChildren<QLabel*>())
    if (label->property("role") == QLatin1String("dim") && label->property("tone").isNull()) {
      ++labels;
      EXPECT_EQ(TextOf(label), ToQColor(Light().dim)) << label->text().toStdString();
    }
  EXPECT_GT(labels, 0);
}

TEST_F(ThemeWindowTest, NewWidgetsUseTheCurrentTheme) {
  SetTheme(ThemeChoice::kLight);
  QDialog dialog(window_.get());
  auto* label = new QLabel(QStringLiteral("text"), &dialog);
  label->setProperty("role", "dim");
  dialog.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&dialog));
  EXPECT_EQ(TextOf(label), ToQColor(Light().dim));
  // An open dialog and a window without a parent change with the main window.
  QWidget alone;
  auto* inside = new QLabel(QStringLiteral("text"), &alone);
  inside->setProperty("role", "faint");
  alone.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&alone));
  SetTheme(ThemeChoice::kDark);
  EXPECT_EQ(TextOf(label), ToQColor(Dark().dim));
  EXPECT_EQ(TextOf(inside), ToQColor(Dark().faint));
  EXPECT_EQ(Corner(&dialog), ToQColor(Dark().panel));
}

TEST_F(ThemeWindowTest, MenusAndPopUpsUseTheTheme) {
  SetTheme(ThemeChoice::kLight);
  QMenu menu(window_.get());
  menu.addAction(QStringLiteral("first"));
  menu.popup(window_->mapToGlobal(QPoint(50, 50)));
  menu.setActiveAction(menu.actions().constFirst());
  const timeline::Color under = timeline::Mix(Light().raised, Light().text, 0.07);
  EXPECT_TRUE(Shows(&menu, Light().panel));
  EXPECT_TRUE(Shows(&menu, Light().line));  // the border
  EXPECT_TRUE(Shows(&menu, under));         // the active entry
  menu.close();
  QComboBox* box = MakeComboBox();
  box->setParent(window_.get());
  box->addItems({QStringLiteral("one"), QStringLiteral("two")});
  box->show();
  box->showPopup();
  EXPECT_TRUE(Shows(box->view(), Light().panel));
  box->hidePopup();
  delete box;
}

TEST_F(ThemeWindowTest, LabelsTakeTheColourOfTheirTone) {
  QDialog dialog(window_.get());
  auto* label = MakeLabel(QStringLiteral("text"), LabelRole::kDim);
  label->setParent(&dialog);
  dialog.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&dialog));
  EXPECT_EQ(TextOf(label), ToQColor(Dark().dim));
  for (const auto& [tone, color] :
       std::initializer_list<std::pair<const char*, timeline::Color>>{{"bad", Dark().bad},
                                                                      {"good", Dark().good},
                                                                      {"faint", Dark().faint},
                                                                      {"accent", Dark().accent},
                                                                      {"", Dark().dim}}) {
    SetTone(label, tone);
    EXPECT_EQ(TextOf(label), ToQColor(color)) << tone;
  }
}

// A change of theme must only paint the window again.
TEST_F(ThemeWindowTest, ChangeOfThemeMovesNothing) {
  OpenRecorded();
  for (const QString& page : window_->pageNames()) window_->openPage(page);
  ASSERT_TRUE(Idle());
  QTest::qWait(kSettling);
  std::vector<std::pair<QPointer<QWidget>, QRect>> before;
  for (QWidget* widget : window_->findChildren<QWidget*>()) {
    EXPECT_TRUE(widget->styleSheet().isEmpty()) << widget->metaObject()->className();
    before.emplace_back(widget, widget->geometry());
  }
  const QWidget* window = window_.get();
  EventCounter polished(window, QEvent::Polish), styled(window, QEvent::StyleChange),
      fonts(window, QEvent::FontChange), resized(window, QEvent::Resize);
  SetTheme(ThemeChoice::kLight);
  EXPECT_EQ(polished.count(), 0);
  EXPECT_EQ(styled.count(), 0);
  EXPECT_EQ(fonts.count(), 0);
  EXPECT_EQ(resized.count(), 0);
  for (const auto& [widget, rect] : before) EXPECT_EQ(widget ? widget->geometry() : rect, rect);
}

// Compares sizes with those that the paddings and borders give: the text, plus what surrounds it.
TEST_F(ThemeWindowTest, WidgetsHaveTheirPaddings) {
  QDialog dialog(window_.get());
  const auto polished = [&](auto* widget, const char* role) {
    widget->setParent(&dialog);
    if (*role != '\0') widget->setProperty("role", role);
    widget->ensurePolished();
    return widget;
  };
  const QString text = QStringLiteral("Plan a run");
  const auto around = [](const QWidget* widget, const QString& shown) {
    const QSize of_text = widget->fontMetrics().size(Qt::TextShowMnemonic, shown);
    return widget->sizeHint() - of_text;
  };
  EXPECT_EQ(around(polished(new QPushButton(text), ""), text), QSize(26, 10));
  EXPECT_EQ(around(polished(new QPushButton(text), "primary"), text), QSize(26, 10));
  EXPECT_EQ(around(polished(new QPushButton(text), "wide"), text), QSize(22, 14));
  EXPECT_EQ(around(polished(new QPushButton(text), "link"), text), QSize(12, 8));
  const auto tool = [&](const char* role) {
    auto* button = polished(new QToolButton, role);
    button->setText(text);
    return button;
  };
  // Qt adds two spaces to the text of a tool button, and the style three pixels.
  const int spaces = 2 * dialog.fontMetrics().horizontalAdvance(QLatin1Char(' '));
  EXPECT_EQ(around(tool("chip"), text), QSize(26 + 3 + spaces, 10 + 3));
  EXPECT_EQ(around(tool("quiet"), text), QSize(16 + 3 + spaces, 8 + 3));
  const int line = std::max(dialog.fontMetrics().height(), 14);
  EXPECT_EQ(polished(new QLineEdit, "")->sizeHint().height(), std::max(line + 2, 18) + 8);
  EXPECT_EQ(polished(new QComboBox, "")->sizeHint().height(), 26);
  EXPECT_EQ(polished(MakeSpinBox(0, 9), "")->sizeHint().height(),
            polished(new QLineEdit, "")->sizeHint().height());
  EXPECT_GE(polished(new QLineEdit, "")->minimumHeight(), 26);
  // margin 12, padding 2; padding 8 and 6, line 2
  auto* tabs = polished(new QTabBar, "");
  tabs->setExpanding(false);
  tabs->addTab(text);
  tabs->addTab(text);
  tabs->resize(tabs->sizeHint());
  EXPECT_EQ(tabs->tabRect(1).size() - tabs->fontMetrics().size(Qt::TextShowMnemonic, text),
            QSize(28, 16));
  auto* list = polished(new QListWidget, "");
  list->addItem(text);
  EXPECT_EQ(list->sizeHintForRow(0), list->fontMetrics().height() + 10);
  EXPECT_EQ(list->frameWidth(), 1);
  QScrollBar* bar = polished(new QScrollBar(Qt::Vertical), "");
  EXPECT_EQ(bar->sizeHint().width(), 10);
  QMenu menu(&dialog);
  menu.addAction(text);
  EXPECT_EQ(menu.sizeHint() - menu.fontMetrics().size(Qt::TextSingleLine, text),
            QSize(48 + 10, 10 + 10));
}

// Qt repaints a widget when the pointer enters it only if the style asks for that.
TEST_F(ThemeWindowTest, WidgetsNoticeThePointer) {
  QDialog dialog(window_.get());
  auto* table = new QTableView(&dialog);
  const std::initializer_list<QWidget*> widgets = {
      new QPushButton(&dialog), new QToolButton(&dialog), new QLineEdit(&dialog),
      new QComboBox(&dialog),   MakeSpinBox(0, 9),        new QTabBar(&dialog),
      new QScrollBar(&dialog),  table->horizontalHeader()};
  for (QWidget* widget : widgets) {
    if (widget->parentWidget() == nullptr) widget->setParent(&dialog);
    widget->ensurePolished();
    EXPECT_TRUE(widget->testAttribute(Qt::WA_Hover)) << widget->metaObject()->className();
  }
}

// A user of the keyboard must see where the focus is. Compares the picture of every widget that the
// Tab key reaches with and without the focus.
TEST_F(ThemeWindowTest, FocusIsVisible) {
  OpenRecorded();
  auto* canvas = window_->findChild<timeline::TimelineWidget*>();
  auto* tabs = Find<QTabBar>("controlsTabs");
  std::set<const QWidget*> seen;
  std::set<std::string> unmarked;
  for (const QString& page : window_->pageNames()) {
    window_->openPage(page);
    ASSERT_TRUE(Idle()) << page.toStdString();
    for (QWidget* widget : window_->findChildren<QWidget*>()) {
      if (!widget->isVisible() || !widget->isEnabled() || widget->visibleRegion().isEmpty() ||
          (widget->focusPolicy() & Qt::TabFocus) == 0 || !seen.insert(widget).second)
        continue;
      const auto picture = [&] {
        QCoreApplication::processEvents();
        const QPoint corner = widget->mapTo(window_.get(), QPoint());
        return window_->grab(QRect(corner, widget->size()).adjusted(-3, -3, 3, 3)).toImage();
      };
      QWidget* other = widget == canvas ? static_cast<QWidget*>(tabs) : canvas;
      other->setFocus(Qt::TabFocusReason);
      const QImage before = picture();
      widget->setFocus(Qt::TabFocusReason);
      if (QApplication::focusWidget() == widget && picture() == before)
        unmarked.insert(std::string(widget->metaObject()->className()) + " " +
                        widget->objectName().toStdString() + " " +
                        widget->property("text").toString().toStdString());
    }
  }
  EXPECT_GT(seen.size(), 80u);
  EXPECT_THAT(unmarked, ::testing::IsEmpty());
}

}  // namespace
}  // namespace vramscope::ui
