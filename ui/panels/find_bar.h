// The line above a table in which is typed what to look for: a text or a filter, what is wrong with
// it, how many there are, the next and the one before.
//
//   auto* bar = new FindBar("searchFilter", tr("Find ..."));
//   connect(bar, &FindBar::edited, this, [this](const query::Filter& filter) { ... });
//   bar->setCount(tr("%1 found").arg(n), n > 0);
//
// UI thread only. Enter and Shift+Enter step, Down goes on to what `below` is, Esc empties it.
#pragma once

#include <QWidget>

#include "profiler/query/filter.h"

class QHBoxLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace vramscope::ui {

class FindBar : public QWidget {
  Q_OBJECT
 public:
  FindBar(const char* edit_name, const QString& placeholder, QWidget* parent = nullptr);
  // `steps`: whether there is a next one.
  void setCount(const QString& text, bool steps);
  void setBelow(QWidget* below) { below_ = below; }
  void setText(const QString& text);
  QString text() const;
  QString count() const;
  QString error() const { return error_; }  // empty: the text can be read
  QLineEdit* edit() const { return edit_; }
  QHBoxLayout* line() const { return line_; }  // for more controls, at its end

 Q_SIGNALS:
  // Not while the text cannot be read as a filter.
  void edited(const vramscope::query::Filter& filter);
  void stepped(int direction);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Read();
  QHBoxLayout* line_ = nullptr;
  QLineEdit* edit_ = nullptr;
  QToolButton* previous_ = nullptr;
  QToolButton* next_ = nullptr;
  QLabel* count_ = nullptr;
  QWidget* below_ = nullptr;
  QString error_, said_;
  bool steps_ = false;
};

}  // namespace vramscope::ui
