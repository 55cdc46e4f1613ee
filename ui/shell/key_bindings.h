// The user's own keys for commands, in a JSON file that can be edited by hand. It contains only the
// keys that differ from the defaults.
//
//   {"version": 1, "keys": {"file.open": ["Ctrl+O", "F2"], "edit.mark-a": []}}
//
//   KeyBindings bindings(&registry, "/home/me/.config/vramscope/keys.json");
//   bindings.load();
//   bindings.set("file.open", {QKeySequence("F2")});      // takes effect at once and is saved
//
// If the user gives a default key of one command to another command, the first command loses the
// key. If the file cannot be read, it stays unchanged, the defaults apply, and no change is saved.
// UI thread only.
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
  static constexpr int kMostKeys = 8;  // limit for one command

  KeyBindings(ActionRegistry* registry, const QString& file, QObject* parent = nullptr);
  void load();

  const QString& file() const { return file_; }
  // Why the file cannot be read; empty if it was read or does not exist.
  const QString& error() const { return error_; }
  Keys keysOf(const QString& id) const;  // the keys in effect
  Keys defaultsOf(const QString& id) const;
  bool changed(const QString& id) const { return own_.contains(id); }
  bool any() const { return !own_.isEmpty(); }
  // Ids of the commands, other than `except`, that have the key.
  QStringList usersOf(const QKeySequence& key, const QString& except) const;

  // These functions return an error, and change nothing, if the file could not be read or cannot be
  // written.
  // set() also removes the keys from the other commands that have them.
  absl::Status set(const QString& id, const Keys& keys);
  absl::Status reset(const QString& id);
  absl::Status resetAll();

 Q_SIGNALS:
  void keysChanged();

 private:
  void Apply();
  absl::Status Change(QMap<QString, Keys> own);
  ActionRegistry* registry_;
  QString file_, error_;
  // The user's keys by command id. Keys of commands that only other versions have stay in the file.
  QMap<QString, Keys> own_;
};

// kInvalidArgument, with the reason: not a JSON object, another version, or an invalid key.
absl::StatusOr<QMap<QString, KeyBindings::Keys>> KeysFromJson(const QByteArray& json);
QByteArray KeysToJson(const QMap<QString, KeyBindings::Keys>& keys);

}  // namespace vramscope::ui
