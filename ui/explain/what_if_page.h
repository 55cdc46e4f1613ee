// The page that replays the recording under allocator settings that the user types. Shows both
// curves of reserved memory, and the resulting calls, retries and out-of-memory errors.
#pragma once

#include <optional>

#include "profiler/replay/replay.h"
#include "ui/explain/explain_page.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace vramscope::ui {

class CurvePlot;
class TableModel;
class TableView;

class WhatIfPage : public ExplainPage {
  Q_OBJECT
 public:
  WhatIfPage(const ExplainContext* context, QWidget* parent = nullptr);
  void setConf(const QString& alloc_conf);  // also replays the recording under these settings
  QJsonObject dumpState() const override;
  CurvePlot* plot() const { return plot_; }

 protected:
  int cares() const override { return kDocument | kView | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;
  void Cancelled() override;

 private:
  struct Found;
  void AddSetting(const QString& setting);
  void Check();
  void Replay();
  void Show(const Found& found);

  QLineEdit* conf_ = nullptr;
  QLabel* problem_ = nullptr;
  QToolButton* run_ = nullptr;
  CurvePlot* plot_ = nullptr;
  TableModel* table_ = nullptr;
  TableView* view_ = nullptr;
  // The replay of `base_of_` under its recorded settings, or nullopt until it is computed.
  std::optional<replay::Baseline> base_;
  std::weak_ptr<const Digest> base_of_;
  bool wanted_ = false;  // a replay was requested before the page was visible
};

}  // namespace vramscope::ui
