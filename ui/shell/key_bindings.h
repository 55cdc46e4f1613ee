// The user's own keys of commands, in a JSON file that may be written by hand: only those that
// differ from what vramscope comes with.
//
//   {"version": 1, "keys": {"file.open": ["Ctrl+O", "F2"], "edit.mark-a": []}}
//
//   KeyBindings bindings(&registry, "/home/me/.config/vramscope/keys.json");
//   bindings.load();
//   bindings.set("file.open", {QKeySequence("F2")});      // in force at once, and on disk
//
// A key that the user gave one command is no longer another's by default. A file that cannot be
// read is left as it is: what vramscope comes with is in force, and nothing is saved. UI thread
// only.
#pragma once

#include <absl/status/statusor.h>

#include <QKeySequence>
#include <QList>
#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>

namespace vramscope::ui {

class ActionRegistry;

class KeyBindings : public QObject {
  Q_OBJECT
 public:
  using Keys = QList<QKeySequence>;
  static constexpr qint64 kMostBytes = 1 << 20;
  static constexpr int kMostKeys = 8;  // of one command

  KeyBindings(ActionRegistry* registry, const QString& file, QObject* parent = nullptr);
  void load();

  const QString& file() const { return file_; }
  const QString& error() const { return error_; }  // of the file; empty: it can be read, or is none
  Keys keysOf(const QString& id) const;            // that are in force
  Keys defaultsOf(const QString& id) const;
  bool changed(const QString& id) const { return own_.contains(id); }
  bool any() const { return !own_.isEmpty(); }
  // Commands that have the key, without `except`.
  QStringList usersOf(const QKeySequence& key, const QString& except) const;

  // The file's error, or that it could not be written.
  absl::Status set(const QString& id, const Keys& keys);
  absl::Status take(const QKeySequence& key, const QString& id);  // from whoever has it
  absl::Status reset(const QString& id);
  absl::Status resetAll();

 Q_SIGNALS:
  void keysChanged();

 private:
  void Apply();
  absl::Status Save();
  ActionRegistry* registry_;
  QString file_, error_;
  // By command; of commands that this version does not know they stay in the file.
  QMap<QString, Keys> own_;
};

// kInvalidArgument, with what is wrong: no JSON object, another version, a key that is none.
absl::StatusOr<QMap<QString, KeyBindings::Keys>> KeysFromJson(const QByteArray& json);
QByteArray KeysToJson(const QMap<QString, KeyBindings::Keys>& keys);

}  // namespace vramscope::ui
