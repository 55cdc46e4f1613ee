#include "ui/shell/key_bindings.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include "ui/panels/qt_theme.h"
#include "ui/shell/actions.h"

namespace vramscope::ui {
namespace {

constexpr int kKeysVersion = 1;
constexpr qsizetype kLongestKey = 64;

absl::Status Refused(const QString& what) { return absl::InvalidArgumentError(what.toStdString()); }

bool IsKey(const QKeySequence& key) {
  if (key.isEmpty()) return false;
  for (int i = 0; i < key.count(); ++i)
    if (key[static_cast<uint>(i)].key() == Qt::Key_unknown) return false;
  return true;
}

}  // namespace

absl::StatusOr<QMap<QString, KeyBindings::Keys>> KeysFromJson(const QByteArray& json) {
  QJsonParseError error;
  const QJsonDocument document = QJsonDocument::fromJson(json, &error);
  if (error.error != QJsonParseError::NoError)
    return Refused(
        KeyBindings::tr("invalid JSON at byte %1: %2").arg(error.offset).arg(error.errorString()));
  const QJsonObject whole = document.object();
  if (!document.isObject() || whole[QLatin1String("version")].toInt() != kKeysVersion ||
      !whole[QLatin1String("keys")].isObject())
    return Refused(
        KeyBindings::tr("expected an object with \"version\": %1 and \"keys\"").arg(kKeysVersion));
  const QJsonObject keys = whole[QLatin1String("keys")].toObject();
  QMap<QString, KeyBindings::Keys> out;
  for (auto at = keys.begin(); at != keys.end(); ++at) {
    const QJsonArray texts = at.value().toArray();
    if (!at.value().isArray() || texts.size() > KeyBindings::kMostKeys)
      return Refused(KeyBindings::tr("%1: expected a list of at most %2 keys")
                         .arg(at.key())
                         .arg(KeyBindings::kMostKeys));
    KeyBindings::Keys& list = out[at.key()];
    for (const QJsonValue& text : texts) {
      const QString typed = text.toString().left(kLongestKey + 1);
      const QKeySequence key = QKeySequence::fromString(typed, QKeySequence::PortableText);
      if (typed.size() > kLongestKey || !IsKey(key))
        return Refused(KeyBindings::tr("%1: \"%2\" is not a key").arg(at.key(), typed));
      if (!list.contains(key)) list << key;
    }
  }
  return out;
}

QByteArray KeysToJson(const QMap<QString, KeyBindings::Keys>& keys) {
  QJsonObject of;
  for (auto at = keys.begin(); at != keys.end(); ++at) {
    QJsonArray texts;
    for (const QKeySequence& key : at.value()) texts << key.toString(QKeySequence::PortableText);
    of[at.key()] = texts;
  }
  return QJsonDocument(QJsonObject{{"version", kKeysVersion}, {"keys", of}}).toJson();
}

KeyBindings::KeyBindings(ActionRegistry* registry, const QString& file, QObject* parent)
    : QObject(parent), registry_(registry), file_(file) {}

void KeyBindings::load() {
  own_.clear();
  error_.clear();
  QFile file(file_);
  if (file.exists()) {
    if (!QFileInfo(file_).isFile() || !file.open(QIODevice::ReadOnly)) {
      error_ = tr("%1 cannot be read").arg(file_);
    } else if (const QByteArray json = file.read(kMostBytes + 1); json.size() > kMostBytes) {
      error_ = tr("%1 is larger than 1 MiB").arg(file_);
    } else if (auto keys = KeysFromJson(json); keys.ok()) {
      own_ = *std::move(keys);
    } else {
      error_ = QStringLiteral("%1: %2").arg(file_, ToQString(std::string(keys.status().message())));
    }
  }
  Apply();
}

KeyBindings::Keys KeyBindings::defaultsOf(const QString& id) const {
  for (const ActionRegistry::Entry& entry : registry_->entries())
    if (entry.spec.id == id) return entry.spec.shortcuts;
  return {};
}

KeyBindings::Keys KeyBindings::keysOf(const QString& id) const {
  if (const auto own = own_.find(id); own != own_.end()) return own.value();
  Keys keys = defaultsOf(id);
  // From the default keys, remove those that the user has given to another command.
  keys.removeIf([&](const QKeySequence& key) {
    return std::any_of(own_.begin(), own_.end(),
                       [&](const Keys& other) { return other.contains(key); });
  });
  return keys;
}

QStringList KeyBindings::usersOf(const QKeySequence& key, const QString& except) const {
  QStringList ids;
  for (const ActionRegistry::Entry& entry : registry_->entries())
    if (entry.spec.id != except && keysOf(entry.spec.id).contains(key)) ids << entry.spec.id;
  return ids;
}

absl::Status KeyBindings::set(const QString& id, const Keys& keys) {
  QMap<QString, Keys> own = own_;
  const Keys kept = keys.mid(0, kMostKeys);
  for (const QKeySequence& key : kept)
    for (const QString& other : usersOf(key, id)) {
      Keys left = own.value(other, keysOf(other));
      left.removeAll(key);
      own[other] = left;
    }
  if (kept == defaultsOf(id)) {
    own.remove(id);
  } else {
    own[id] = kept;
  }
  return Change(std::move(own));
}

absl::Status KeyBindings::reset(const QString& id) {
  QMap<QString, Keys> own = own_;
  own.remove(id);
  return Change(std::move(own));
}

absl::Status KeyBindings::resetAll() { return Change({}); }

void KeyBindings::Apply() {
  for (const ActionRegistry::Entry& entry : registry_->entries())
    entry.action->setShortcuts(keysOf(entry.spec.id));
  Q_EMIT keysChanged();
}

// Saves the keys before they take effect, so that the file never lacks keys that are in effect.
absl::Status KeyBindings::Change(QMap<QString, Keys> own) {
  if (!error_.isEmpty()) return Refused(error_);
  QDir().mkpath(QFileInfo(file_).absolutePath());
  QSaveFile file(file_);
  const QByteArray json = KeysToJson(own);
  if (!file.open(QIODevice::WriteOnly) || file.write(json) != json.size() || !file.commit())
    return absl::UnavailableError(
        tr("%1 could not be written: %2").arg(file_, file.errorString()).toStdString());
  own_ = std::move(own);
  Apply();
  return absl::OkStatus();
}

}  // namespace vramscope::ui
