// The panel below the breakdown. It shows facts and links of the selected block, kernel, memcpy or
// call, and the call stack. It is always visible, so that a click in the canvas does not move the
// breakdown above it. It is as high as its content, but at most a little over half of its parent's
// height. Taller content scrolls. UI thread only.
#pragma once

#include <QJsonObject>
#include <QScrollArea>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/theme.h"

class QGridLayout;
class QLabel;
class QToolButton;

namespace vramscope::ui {

class ElidedLabel;
class FrameList;
class LinkedFacts;

class SelectionPanel : public QScrollArea {
  Q_OBJECT
 public:
  explicit SelectionPanel(QWidget* parent = nullptr);

  void setDigest(std::shared_ptr<const Digest> digest);  // null: shows nothing
  // Shows `activity` (a kernel, a call, a module ...). If its title is empty, shows the allocation
  // `id` and the `kernels` that used it.
  void setSelection(trace::AllocationId id, const timeline::ActivityFacts& activity,
                    const std::vector<timeline::LinkedFact>& kernels);
  void setTheme(const timeline::Theme& theme);
  // Returns the selected allocation's call stack, with a line for each frame and whole paths.
  QString stackText() const;
  QJsonObject dumpState() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 Q_SIGNALS:
  void linkClicked(const vramscope::ui::timeline::Link& link);

 private:
  bool HasAllocation() const;
  void Show();
  void ShowStack();
  int ContentHeight() const;

  timeline::Theme theme_;
  std::shared_ptr<const Digest> digest_;
  trace::AllocationId selection_;
  timeline::ActivityFacts activity_;

  QWidget* content_ = nullptr;
  ElidedLabel* title_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QWidget* facts_box_ = nullptr;
  QLabel* hint_ = nullptr;  // tells the user what can be selected
  LinkedFacts* links_ = nullptr;
  QWidget* stack_box_ = nullptr;
  FrameList* stack_ = nullptr;
  QLabel* stack_more_ = nullptr;
};

}  // namespace vramscope::ui
