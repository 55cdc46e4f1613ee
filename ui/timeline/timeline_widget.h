// The timeline canvas: one time axis, lanes from the overview down to the ops, one selection.
//
//   auto* timeline = new timeline::TimelineWidget(this);
//   timeline->setTheme(timeline::Theme::Dark());
//   timeline->setDeviceLimit(device.memory_bytes);
//   timeline->setTrace(trace, /*animate=*/true);   // a toggle; the old one: setGhost(previous)
//   connect(timeline, &TimelineWidget::selectionChanged, panel, ...);
//
// UI thread only. Indexes of large traces are built on a pool thread; the old picture stays until
// they are there. Nothing is drawn while nothing changes. The renderer is chosen once, by what
// OpenGL the computer has; $VRAMSCOPE_RENDERER=raster|gl overrides.
#pragma once

#include <QJsonObject>
#include <QString>
#include <QWidget>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/query/things.h"
#include "profiler/trace/outline.h"
#include "profiler/trace/trace.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui::timeline {

class TimelineData;
struct Marking;
struct NoteMarks;
struct PictureOptions;

class TimelineWidget : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineWidget(QWidget* parent = nullptr);
  ~TimelineWidget() override;

  // The run that is shown; null: the empty state. `animate`: the curves morph from what is drawn
  // now (setAnimations(false) switches that off). The view stays where it is unless the new run
  // does not fit into it; the selection stays on the same (module, op, occurrence).
  // `curves`: of the trace, where they are known already; large ones are then there once. `whole`:
  // of several devices, of which this is one; the others are shown beside it.
  using Curves = std::shared_ptr<const analysis::MemoryCurves>;
  void setTrace(std::shared_ptr<const trace::Trace> trace, bool animate = false,
                const Curves& curves = {}, const std::shared_ptr<const trace::Trace>& whole = {});
  std::shared_ptr<const trace::Trace> trace() const;
  // Draws what was set before it returns, for who has much to do after that.
  void showNow();
  // Indexes that were built elsewhere, for a setTrace() to come: it then has nothing to build.
  void prepare(std::shared_ptr<const TimelineData> data);
  // Above this many events setTrace() builds them on a pool thread.
  static constexpr uint32_t kBuildInBackground = 200'000;
  // The run to compare with, drawn as an outline with the difference under it; null: none.
  void setGhost(std::shared_ptr<const trace::Trace> ghost, const QString& label = QString(),
                const Curves& curves = {});
  void setTheme(const Theme& theme);
  // Memory of the card, of which the lines and labels speak; 0: unknown.
  // After the language has changed: what is drawn is built again.
  void retranslate();
  void setDeviceLimit(quint64 bytes);
  void setAnimations(bool on);
  // Pictures that take longer (raster) are moved with the view before they are made anew; 8 ms.
  void setFrameBudget(double ms);

  // What the canvas says while there is no trace. `hint`: what to do next, one line each.
  void setEmptyText(const QString& title, const QString& hint);
  // Shown as a bar while there is no trace and as a thin line at the top when there is one.
  // fraction < 0: unknown. An empty text ends it.
  void setLoading(const QString& text, double fraction = -1);
  // What a file's index tells while the file is read: in its place until null, or until a trace is
  // set.
  void setOutline(std::shared_ptr<const trace::Outline> outline);
  // What failed, why, what to do. Covers the canvas only when there is no trace. Empty title: ends.
  void setFailed(const QString& title, const QString& why, const QString& next = QString());

  // What the canvas knows of the trace that it shows; null: nothing is shown yet.
  std::shared_ptr<const TimelineData> data() const;
  trace::AllocationId selection() const;
  uint32_t selectedActivity() const;                  // row of Trace::activities; UINT32_MAX: none
  std::optional<query::Thing> selectedThing() const;  // of either; nullopt: none is selected
  // What is said of the selected kernel, call, gap, module, phase ...; without a title:
  // none is selected.
  ActivityFacts activityFacts() const;
  // Of an allocation: the ops and kernels that it has to do with.
  std::vector<LinkedFact> kernelsOf(trace::AllocationId id) const;
  // Time under which the panels answer: placed by a click, -1 when there is none (the panels then
  // speak of the peak).
  qint64 cursorTime() const;
  // begin, end of the selected range; 0, 0: none.
  std::pair<qint64, qint64> range() const;
  // How the lanes are folded, pinned, hidden, ordered and how high they are, for settings; empty:
  // as they come.
  QString laneSettings() const;
  void setLaneSettings(const QString& text);
  // Where one looks: the view (begin >= end: all), the cursor (< 0: none), the range (0, 0: none),
  // the selected allocation. Set while the trace is still being built, it is gone to when it is
  // there, without an animation; what lies outside of the trace is left out.
  struct Position {
    qint64 begin_ns = 0, end_ns = 0, cursor_ns = -1, range_begin_ns = 0, range_end_ns = 0;
    trace::AllocationId selection = {};
  };
  Position position() const;
  void setPosition(const Position& position);
  // What is seen, for picture.h: size, theme and part of the time.
  PictureOptions pictureOptions() const;
  bool canUndoView() const;
  bool canRedoView() const;
  // What is drawn, for tests and --dump-state: viewport, lanes, counts, selection, hover, peak,
  // frames drawn.
  QJsonObject dumpState() const;
  // Draws everything that is pending, at once (indexes, animations): for --screenshot.
  void settle();
  bool ready() const;  // nothing is being built or animated

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 public Q_SLOTS:
  void zoomToFit();
  void zoomIn();
  void zoomOut();
  void zoomToSelection();
  void undoView();
  void redoView();
  void select(trace::AllocationId id);     // an invalid id clears it
  void selectActivity(uint32_t activity);  // a row of Trace::activities
  void follow(const vramscope::ui::timeline::Link& link);
  // The blocks of one call site, say: the others are faint, until another is selected.
  void highlight(const std::vector<vramscope::trace::AllocationId>& blocks);
  // What a search has found, say; null: nothing. Dropped where it is of another trace.
  void mark(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);
  // Flags on the ruler; null: none. Dropped where they are of another trace, and with the trace.
  void setNotes(const std::shared_ptr<const vramscope::ui::timeline::NoteMarks>& notes);
  void hideCategories(const std::bitset<trace::kCategoryCount>& hidden);
  // Unfolds its lane, pans (and zooms out) so that the selection is in the view.
  void revealSelection();
  void setCursorTime(qint64 time_ns);             // < 0: none
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none
  void jumpToPeak();
  void clearSelection();
  void showAllLanes();  // that are hidden
  void resetLanes();    // folded, pinned, hidden, moved, resized: none

 Q_SIGNALS:
  void cursorMoved(qint64 time_ns);  // placed by a click, a drag on the ruler or P; -1: taken away
  void hoverMoved(qint64 time_ns);   // under the mouse; -1: it left
  void selectionChanged(trace::AllocationId id);       // or of an activity: activityFacts()
  void rangeSelected(qint64 begin_ns, qint64 end_ns);  // 0, 0: taken away
  void viewChanged(qint64 begin_ns, qint64 end_ns);
  void lanesChanged();  // laneSettings() is another
  void dataShown();     // data() is another
  // From the menu, of a thing or of a moment.
  void noteRequested(qint64 time_ns, const std::optional<vramscope::query::Thing>& thing);
  void searchRequested(const QString& filter);  // the like of a thing (profiler/query/filter.h)

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui::timeline

Q_DECLARE_METATYPE(vramscope::trace::AllocationId)
