// Colours and their names, in as many lines as the width requires.
#pragma once

#include <QFont>
#include <QString>
#include <QWidget>
#include <utility>
#include <vector>

#include "ui/timeline/theme.h"

namespace vramscope::ui {

class Legend : public QWidget {
 public:
  using Entry = std::pair<timeline::Color, QString>;
  explicit Legend(QWidget* parent = nullptr);
  void set(std::vector<Entry> entries, const timeline::Theme& theme);
  const std::vector<Entry>& entries() const { return entries_; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {40, heightForWidth(std::max(width(), 40))}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // Calls place(entry, x, y) for each entry. Returns the height of all lines.
  template <class Place>
  int Flow(int width, const Place& place) const;
  std::vector<Entry> entries_;
  timeline::Theme theme_;
  // The widths of the entries' texts in measured_font_. They are cached, because layouts often
  // query the height.
  mutable std::vector<int> text_widths_;
  mutable QFont measured_font_;
};

}  // namespace vramscope::ui
