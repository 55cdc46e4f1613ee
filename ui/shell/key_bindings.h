// The user's own keys for commands. They are in a JSON file that can be edited by hand. The file
// contains only commands whose keys differ from the default.
//
//   {"version": 1, "keys": {"file.open": ["Ctrl+O", "F2"], "edit.mark-a": []}}
//
//   KeyBindings bindings(&registry, "/home/me/.config/vramscope/keys.json");
//   bindings.load();
//   bindings.set("file.open", {QKeySequence("F2")});      // takes effect immediately, and is saved
//
// If the user gives a command a key that is another command's default, the other command loses the
// key. If the file cannot be read, all keys are the defaults, and neither keys nor file can be
// changed. UI thread only.
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
  static constexpr int kMostKeys = 8;  // maximum number of keys of one command

  KeyBindings(ActionRegistry* registry, const QString& file, QObject* parent = nullptr);
  void load();

  const QString& file() const { return file_; }
  // Why the file could not be read. Empty if it was read or does not exist.
  const QString& error() const { return error_; }
  Keys keysOf(const QString& id) const;  // the keys in effect
  Keys defaultsOf(const QString& id) const;
  bool changed(const QString& id) const { return own_.contains(id); }
  bool any() const { return !own_.isEmpty(); }
  // Returns the ids of the commands that have `key`, except the command `except`.
  QStringList usersOf(const QKeySequence& key, const QString& except) const;

  // These functions change nothing and return an error if the file could not be read or cannot be
  // written. set() also takes the keys away from all other commands.
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
  // The user's keys by command id. Keys of unknown commands, which another version has, stay in the
  // file.
  QMap<QString, Keys> own_;
};

// Returns kInvalidArgument, with a reason, if the format, the version or a key is invalid.
absl::StatusOr<QMap<QString, KeyBindings::Keys>> KeysFromJson(const QByteArray& json);
QByteArray KeysToJson(const QMap<QString, KeyBindings::Keys>& keys);

}  // namespace vramscope::ui
