// The command palette (Ctrl+K), which finds a command by a part of its name and runs it on Enter.
// Also the shortcut sheet (`?`), which lists the keys of all commands.
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
  int shown() const;        // number of commands that match the typed text
  QStringList ids() const;  // ids of the matching commands, in the displayed order

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

// Returns how well a command matches the typed text, ignoring case. A lower score is better, and -1
// means no match. From the best match to the worst, the text is: the name; a word of the name; the
// beginning of the name or of a word; a search term; any part of the name; beginnings of several
// words; letters of the name in order (but not if `careful` is set).
int MatchScore(const QString& typed, const ActionSpec& spec, const QString& name);

}  // namespace vramscope::ui
