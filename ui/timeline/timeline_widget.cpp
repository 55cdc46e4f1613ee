#include "ui/timeline/timeline_widget.h"

#include <optional>
#include <tuple>
#include <vector>

#include "ui/jobs/release_later.h"
#include "ui/timeline/dump_state.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/model/tooltip.h"
#include "ui/timeline/picture.h"
#include "ui/timeline/timeline_widget_impl.h"

namespace vramscope::ui::timeline {

TimelineWidget::TimelineWidget(QWidget* parent)
    : QWidget(parent), impl_(std::make_unique<Impl>(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(
      tr("Memory over time. The wheel zooms, a drag selects a range, a click selects an "
         "allocation, and P goes to the peak."));
  impl_->model.SetEmptyText(tr("No run yet").toStdString(),
                            tr("Choose a model and a GPU, then plan a run.\nOr open a .trace file "
                               "or a memory snapshot with Ctrl+O, or drop it here.")
                                .toStdString());
  impl_->ChooseRenderer();
}

TimelineWidget::~TimelineWidget() {
  delete impl_->gl_view;  // delete it first, because it reads the model
  impl_->gl_view = nullptr;
}

void TimelineWidget::setTrace(std::shared_ptr<const trace::Trace> trace, bool animate,
                              const Curves& curves,
                              const std::shared_ptr<const trace::Trace>& whole) {
  impl_->trace = std::move(trace);
  impl_->trace_curves = curves;
  impl_->whole = whole;
  impl_->animate = animate;
  impl_->Apply();
}

void TimelineWidget::showNow() {
  if (impl_->gl_view) {
    impl_->gl_view->repaint();
  } else {
    repaint();
  }
}

std::shared_ptr<const trace::Trace> TimelineWidget::trace() const { return impl_->trace; }

void TimelineWidget::prepare(std::shared_ptr<const TimelineData> data) {
  impl_->builder.Remember(data);
}

void TimelineWidget::setBaselineTrace(std::shared_ptr<const trace::Trace> baseline,
                                      const QString& label, const Curves& curves) {
  impl_->baseline_label_changed = label != impl_->baseline_label;
  impl_->baseline = std::move(baseline);
  impl_->baseline_curves = curves;
  impl_->baseline_label = label;
  impl_->Apply();
}

void TimelineWidget::setTheme(const Theme& theme) {
  impl_->model.SetTheme(theme);
  impl_->Refresh();
}

void TimelineWidget::retranslate() {
  impl_->builder.Forget();
  impl_->baseline_label_changed = true;
  impl_->Refresh();
}

void TimelineWidget::setDeviceLimit(quint64 bytes) {
  impl_->model.SetDeviceLimit(bytes);
  impl_->Refresh();
}

void TimelineWidget::setAnimations(bool on) { impl_->model.SetAnimations(on); }
void TimelineWidget::setFrameBudget(double ms) { impl_->raster.SetFrameBudget(ms); }

void TimelineWidget::setEmptyText(const QString& title, const QString& hint) {
  impl_->model.SetEmptyText(title.toStdString(), hint.toStdString());
  impl_->Refresh();
}

void TimelineWidget::setLoading(const QString& text, double fraction) {
  impl_->model.SetStatus(text.isEmpty() ? Status::kNone : Status::kLoading, text.toStdString(), "",
                         "", fraction);
  impl_->Refresh();
}

void TimelineWidget::setOutline(std::shared_ptr<const trace::Outline> outline) {
  impl_->model.SetOutline(std::move(outline));
  impl_->Refresh();
}

void TimelineWidget::setFailed(const QString& title, const QString& why, const QString& next) {
  impl_->model.SetStatus(title.isEmpty() ? Status::kNone : Status::kFailed, title.toStdString(),
                         why.toStdString(), next.toStdString(), -1);
  impl_->Refresh();
}

std::shared_ptr<const TimelineData> TimelineWidget::data() const {
  return impl_->model.state().data;
}

trace::AllocationId TimelineWidget::selection() const { return impl_->model.state().selection; }

uint32_t TimelineWidget::selectedActivity() const { return impl_->model.state().selected_activity; }

std::optional<query::Thing> TimelineWidget::selectedThing() const {
  const CanvasState& s = impl_->model.state();
  return s.data && s.data->shared_trace() == impl_->trace ? SelectedThing(s) : std::nullopt;
}

Chosen TimelineWidget::lastChosen() const {
  const CanvasState& s = impl_->model.state();
  return s.data && s.data->shared_trace() == impl_->trace ? impl_->model.LastChosen()
                                                          : Chosen::kNothing;
}

ActivityFacts TimelineWidget::activityFacts() const {
  return FactsOfSelection(impl_->model.state());
}

std::vector<LinkedFact> TimelineWidget::kernelsOf(trace::AllocationId id) const {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace || !id.valid() ||
      id.value >= s.data->trace().allocations.size())
    return {};
  return KernelsOf(*s.data, id);
}

qint64 TimelineWidget::cursorTime() const {
  const CanvasState& s = impl_->model.state();
  return s.data && s.cursor ? s.data->ToTrace(*s.cursor) : -1;
}

std::pair<qint64, qint64> TimelineWidget::range() const {
  const CanvasState& s = impl_->model.state();
  if (!s.data || !s.range) return {0, 0};
  return {s.data->ToTrace(s.range->begin), s.data->ToTrace(s.range->end)};
}

QString TimelineWidget::laneSettings() const {
  return QString::fromStdString(impl_->model.lane_settings().ToText());
}

void TimelineWidget::setLaneSettings(const QString& text) {
  impl_->model.SetLaneSettings(LaneSettings::FromText(text.toStdString()));
  impl_->Refresh();
}

TimelineWidget::Position TimelineWidget::position() const {
  if (impl_->pending_position) return *impl_->pending_position;
  const CanvasState& s = impl_->model.state();
  Position p;
  if (!s.data) return p;
  if (!s.viewport.shows_all()) {
    p.begin_ns = s.data->ToTrace(s.viewport.view().begin);
    p.end_ns = s.data->ToTrace(s.viewport.view().end);
  }
  p.cursor_ns = cursorTime();
  std::tie(p.range_begin_ns, p.range_end_ns) = range();
  p.selection = s.selection;
  return p;
}

void TimelineWidget::setPosition(const Position& position) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) {
    impl_->pending_position = position;
    return;
  }
  impl_->GoTo(position);
  impl_->Refresh();
}

ImageOptions TimelineWidget::imageOptions() const {
  const CanvasState& s = impl_->model.state();
  ImageOptions options;
  options.width = std::clamp(width(), kMinImageSide, kMaxImageSide);
  options.height = std::clamp(height(), kMinImageSide, kMaxImageSide);
  options.dark = s.theme.dark;
  options.view = s.viewport.view();
  return options;
}

bool TimelineWidget::canUndoView() const { return impl_->model.CanUndo(); }
bool TimelineWidget::canRedoView() const { return impl_->model.CanRedo(); }

QJsonObject TimelineWidget::dumpState() const {
  const GlView* gl = impl_->gl_view;
  QJsonObject o = DumpState(impl_->model.state(), gl ? gl->counts() : impl_->raster.counts());
  o["renderer"] = gl ? "gl" : "raster";
  o["building"] = impl_->builder.busy();
  const RasterCanvas& raster = impl_->raster;
  o["frames"] = QJsonObject{{"all", qint64(gl ? gl->frames() : raster.frames())},
                            {"data", qint64(gl ? gl->data_frames() : raster.data_frames())},
                            {"moved", qint64(gl ? 0 : raster.moved_frames())}};
  return o;
}

void TimelineWidget::settle() {
  do {  // Land() may start another build that was waiting
    impl_->builder.Wait();
    impl_->Land();
  } while (impl_->builder.busy());
  impl_->model.Animate(impl_->Now() + 1e6);
  impl_->exact = true;
  impl_->moved = false;
  impl_->Refresh();
}

bool TimelineWidget::ready() const {
  return !impl_->builder.busy() && !impl_->model.animating() && !impl_->moved;
}

QSize TimelineWidget::sizeHint() const { return {1000, 720}; }
// At the minimum size, the phases, the memory lane and the blocks lane fit.
QSize TimelineWidget::minimumSizeHint() const { return {320, 280}; }

void TimelineWidget::zoomToFit() {
  impl_->model.Fit(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::zoomIn() {
  impl_->model.ZoomBy(1.5, impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::zoomOut() {
  impl_->model.ZoomBy(1 / 1.5, impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::zoomToSelection() {
  impl_->model.ZoomToSelection(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::undoView() {
  impl_->model.UndoView(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::redoView() {
  impl_->model.RedoView(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::select(trace::AllocationId id) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) {
    impl_->pending_selection = id;  // it is applied when the trace's data is built
    return;
  }
  impl_->model.Select(id);
  impl_->Refresh();
}

void TimelineWidget::selectActivity(uint32_t activity) {
  impl_->model.SelectActivity(activity);
  impl_->Refresh();
}

void TimelineWidget::follow(const Link& link) {
  impl_->model.FollowLink(link, impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::highlight(const std::vector<trace::AllocationId>& blocks) {
  const CanvasState& s = impl_->model.state();
  if (!s.data || s.data->shared_trace() != impl_->trace) return;
  impl_->model.Highlight(blocks);
  impl_->Refresh();
}

void TimelineWidget::mark(const std::shared_ptr<const Marking>& marking) {
  ReleaseLater(impl_->model.state().marking);
  impl_->model.Mark(marking);
  impl_->Refresh();
}

void TimelineWidget::setNotes(const std::shared_ptr<const NoteMarks>& notes) {
  impl_->model.SetNotes(notes);
  impl_->Refresh();
}

void TimelineWidget::hideCategories(const std::bitset<trace::kCategoryCount>& hidden) {
  impl_->model.HideCategories(hidden);
  impl_->Refresh();
}

void TimelineWidget::revealSelection() {
  impl_->model.RevealSelection(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::setCursorTime(qint64 time_ns) {
  const CanvasState& s = impl_->model.state();
  if (!s.data) return;
  impl_->model.SetCursor(time_ns < 0 ? std::nullopt
                                     : std::optional<double>(s.data->FromTrace(time_ns)));
  impl_->Refresh();
}

void TimelineWidget::setRange(qint64 begin_ns, qint64 end_ns) {
  const CanvasState& s = impl_->model.state();
  if (!s.data) return;
  impl_->model.SetRange(begin_ns >= end_ns ? std::nullopt
                                           : std::optional<Span>(Span{s.data->FromTrace(begin_ns),
                                                                      s.data->FromTrace(end_ns)}));
  impl_->Refresh();
}

void TimelineWidget::jumpToPeak() {
  impl_->model.JumpToPeak(impl_->Now());
  impl_->Refresh();
}

void TimelineWidget::clearSelection() { select({}); }

void TimelineWidget::showAllLanes() {
  impl_->model.ChangeLane(LaneAction::kShowAll, {});
  impl_->Refresh();
}

void TimelineWidget::resetLanes() {
  impl_->model.ChangeLane(LaneAction::kReset, {});
  impl_->Refresh();
}

}  // namespace vramscope::ui::timeline
