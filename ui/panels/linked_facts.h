// Labels and values in two columns. A value may be a link to a kernel, an
// allocation or an op. Tab moves to the next link, and Enter follows it. UI thread
// only.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/timeline/model/activity_facts.h"

class QGridLayout;
class QLabel;

namespace vramscope::ui {

class LinkedFacts : public QWidget {
  Q_OBJECT
 public:
  explicit LinkedFacts(QWidget* parent = nullptr);
  void set(const std::vector<timeline::LinkedFact>& facts);
  const std::vector<timeline::LinkedFact>& facts() const { return shown_; }

 Q_SIGNALS:
  void linkClicked(const vramscope::ui::timeline::Link& link);

 private:
  enum class Kind { kText, kSentence, kLink };
  struct Row {
    Kind kind = Kind::kText;
    QLabel* label = nullptr;
    // Its class depends on `kind`: ElidedLabel for kText, WrappedLabel for kSentence, LinkLabel for
    // kLink.
    QLabel* value = nullptr;
  };
  static Kind KindOf(const timeline::LinkedFact& fact);
  static Row MakeRow(Kind kind);
  void Fill(const Row& row, const timeline::LinkedFact& fact);

  QGridLayout* grid_ = nullptr;
  std::vector<Row> rows_;
  std::vector<timeline::LinkedFact> shown_;
};

}  // namespace vramscope::ui
