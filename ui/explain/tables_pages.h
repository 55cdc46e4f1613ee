// Two pages: call sites (with bytes over time and number of allocations), and leaks over steps.
#pragma once

#include "profiler/explain/explain.h"
#include "ui/explain/explain_page.h"
#include "ui/explain/explain_rows.h"

class QComboBox;
class QLineEdit;

namespace vramscope::ui {

class TableModel;
class TableView;

class CallSitesPage : public ExplainPage {
  Q_OBJECT
 public:
  CallSitesPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kRange | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;

 private:
  void Fill();
  void OfferGroupings();
  TableModel* table_ = nullptr;
  TableView* view_ = nullptr;
  QLineEdit* filter_ = nullptr;
  Table all_;
  QString of_;  // which part of the trace is counted, in words
  SiteBy by_ = SiteBy::kCallSite;
  QComboBox* by_box_ = nullptr;
};

class LeaksPage : public ExplainPage {
  Q_OBJECT
 public:
  LeaksPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;

 private:
  TableModel* table_ = nullptr;
  TableView* view_ = nullptr;
  QString growth_;
};

}  // namespace vramscope::ui
