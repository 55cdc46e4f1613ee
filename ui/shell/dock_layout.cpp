#include "ui/shell/dock_layout.h"

#include <QDockWidget>
#include <QMainWindow>
#include <algorithm>
#include <utility>

namespace vramscope::ui {
namespace {

// Maximum initial sizes of the docks, in pixels. A dock's initial size is also at most a share of
// the window's size.
constexpr int kControlsWidth = 336, kBreakdownWidth = 330, kTablesHeight = 300;
constexpr int kHistoryHeight = 190, kHistoryLeast = 104;
constexpr double kHistoryShare = 0.1745, kSideShare = 0.2, kTablesShare = 0.29;
constexpr int kLow = 800;  // in a window lower than this, the tables get their minimum height

}  // namespace

void DockLayout::start(QMainWindow* window, const Docks& docks) {
  window_ = window;
  docks_ = docks;
  Fit();
  first_ = window_->saveState(kVersion);
}

void DockLayout::restore(const QSettings& settings) {
  const QByteArray geometry = settings.value(QStringLiteral("geometry")).toByteArray();
  if (!geometry.isEmpty()) window_->restoreGeometry(geometry);
  const QByteArray layout = settings.value(QStringLiteral("layout")).toByteArray();
  restored_ = !layout.isEmpty() && window_->restoreState(layout, kVersion);
}

void DockLayout::store(QSettings* settings) const {
  settings->setValue(QStringLiteral("geometry"), window_->saveGeometry());
  settings->setValue(QStringLiteral("layout"), window_->saveState(kVersion));
}

void DockLayout::Fit() {
  const auto part = [](int whole, double share, int least, int most) {
    return std::clamp(static_cast<int>(whole * share), least, most);
  };
  const int width = window_->width(), height = window_->height();
  window_->resizeDocks({docks_.controls, docks_.breakdown},
                       {part(width, kSideShare, kControlsLeast, kControlsWidth),
                        part(width, kSideShare, kBreakdownLeast, kBreakdownWidth)},
                       Qt::Horizontal);
  window_->resizeDocks({docks_.history},
                       {part(height, kHistoryShare, kHistoryLeast, kHistoryHeight)}, Qt::Vertical);
  const int tables =
      height < kLow ? kTablesLeast : part(height, kTablesShare, kTablesLeast, kTablesHeight);
  window_->resizeDocks({docks_.tables}, {tables}, Qt::Vertical);
}

void DockLayout::shown() {
  if (!std::exchange(shown_once_, true) && !restored_) Fit();
}

void DockLayout::reset() {
  window_->restoreState(first_, kVersion);
  Fit();
}

void DockLayout::growTables(bool grown) {
  if (grown) {
    tables_height_ = docks_.tables->height();
    window_->resizeDocks({docks_.tables}, {window_->height() * 2 / 3}, Qt::Vertical);
  } else if (tables_height_ > 0) {
    window_->resizeDocks({docks_.tables}, {tables_height_}, Qt::Vertical);
  }
}

}  // namespace vramscope::ui
