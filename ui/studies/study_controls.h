// The controls of the pages *Make it fit* and *Waterfall*, which the model's pages and the
// program's pages share. UI thread only.
#pragma once

#include <QJsonArray>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <functional>
#include <string>
#include <vector>

#include "ui/studies/bars_widget.h"

class QHBoxLayout;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace vramscope::ui {

class TableModel;
class TableView;

// A field for the budget, the button *Make it fit*, and a button for each proposal.
class FitControls : public QObject {
  Q_OBJECT
 public:
  struct Texts {
    const char* name;  // object name of the budget's field
    QString budget_tip, make_tip;
    QString use, use_tip;  // text and tool tip of the proposals' buttons, such as "Use %1"
  };
  // Inserts the field and the buttons before the other controls of the page.
  FitControls(QWidget* page, QHBoxLayout* controls, const Texts& texts,
              const std::function<void()>& make, const std::function<void(int)>& use);

  QString budget() const;  // the text that the user typed; empty: the GPU's memory
  void setDefaultBudget(const QString& text);
  void showProposals(size_t count);
  // Returns a sentence about the result of `fit --json`, or `none` if it has no proposals.
  static QString found(const QJsonObject& result, const QString& none);

 private:
  QLineEdit* budget_;
  std::vector<QPushButton*> use_;
};

// The bars above the table, and the buttons and keys that change the order of the bars.
class WaterfallControls : public QObject {
  Q_OBJECT
 public:
  // The parts of the page that the controls use.
  struct Parts {
    QHBoxLayout* controls;
    QVBoxLayout* column;
    TableModel* model;
    TableView* view;
  };
  // `draw` is called when the button is pressed. `reorder` is called with a new order of the bars,
  // for which they must be planned again.
  WaterfallControls(QWidget* page, const Parts& parts, const QString& draw_tip,
                    const std::function<void()>& draw,
                    std::function<void(const std::vector<std::string>&)> reorder);

  void addButton(const QString& text, const QString& tip, const std::function<void()>& run);
  // `order`: the names of the bars without the first and the last. Selects the bar that was moved.
  void show(BarsAndTable bars, std::vector<std::string> order);
  void move(int by);  // moves the selected bar up or down
  void forgetMoved() { moved_.clear(); }
  const std::vector<std::string>& order() const { return order_; }
  QJsonArray orderJson() const;
  BarsWidget* bars() const { return bars_; }

 private:
  void Move(int from, int to);  // indexes in order_
  const Parts parts_;
  const std::function<void(const std::vector<std::string>&)> reorder_;
  BarsWidget* bars_;
  QScrollArea* area_;
  int buttons_ = 0;
  std::vector<std::string> order_;
  std::string moved_;  // the bar that was moved last
};

}  // namespace vramscope::ui
