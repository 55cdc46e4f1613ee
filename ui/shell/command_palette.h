// Ctrl+K: type a part of a command's name, Enter runs it. And `?`: the sheet of all shortcuts.
#pragma once

#include <QDialog>

#include "ui/shell/actions.h"

class QLineEdit;
class QListWidget;

namespace vramscope::ui {

class CommandPalette : public QDialog {
  Q_OBJECT
 public:
  CommandPalette(const ActionRegistry& registry, QWidget* parent);
  int shown() const;        // commands that match what is typed
  QStringList ids() const;  // of those, in their order

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Filter(const QString& text);
  void RunCurrent();
  const ActionRegistry& registry_;
  QLineEdit* input_ = nullptr;
  QListWidget* list_ = nullptr;
};

class ShortcutSheet : public QDialog {
  Q_OBJECT
 public:
  ShortcutSheet(const ActionRegistry& registry, QWidget* parent);
};

// How well a command answers what is typed, case aside: lower is better, -1 not at all. In this
// order: its name, a word of it, how its name or a word begins, another name that it has, any part
// of it; last its letters, scattered in the right order, unless it is one to be careful with.
int MatchScore(const QString& typed, const ActionSpec& spec, const QString& name);

}  // namespace vramscope::ui
