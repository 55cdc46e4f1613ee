// Below the breakdown: facts of the selected block, or of a selected kernel, copy or call, with
// what leads on from it, and the call stack. Always in sight: as high as its content, at most a
// little over half of its parent, from there on it scrolls, so that a click in the canvas is
// answered without the breakdown above moving. UI thread only.
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

  void setDigest(std::shared_ptr<const Digest> digest);  // null: empty
  void setSelection(trace::AllocationId id);
  // A kernel, a call, a module ... is selected in place of an allocation; without a title: none is.
  void setActivity(const timeline::ActivityFacts& activity);
  // What kernels have to do with the selected allocation.
  void setKernels(const std::vector<timeline::LinkedFact>& kernels);
  void setTheme(const timeline::Theme& theme);
  // The selected allocation's call stack, a frame a line with whole paths; empty: none.
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
  LinkedFacts* links_ = nullptr;
  QWidget* stack_box_ = nullptr;
  FrameList* stack_ = nullptr;
  QLabel* stack_more_ = nullptr;
};

}  // namespace vramscope::ui
