// A table of steps. It shows how long the host took for each phase and, if kernels are known, how
// long the GPU was busy with the work that the phase launched. If a range is selected, the table
// shows only the steps that overlap the range.
//
// UI thread only. The table is built when it becomes visible. A pool thread computes the GPU's
// times.
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

  // `indexes`: the canvas's indexes, which map kernels to steps. Null if they do not exist (yet).
  void setDigest(std::shared_ptr<const Digest> digest,
                 std::shared_ptr<const timeline::TimelineData> indexes = {});
  void setIndexes(std::shared_ptr<const timeline::TimelineData> indexes);
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: no range
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);  // shown while there is no digest
  void make();                             // updates outdated contents, even if hidden
  bool busy() const;                       // whether the GPU's times are being computed
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void Stale();
  void RequestGpuTimes();

  std::shared_ptr<const Digest> digest_;
  std::shared_ptr<const timeline::TimelineData> indexes_;
  std::optional<std::vector<query::DeviceTimes>> gpu_;  // nullopt: not requested, or not known
  bool gpu_missing_ = false;                            // not known for at least one step
  Jobs jobs_;
  std::pair<qint64, qint64> range_{0, 0};
  bool stale_ = false;
  QString nothing_;
  TableModel* model_;
  TableView* view_;
};

}  // namespace vramscope::ui
