#include "ui/shell/actions.h"

#include <QMenu>
#include <QMenuBar>

#include "ui/language/language.h"

namespace vramscope::ui {

QAction* ActionRegistry::Add(ActionSpec spec) {
  auto* action = new QAction(spec.text, this);
  action->setObjectName(spec.id);
  action->setShortcuts(spec.shortcuts);
  action->setCheckable(static_cast<bool>(spec.checked));
  if (!spec.tip.isEmpty()) action->setStatusTip(spec.tip);
  connect(action, &QAction::triggered, this, [this, run = spec.run] {
    run();
    Refresh();
  });
  entries_.push_back({std::move(spec), action});
  return action;
}

QAction* ActionRegistry::Find(const QString& id) const {
  for (const Entry& entry : entries_)
    if (entry.spec.id == id) return entry.action;
  return nullptr;
}

void ActionRegistry::Refresh() {
  for (const Entry& entry : entries_) {
    if (entry.spec.enabled) {
      const bool enabled = entry.spec.enabled();
      entry.action->setEnabled(enabled);
      if (!entry.spec.why_not.isEmpty()) {
        entry.action->setStatusTip(enabled ? entry.spec.tip : entry.spec.why_not);
        entry.action->setToolTip(entry.action->statusTip());
      }
    }
    if (entry.spec.checked) entry.action->setChecked(entry.spec.checked());
  }
}

void ActionRegistry::Retranslate() {
  // Translate only the actions here. The menu bar translates its own menus.
  const QStringList contexts = {QStringLiteral("vramscope::ui::MainWindow")};
  const auto change = [&](QString& text) { text = Retranslated(text, contexts).value_or(text); };
  for (Entry& entry : entries_) {
    ActionSpec& spec = entry.spec;
    for (QString* text : {&spec.menu, &spec.text, &spec.tip, &spec.why_not}) change(*text);
    for (QString& word : spec.words) change(word);
    entry.action->setText(spec.text);
    entry.action->setToolTip({});  // if it is empty, Qt derives the tool tip from the text
    if (!spec.tip.isEmpty()) entry.action->setStatusTip(spec.tip);
  }
  Refresh();
}

void ActionRegistry::FillMenus(QMenuBar* bar) {
  QHash<QString, QMenu*> menus;
  for (const Entry& entry : entries_) {
    QMenu*& menu = menus[entry.spec.menu];
    if (menu == nullptr) {
      menu = bar->addMenu(entry.spec.menu);
      menu->setObjectName(QStringLiteral("menu-") + entry.spec.menu);
      connect(menu, &QMenu::aboutToShow, this, &ActionRegistry::Refresh);
    }
    if (entry.spec.separator_before) menu->addSeparator();
    menu->addAction(entry.action);
  }
}

}  // namespace vramscope::ui
