// Draws a SegmentMap. Blocks have the colour of their category, and free memory is hatched. A tool
// tip shows category, size and call site. A click selects a block.
#pragma once

#include <QAbstractScrollArea>
#include <QImage>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/explain/explain.h"
#include "ui/explain/segment_map.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class SegmentMapWidget : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit SegmentMapWidget(QWidget* parent = nullptr);
  // `category[id]` is the category of allocation `id` at the shown event.
  void setSegments(std::shared_ptr<const trace::Trace> trace,
                   std::vector<explain::SegmentView> segments,
                   std::vector<trace::Category> category,
                   std::vector<explain::PoolOwner> owners = {});
  void setTheme(const timeline::Theme& theme);
  void setSelection(trace::AllocationId id);
  const SegmentMap& map() const { return map_; }
  // Returns the tool tip for a point, or an empty text if nothing is there.
  QString textAt(const QPoint& at) const;
  // Why the map is empty. An empty text if it shows segments, or if there is no trace.
  QString whyEmpty() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  void Layout();
  QColor ColorOf(const explain::SegmentView::Piece& piece) const;

  std::vector<explain::PoolOwner> owners_;
  timeline::Theme theme_ = timeline::Theme::Dark();
  std::shared_ptr<const trace::Trace> trace_;
  std::vector<explain::SegmentView> segments_;
  std::vector<trace::Category> category_;
  SegmentMap map_;
  uint64_t zoom_ = 0;  // bytes per row; 0: everything fits
  trace::AllocationId selection_;
  std::optional<SegmentMap::Hit> hover_;
};

}  // namespace vramscope::ui
