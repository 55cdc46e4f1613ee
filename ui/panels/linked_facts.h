// Facts that lead on: label and value in two columns, where a value may be a link to a kernel, an
// allocation, an op. Links are reached by Tab and followed by Enter, too.
// UI thread only.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/timeline/model/activity_facts.h"

class QGridLayout;

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
  QGridLayout* grid_ = nullptr;
  std::vector<timeline::LinkedFact> shown_;
};

}  // namespace vramscope::ui
