#include "ui/timeline/lane_menu.h"

#include <utility>

namespace vramscope::ui::timeline {

void AddMenuTitle(QMenu* menu, const QString& title) {
  menu->addAction(title)->setEnabled(false);
  menu->addSeparator();
}

LaneMenu::LaneMenu(TimelineModel* model, const Lane* lane, std::function<void()> changed,
                   QWidget* parent)
    : QMenu(parent), model_(model), changed_(std::move(changed)) {
  const CanvasState& s = model_->state();
  setObjectName(QStringLiteral("lane_menu"));
  setToolTipsVisible(true);
  if (lane != nullptr && !s.layout[lane->key()].title.empty()) {
    const LanePlace& place = s.layout[lane->key()];
    const std::string key(lane->key());
    AddMenuTitle(this, QString::fromStdString(lane->Name(s)));
    Add(this, place.folded ? tr("Unfold") : tr("Fold"), LaneAction::kFold, key, tr("C"));
    Add(this, place.pinned ? tr("Unpin") : tr("Pin to the top"), LaneAction::kPin, key, tr("T"));
    Add(this, tr("Hide"), LaneAction::kHide, key, tr("H"));
    Add(this, tr("Move up"), LaneAction::kMoveUp, key, tr("Alt+Up"));
    Add(this, tr("Move down"), LaneAction::kMoveDown, key, tr("Alt+Down"));
    Add(this, tr("Taller"), LaneAction::kHigher, key, tr("Alt++"));
    Add(this, tr("Shorter"), LaneAction::kLower, key, tr("Alt+-"));
    Add(this, tr("Default height"), LaneAction::kNaturalHeight, key)
        ->setEnabled(model_->lane_settings().Of(key).height > 0);
    addSeparator();
  }
  const auto hidden = model_->HiddenLanes();
  QMenu* show = addMenu(tr("Show"));
  show->setEnabled(!hidden.empty());
  for (const auto& [key, name] : hidden)
    Add(show, QString::fromStdString(name), LaneAction::kHide, key);
  Add(this, tr("Show all tracks"), LaneAction::kShowAll, {})->setEnabled(!hidden.empty());
  Add(this, tr("Reset all tracks"), LaneAction::kReset, {})
      ->setEnabled(!model_->lane_settings().empty());
  if (s.data->activities() == nullptr) {
    addSeparator();
    addAction(tr("This trace has no kernels. To get kernels, run vramscope record (or plan) -- "
                 "python train.py, or open a torch.profiler trace"))
        ->setEnabled(false);
  }
}

QAction* LaneMenu::Add(QMenu* to, const QString& text, LaneAction action, const std::string& key,
                       const QString& shortcut) {
  QAction* a = to->addAction(text, this, [this, action, key] {
    model_->ChangeLane(action, key);
    changed_();
  });
  if (!shortcut.isEmpty()) a->setText(text + QLatin1Char('\t') + shortcut);
  return a;
}

}  // namespace vramscope::ui::timeline
