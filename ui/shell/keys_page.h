// The page of the settings on which keys are given to commands: a list of all of them, a box that
// takes the next key that is pressed, who has that key now, back to what vramscope comes with.
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

// Takes one key at once, with what is held down beside it; Esc takes it away, Tab goes on.
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
  void choose(const QString& id);  // the command whose keys are changed

 private:
  void Fill();
  void ShowChosen();
  QString Chosen() const;  // empty: none
  QString NameOf(const QString& id) const;
  void Set(bool beside);  // in place of the keys that it has, or beside them
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
