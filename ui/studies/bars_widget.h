// The bars of a waterfall, each on a separate line, and a table of their figures.
#pragma once

#include <QJsonArray>
#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

struct Bar {
  QString name;
  double from = 0, to = 0;
  bool whole = false;  // true for the first and last bar: the baseline and the current run
};

// Reads the bars of `waterfall --json` and appends a bar for the current run. The table has a row
// for each bar. `title` returns a bar's title for its index and name. `now` is the title of the
// last bar.
struct BarsAndTable {
  std::vector<Bar> bars;
  Table table;
};
BarsAndTable ReadBars(const QJsonArray& json,
                      const std::function<QString(size_t, const QString&)>& title,
                      const QString& now);

// Draws the bars. The user can drag each bar to another place, except the first and the last bar.
class BarsWidget : public QWidget {
 public:
  // `moved` gets the old and the new index of a bar. Index 0 is the second bar, because the first
  // cannot be moved.
  explicit BarsWidget(std::function<void(int, int)> moved);
  void setBars(std::vector<Bar> bars);
  void setTheme(const timeline::Theme& theme);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  bool Movable(int line) const;
  std::function<void(int, int)> moved_;
  std::vector<Bar> bars_;
  timeline::Theme theme_ = timeline::Theme::Dark();
  int dragged_ = -1, target_ = -1;
};

}  // namespace vramscope::ui
