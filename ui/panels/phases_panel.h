// Iterations as a table: what the host took for each phase and, where kernels are known, how long
// the card was busy with what was launched in it. Of a selected range, those that reach into it.
//
// UI thread only. The table is made when it is looked at, the card's times beside it.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/query/device_times.h"
#include "ui/jobs/jobs.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class TableModel;
class TableView;

class PhasesPanel : public QWidget {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER nothing_)
 public:
  explicit PhasesPanel(QWidget* parent = nullptr);

  // `indexes`: the canvas', where they are there; they know which kernel belongs to which step.
  void setDigest(std::shared_ptr<const Digest> digest,
                 std::shared_ptr<const timeline::TimelineData> indexes = {});
  void setIndexes(std::shared_ptr<const timeline::TimelineData> indexes);
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);  // while there is no digest
  void make();                             // what is stale, though nobody looks
  bool busy() const;                       // the card's times are being found
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void Stale();
  void AskCard();

  std::shared_ptr<const Digest> digest_;
  std::shared_ptr<const timeline::TimelineData> indexes_;
  std::optional<std::vector<query::DeviceTimes>> card_;  // none: it is not asked for
  Jobs jobs_;
  std::pair<qint64, qint64> range_{0, 0};
  bool stale_ = false;
  QString nothing_;
  TableModel* model_;
  TableView* view_;
};

}  // namespace vramscope::ui
