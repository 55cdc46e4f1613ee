// The settings page that assigns keys to commands. It lists all commands, captures the next pressed
// key in a field, names the command to which this key belongs now, and can restore the defaults.
#pragma once

#include <QKeySequence>
#include <QLineEdit>
#include <QWidget>
#include <vector>

#include "ui/shell/actions.h"
#include "ui/timeline/theme.h"

class QLabel;
class QPushButton;

namespace vramscope::ui {

class KeyBindings;
class TableModel;
class TableView;

// A field that captures one key with its modifiers. Esc clears it, and Tab moves the focus.
class KeyEdit : public QLineEdit {
  Q_OBJECT
 public:
  explicit KeyEdit(QWidget* parent = nullptr);
  const QKeySequence& key() const { return key_; }
  void setKey(const QKeySequence& key);

 Q_SIGNALS:
  void keyChanged();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QKeySequence key_;
};

class KeysPage : public QWidget {
  Q_OBJECT
 public:
  KeysPage(const ActionRegistry& registry, KeyBindings* bindings, QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme);
  void choose(const QString& id);  // selects the command to change

 private:
  void Fill();
  void ShowChosen();
  QString Chosen() const;  // empty: none
  QString NameOf(const QString& id) const;
  void Set(bool beside);  // `beside`: adds the key to the others; otherwise replaces the others
  void Say(const absl::Status& status, const QString& done);

  const ActionRegistry& registry_;
  KeyBindings* bindings_;
  bool filling_ = false;
  QLineEdit* filter_ = nullptr;
  TableModel* model_ = nullptr;
  TableView* view_ = nullptr;
  QLabel* of_ = nullptr;
  KeyEdit* edit_ = nullptr;
  QPushButton* set_ = nullptr;
  QPushButton* add_ = nullptr;
  QPushButton* remove_ = nullptr;
  QPushButton* reset_ = nullptr;
  QPushButton* reset_all_ = nullptr;
  QLabel* said_ = nullptr;
};

}  // namespace vramscope::ui
