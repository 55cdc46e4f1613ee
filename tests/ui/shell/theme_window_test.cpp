// Tests that a change of theme affects all parts of the window, also parts that are shown later.
#include <gmock/gmock.h>

#include <QDialog>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QTabBar>
#include <QTableView>
#include <set>
#include <string>

#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/technique_panel.h"
#include "ui/shell/theme_zones.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

class ThemeWindowTest : public testing::RecordedWindow {
 protected:
  static QColor Text(bool dark) {
    return ToQColor(dark ? timeline::Theme::Dark().text : timeline::Theme::Light().text);
  }
  static QColor TextOf(const QWidget* widget) {
    return widget->palette().color(QPalette::Active, QPalette::Text);
  }
  // Returns the colour of a corner of the widget, where there is no text.
  static QColor Ground(QWidget* widget) {
    const QImage image = widget->grab().toImage();
    return image.pixelColor(image.width() - 3, image.height() - 3);
  }
};

TEST_F(ThemeWindowTest, HiddenPagesChangeThemeWhenShown) {
  OpenRecorded();
  auto* sites = Find<QTableView>("callSitesTable");
  auto* phases = Find<QTableView>("phasesTable");
  window_->openPage(QStringLiteral("call-sites"));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(TextOf(sites), Text(true));
  window_->openPage(QStringLiteral("phases"));
  window_->setThemeChoice(ThemeChoice::kLight, false);
  EXPECT_EQ(TextOf(phases), Text(false));
  EXPECT_GT(ThemeZones::Instance().stale(), 0);
  const int before = ThemeZones::Instance().stale();
  window_->openPage(QStringLiteral("call-sites"));
  EXPECT_EQ(TextOf(sites), Text(false));
  EXPECT_LT(ThemeZones::Instance().stale(), before);
  EXPECT_EQ(Ground(sites->viewport()), ToQColor(timeline::Theme::Light().panel));
  // If the theme is switched and switched back while the page is hidden, the page must not change.
  window_->openPage(QStringLiteral("phases"));
  window_->setThemeChoice(ThemeChoice::kDark, false);
  window_->setThemeChoice(ThemeChoice::kLight, false);
  window_->openPage(QStringLiteral("call-sites"));
  EXPECT_EQ(TextOf(sites), Text(false));
}

// Pages must have the colours of the theme even before there is a run.
TEST_F(ThemeWindowTest, EmptyPagesUseTheTheme) {
  window_->setThemeChoice(ThemeChoice::kLight, false);
  window_->openPage(QStringLiteral("fragmentation"));
  ASSERT_TRUE(Idle());
  ASSERT_EQ(window_->digest(), nullptr);
  auto* map = Find<QAbstractScrollArea>("segmentMap");
  ASSERT_TRUE(map->isVisible());
  EXPECT_EQ(Ground(map->viewport()), ToQColor(timeline::Theme::Light().panel));
}

TEST_F(ThemeWindowTest, VisibleWidgetsChangeThemeAtOnce) {
  OpenRecorded();
  window_->setThemeChoice(ThemeChoice::kLight, false);
  const QColor panel = ToQColor(timeline::Theme::Light().panel);
  for (const char* name : {"breakdownDock", "controlsDock", "tablesDock"}) {
    auto* dock = Find<QWidget>(name);
    ASSERT_TRUE(dock->isVisible()) << name;
    EXPECT_EQ(Ground(dock), panel) << name;
  }
  int labels = 0;
  for (const QLabel* label : window_->findChildren<QLabel*>())
    if (label->isVisible() && label->property("role") == QLatin1String("body")) {
      ++labels;
      EXPECT_EQ(label->palette().color(QPalette::WindowText), Text(false))
          << label->text().toStdString();
    }
  EXPECT_GT(labels, 0);
}

TEST_F(ThemeWindowTest, NewWidgetsUseTheCurrentTheme) {
  window_->setThemeChoice(ThemeChoice::kLight, false);
  QDialog dialog(window_.get());
  auto* label = new QLabel(QStringLiteral("text"), &dialog);
  label->setProperty("role", "dim");
  dialog.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&dialog));
  EXPECT_EQ(label->palette().color(QPalette::WindowText), ToQColor(timeline::Theme::Light().dim));
  window_->setThemeChoice(ThemeChoice::kDark, false);
  EXPECT_EQ(label->palette().color(QPalette::WindowText), ToQColor(timeline::Theme::Dark().dim));
  // The theme must also apply to a window without a parent and to its contents.
  QWidget alone;
  auto* inside = new QLabel(QStringLiteral("text"), &alone);
  inside->setProperty("role", "faint");
  alone.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&alone));
  EXPECT_EQ(inside->palette().color(QPalette::WindowText), ToQColor(timeline::Theme::Dark().faint));
}

TEST_F(ThemeWindowTest, StyleSheetsAreNotNested) {
  OpenRecorded();
  for (const QString& page : window_->pageNames()) window_->openPage(page);
  ASSERT_TRUE(Idle());
  int styled = 0;
  for (const QWidget* widget : window_->findChildren<QWidget*>()) {
    if (widget->styleSheet().isEmpty()) continue;
    ++styled;
    for (const QWidget* outer = widget->parentWidget(); outer; outer = outer->parentWidget())
      EXPECT_TRUE(outer->styleSheet().isEmpty())
          << widget->metaObject()->className() << " in " << outer->metaObject()->className();
  }
  EXPECT_GT(styled, 10);
  EXPECT_GE(ThemeZones::Instance().zones(), styled);
}

// A theme is applied to the left dock's shown page at once, and to other pages when shown.
TEST_F(ThemeWindowTest, HiddenPagesOfTheLeftDockKeepTheirSheetUntilShown) {
  OpenRecorded();
  auto* tabs = Find<QTabBar>("controlsTabs");
  tabs->setCurrentIndex(0);
  window_->setThemeChoice(ThemeChoice::kDark, false);
  tabs->setCurrentIndex(1);
  window_->setThemeChoice(ThemeChoice::kLight, false);
  const QLabel* dim = nullptr;
  for (const QLabel* label : window_->findChild<TechniquePanel*>()->findChildren<QLabel*>())
    if (label->property("role") == QLatin1String("dim")) dim = label;
  ASSERT_NE(dim, nullptr);
  const auto color = [&] { return dim->palette().color(QPalette::WindowText); };
  EXPECT_EQ(color(), ToQColor(timeline::Theme::Dark().dim));
  tabs->setCurrentIndex(0);
  EXPECT_EQ(color(), ToQColor(timeline::Theme::Light().dim));
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
