// The flame graph and the treemap of the live set. A tool tip describes the box under the mouse,
// and a click selects it. A double click or Enter zooms into the box, and Backspace zooms out.
// Arrow keys move to its parent, child or sibling.
//
// UI thread only.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <vector>

#include "ui/explain/live_tree.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class LiveChart : public QWidget {
  Q_OBJECT
 public:
  enum class Kind : uint8_t { kFlame, kTreemap };
  explicit LiveChart(QWidget* parent = nullptr);
  // Null: shows nothing. If the chart is zoomed in on a box, it stays so if the new tree has a box
  // with the same path of names.
  void setTree(std::shared_ptr<const LiveTree> tree, std::shared_ptr<const trace::Trace> trace,
               Kind kind);
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);
  const LiveTree* tree() const { return tree_.get(); }
  const std::vector<ChartBox>& boxes() const { return boxes_; }
  uint32_t root() const { return root_; }
  QString nameOf(uint32_t node) const;
  QJsonObject dumpState() const;

 Q_SIGNALS:
  // Emitted with the blocks of a box that was clicked.
  void nodeClicked(const std::vector<vramscope::trace::AllocationId>& blocks);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  void Lay();
  void Zoom(uint32_t node);
  void Choose(uint32_t node);
  uint32_t NodeAt(const QPointF& at) const;
  uint32_t Beside(uint32_t node, int step) const;
  std::vector<QString> PathOf(uint32_t node) const;

  std::shared_ptr<const LiveTree> tree_;
  std::shared_ptr<const trace::Trace> trace_;
  Kind kind_ = Kind::kFlame;
  timeline::Theme theme_ = timeline::Theme::Dark();
  std::vector<ChartBox> boxes_;
  uint32_t root_ = 0, chosen_ = kNone, hovered_ = kNone;
  QString empty_text_;
};

}  // namespace vramscope::ui
