#include "ui/shell/theme_zones.h"

#include <QApplication>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QPainter>
#include <QPointer>
#include <QStackedWidget>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTabWidget>
#include <QWidget>
#include <algorithm>

namespace vramscope::ui {
namespace {

// Returns whether the widget is a frame, which is a widget that only arranges parts of the window.
// A tab widget inside a page is not a frame.
bool IsFrame(const QWidget* widget) {
  for (; widget != nullptr; widget = widget->parentWidget()) {
    if (qobject_cast<const QMainWindow*>(widget) != nullptr) return true;
    if (qobject_cast<const QDockWidget*>(widget) == nullptr &&
        qobject_cast<const QStackedWidget*>(widget) == nullptr &&
        qobject_cast<const QTabWidget*>(widget) == nullptr &&
        !widget->property(kThemeFrame).toBool())
      return false;
  }
  return false;
}

// Returns the zone of a widget, or null if the widget is a frame.
QWidget* ZoneOf(QWidget* widget) {
  if (IsFrame(widget)) return nullptr;
  while (widget->parentWidget() != nullptr && !IsFrame(widget->parentWidget()))
    widget = widget->parentWidget();
  return widget;
}

// Returns whether no rule of the style sheet is for the widget, as for the splitters of a main
// window. Parsing the sheet for such a widget takes 0.4 ms.
bool IsBare(const QWidget* widget) {
  const QString name = widget->objectName();
  return widget->metaObject() == &QWidget::staticMetaObject && widget->children().isEmpty() &&
         (name.isEmpty() || name.startsWith(QLatin1String("qt_")));
}

}  // namespace

ThemeZones::ThemeZones(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

ThemeZones& ThemeZones::Instance() {
  static QPointer<ThemeZones> instance;
  if (instance == nullptr) instance = new ThemeZones(qApp);
  return *instance;
}

void ThemeZones::setSheet(const QString& sheet) {
  if (sheet == sheet_) return;
  sheet_ = sheet;
  for (auto zone = zones_.begin(); zone != zones_.end(); ++zone) zone.value() = false;
  for (QWidget* zone : zones_.keys())
    if (zone->isVisible()) Apply(zone);
}

int ThemeZones::stale() const {
  return static_cast<int>(std::count(zones_.begin(), zones_.end(), false));
}

void ThemeZones::Apply(QWidget* zone) {
  zones_[zone] = true;
  zone->setStyleSheet(sheet_);
}

bool ThemeZones::eventFilter(QObject* watched, QEvent* event) {
  if (sheet_.isEmpty()) return false;
  if (event->type() != QEvent::Show && event->type() != QEvent::Polish) return false;
  if (!watched->isWidgetType()) return false;
  auto* widget = static_cast<QWidget*>(watched);
  const bool shown = event->type() == QEvent::Show;
  QWidget* zone = ZoneOf(widget);
  // If the zone has no parent yet, wait, because it may get a parent before it is shown.
  if (zone == nullptr || (shown ? zone != widget : zone->parentWidget() == nullptr)) return false;
  if (IsBare(zone)) return false;
  const auto known = zones_.constFind(zone);
  if (known == zones_.cend())
    connect(zone, &QObject::destroyed, this, [this, zone] { zones_.remove(zone); });
  if (known == zones_.cend() || (shown && !known.value())) Apply(zone);
  return false;
}

FlatStyle::FlatStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

int FlatStyle::pixelMetric(PixelMetric metric, const QStyleOption* option,
                           const QWidget* widget) const {
  if (metric == PM_DockWidgetSeparatorExtent) return 1;
  return QProxyStyle::pixelMetric(metric, option, widget);
}

void FlatStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                              QPainter* painter, const QWidget* widget) const {
  if (element == PE_IndicatorDockWidgetResizeHandle) {
    painter->fillRect(option->rect, option->palette.color(QPalette::Mid));
    return;
  }
  QProxyStyle::drawPrimitive(element, option, painter, widget);
}

}  // namespace vramscope::ui
