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
  int shown() const;  // commands that match what is typed

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

// Whether the letters of `typed` come in this order in `name` (case aside); lower is better, -1:
// no.
int MatchScore(const QString& typed, const QString& name);

}  // namespace vramscope::ui
