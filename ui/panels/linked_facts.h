// Labels and values in two columns. A value may be a link to a kernel, an allocation or an op.
// Links can be reached by Tab and followed with Enter.
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
