// The search line above a table. It has a field for a text or a filter, the filter's error, the
// number of matches, and buttons for the previous and next match.
//
//   auto* bar = new FindBar("searchFilter", tr("Find ..."));
//   connect(bar, &FindBar::edited, this, [this](const query::Filter& filter) { ... });
//   bar->setCount(tr("%1 found").arg(n), n > 0);
//
// UI thread only. Enter goes to the next match and Shift+Enter to the previous one. Down moves the
// focus to the widget of setBelow(). Esc clears the field.
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
  // `steps`: whether the buttons for the previous and the next match are enabled.
  void setCount(const QString& text, bool steps);
  void setBelow(QWidget* below) { below_ = below; }
  void setText(const QString& text);
  QString text() const;
  QString count() const;
  QString error() const { return error_; }  // why the filter is invalid; empty: valid
  QLineEdit* edit() const { return edit_; }
  QHBoxLayout* line() const { return line_; }  // callers can add controls at the end of this layout

 Q_SIGNALS:
  // Emitted when the text has changed and is a valid filter.
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
