// The context menu of a thing in the timeline or a table. It has the thing's name, texts to copy,
// searches for similar things, links to related things, and the menu of the thing's lane.
//
//   ThingMenu menu(&model, thing, lane, {.changed = ..., .search = ...}, widget);
//   menu.exec(position);
//
// UI thread only.
#pragma once

#include <QMenu>
#include <functional>
#include <string>

#include "profiler/query/things.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

class ThingMenu : public QMenu {
  Q_OBJECT
 public:
  struct Asked {
    std::function<void()> changed;  // called when the menu has changed the model
    std::function<void(const std::string& filter)> search;
    std::function<double()> now;  // returns the time in ms
    std::function<void()> note;   // adds a note to the thing
  };
  // `thing` must be in the model's data. `lane` is the lane that shows `thing`, or null if none
  // does.
  ThingMenu(TimelineModel* model, const query::Thing& thing, const Lane* lane, Asked asked,
            QWidget* parent);

 private:
  void AddCopies();
  void AddLikes();

  TimelineModel* model_;
  const query::Thing thing_;
  const std::shared_ptr<const TimelineData> data_;
  const ThingFacts facts_;
  Asked asked_;
};

}  // namespace vramscope::ui::timeline
