// The menu of a lane and of the stack: fold, pin, hide, move, resize, and the list of hidden lanes.
//
//   LaneMenu menu(&model, lane, [this] { Refresh(); }, widget);
//   menu.exec(position);
//
// UI thread only.
#pragma once

#include <QMenu>
#include <functional>
#include <string>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// Adds a title as a disabled item. A menu section would show only a line, because the window's
// style does not draw a section's text.
void AddMenuTitle(QMenu* menu, const QString& title);

class LaneMenu : public QMenu {
  Q_OBJECT
 public:
  // If `lane` is null or has no title, the menu has only the actions for the whole stack. The model
  // must have data.
  LaneMenu(TimelineModel* model, const Lane* lane, std::function<void()> changed, QWidget* parent);

 private:
  QAction* Add(QMenu* to, const QString& text, LaneAction action, const std::string& key,
               const QString& shortcut = {});

  TimelineModel* model_;
  std::function<void()> changed_;
};

}  // namespace vramscope::ui::timeline
