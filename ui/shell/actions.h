// Every command of the window in one table: id, name, place in the menus, key, when it can be used.
// The menus, the command palette and the sheet of shortcuts are made from it, so none of them can
// miss one.
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
  std::function<bool()> enabled = {};  // null: always
  std::function<bool()> checked = {};  // null: not a choice
  QString tip = {};
  QString why_not = {};  // in place of the tip while it is not enabled
  bool separator_before = false;
  QStringList words = {};  // other names that one may look for it by: "fit"
  // It ends or takes away something: the palette finds it by its words, never by scattered letters.
  bool careful = false;
};

class ActionRegistry : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  QAction* Add(ActionSpec spec);
  QAction* Find(const QString& id) const;  // null: none of that id
  // What is enabled and checked is asked again; call it when the state has changed.
  void Refresh();
  // After the language has changed: names, tips and the other words of every command.
  void Retranslate();
  // Menus in the order of their first actions.
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
