// The page of findings about the run's memory. Each row states the bytes that it is about, and what
// to change.
#pragma once

#include "ui/explain/explain_page.h"

namespace vramscope::ui {

class TableModel;
class TableView;

class FindingsPage : public ExplainPage {
  Q_OBJECT
 public:
  FindingsPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;
  void Cancelled() override;

 private:
  TableModel* table_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
