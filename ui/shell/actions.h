// A table of all commands of the window: id, name, menu, keys, and when they are enabled. The
// menus, the command palette and the shortcut sheet are built from this table.
//
//   registry.Add({.id = "file.open", .menu = "File", .text = "Open …",
//                 .shortcut = QKeySequence::Open, .run = [this] { ... }});
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <vector>

class QMenuBar;

namespace vramscope::ui {

struct ActionSpec {
  QString id;    // "file.open"
  QString menu;  // "File"
  QString text;  // "Open …"
  QList<QKeySequence> shortcuts = {};
  std::function<void()> run;
  std::function<bool()> enabled = {};  // null: always enabled
  std::function<bool()> checked = {};  // null: not checkable
  QString tip = {};
  QString why_not = {};  // replaces the tip while the command is disabled
  bool separator_before = false;
  QStringList words = {};  // other search terms for the command, such as "fit"
  // Whether the command ends or discards something. The palette finds such a command only by words
  // of its name or parts of words, not by scattered letters.
  bool careful = false;
};

class ActionRegistry : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  QAction* Add(ActionSpec spec);
  QAction* Find(const QString& id) const;  // null: unknown id
  // Updates which actions are enabled or checked. Call it after the window's state has changed.
  void Refresh();
  // Translates the names, tips and search terms of all commands. Call it when the language has
  // changed.
  void Retranslate();
  // Adds the menus, in the order in which the table of commands first names them.
  void FillMenus(QMenuBar* bar);

  struct Entry {
    ActionSpec spec;
    QAction* action = nullptr;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace vramscope::ui
