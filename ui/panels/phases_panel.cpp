#include "ui/panels/phases_panel.h"

#include <QHBoxLayout>
#include <utility>

#include "ui/panels/phase_rows.h"
#include "ui/panels/table_panel.h"

namespace vramscope::ui {

PhasesPanel::PhasesPanel(QWidget* parent)
    : QWidget(parent), model_(new TableModel(this)), view_(new TableView) {
  view_->setObjectName(QStringLiteral("phasesTable"));
  view_->setRowModel(model_);
  auto* inside = new QHBoxLayout(this);
  inside->setContentsMargins(4, 0, 4, 0);  // aligns the first column with the tabs
  inside->addWidget(view_);
}

void PhasesPanel::setDigest(std::shared_ptr<const Digest> digest,
                            std::shared_ptr<const timeline::TimelineData> indexes) {
  digest_ = std::move(digest);
  indexes_ = std::move(indexes);
  gpu_.reset();
  gpu_missing_ = false;
  jobs_.cancel();
  if (digest_ == nullptr) {
    model_->setTable({});
    view_->setEmptyText(nothing_);
  }
  Stale();
}

void PhasesPanel::setIndexes(std::shared_ptr<const timeline::TimelineData> indexes) {
  if (indexes == indexes_) return;
  indexes_ = std::move(indexes);
  if (!gpu_) Stale();
}

void PhasesPanel::setRange(qint64 begin_ns, qint64 end_ns) {
  if (range_ == std::pair(begin_ns, end_ns)) return;
  range_ = {begin_ns, end_ns};
  Stale();
}

void PhasesPanel::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

void PhasesPanel::setEmptyText(const QString& text) {
  nothing_ = text;
  view_->setEmptyText(text);
}

void PhasesPanel::Stale() {
  stale_ = true;
  if (isVisible()) make();
}

void PhasesPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  make();
}

void PhasesPanel::RequestGpuTimes() {
  if (gpu_ || gpu_missing_ || indexes_ == nullptr || indexes_->shared_trace() != digest_->trace ||
      indexes_->activities() == nullptr || !digest_->trace->info.has_times ||
      digest_->summary.steps.empty())
    return;
  jobs_.Ask([of = indexes_] { return query::DeviceTimesOfSteps(*of->activities()); },
            [this](const absl::StatusOr<std::vector<query::DeviceTimes>>& found) {
              gpu_missing_ = !found.ok() || found->size() != digest_->summary.steps.size();
              if (gpu_missing_)
                gpu_.reset();
              else
                gpu_ = *found;
              Stale();
            });
  gpu_.emplace();  // empty: the times are requested, and arrive later through the event loop
}

void PhasesPanel::make() {
  if (digest_ == nullptr || !stale_) return;
  RequestGpuTimes();
  const auto [begin, end] = range_;
  model_->setTable(PhaseTable(*digest_, begin, end, gpu_));
  view_->setEmptyText(digest_->trace->events.size() == 0
                          ? tr("This trace contains no memory events.")
                      : begin < end && !digest_->summary.steps.empty()
                          ? tr("No step overlaps the selected range.")
                          : tr("This trace has no step markers, and no repeating pattern was "
                               "found. The other tabs show its allocations and call sites."));
  stale_ = false;
}

bool PhasesPanel::busy() const { return jobs_.busy(); }

QJsonObject PhasesPanel::dumpState() const { return view_->dumpState(); }

}  // namespace vramscope::ui
