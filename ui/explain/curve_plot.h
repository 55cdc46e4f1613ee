// A plot of reserved memory over the visible time range, with two curves: one is recorded, the
// other is the result of a replay under other settings. The filled area is allocated memory.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

struct CurvePoint {
  int64_t time_ns = 0;
  uint64_t bytes = 0;
};

// Divides [begin, end) into `columns` equal parts, and returns the highest value of a step curve in
// each part, including the value that it has at the beginning of the part.
std::vector<uint64_t> ColumnsOf(const std::vector<CurvePoint>& curve, int64_t begin_ns,
                                int64_t end_ns, int columns);

class CurvePlot : public QWidget {
  Q_OBJECT
 public:
  explicit CurvePlot(QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme);
  void setDigest(std::shared_ptr<const Digest> digest);
  void setView(qint64 begin_ns, qint64 end_ns);     // begin >= end: the whole trace
  void setCurve(std::vector<CurvePoint> reserved);  // the replayed curve; empty: none
  const std::vector<CurvePoint>& curve() const { return curve_; }
  QSize sizeHint() const override { return {400, 140}; }
  QSize minimumSizeHint() const override { return {200, 60}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  timeline::Theme theme_ = timeline::Theme::Dark();
  std::shared_ptr<const Digest> digest_;
  std::vector<CurvePoint> curve_;
  struct Drawn {  // the columns of pixels that were drawn last
    qint64 begin = 0, end = 0;
    std::vector<uint64_t> recorded, allocated, under;
  };
  Drawn drawn_;
  qint64 begin_ = 0, end_ = 0;
  int hover_ = -1;
};

}  // namespace vramscope::ui
