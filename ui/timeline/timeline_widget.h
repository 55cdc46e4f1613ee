// The timeline canvas: one time axis, lanes from the overview down to the ops, and a selection.
//
//   auto* timeline = new timeline::TimelineWidget(this);
//   timeline->setTheme(timeline::Theme::Dark());
//   timeline->setDeviceLimit(device.memory_bytes);
//   timeline->setTrace(trace, /*animate=*/true);   // for example after a toggle
//   timeline->setBaselineTrace(old_trace);         // the run before the toggle
//   connect(timeline, &TimelineWidget::selectionChanged, panel, ...);
//
// UI thread only. Indexes of large traces are built on a pool thread; meanwhile the old trace stays
// visible. Nothing is drawn while nothing changes. The renderer is chosen once, by what OpenGL is
// available; $VRAMSCOPE_RENDERER=raster|gl overrides the choice.
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
#include "ui/timeline/model/chosen.h"
#include "ui/timeline/theme.h"

class QMenu;

namespace vramscope::ui::timeline {

class Lane;
class TimelineData;
struct Marking;
struct NoteMarks;
struct ImageOptions;

class TimelineWidget : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineWidget(QWidget* parent = nullptr);
  ~TimelineWidget() override;

  // Sets the run to show; null: the empty state. `animate`: the curves morph from their current
  // shape (setAnimations(false) disables this). The view stays unless the new run does not fit into
  // it; the selection stays on the same (module, op, occurrence). `curves`: the trace's curves, if
  // they exist already, so that they are in memory only once. `whole`: the trace of all devices, if
  // `trace` has only one of them; all are shown.
  using Curves = std::shared_ptr<const analysis::MemoryCurves>;
  void setTrace(std::shared_ptr<const trace::Trace> trace, bool animate = false,
                const Curves& curves = {}, const std::shared_ptr<const trace::Trace>& whole = {});
  std::shared_ptr<const trace::Trace> trace() const;
  // Draws pending changes at once, for callers that block the UI thread afterwards.
  void showNow();
  // Provides indexes that were built elsewhere for a later setTrace(), which then builds none.
  void prepare(std::shared_ptr<const TimelineData> data);
  // For a trace with more events, the data is built on a pool thread.
  static constexpr uint32_t kBuildInBackground = 200'000;
  // The baseline, drawn as an outline with the difference below it; null: none.
  void setBaselineTrace(std::shared_ptr<const trace::Trace> baseline,
                        const QString& label = QString(), const Curves& curves = {});
  void setTheme(const Theme& theme);
  // Call after a change of the language. Builds everything that is drawn again.
  void retranslate();
  // The GPU's memory in bytes, for the limit line and its label; 0: unknown.
  void setDeviceLimit(quint64 bytes);
  void setAnimations(bool on);
  // If the raster renderer needs longer than `ms` for an image, it moves the last image before it
  // draws a new one. Default: 8 ms.
  void setFrameBudget(double ms);

  // The text shown while there is no trace. `hint`: what to do next, one line each.
  void setEmptyText(const QString& title, const QString& hint);
  // Shows progress: as a bar while there is no trace, otherwise as a thin line at the top. fraction
  // < 0: unknown. An empty text removes the progress.
  void setLoading(const QString& text, double fraction = -1);
  // Shows the outline from a file's index while the file is read: until `outline` is set to null or
  // a trace is set.
  void setOutline(std::shared_ptr<const trace::Outline> outline);
  // Shows what failed, why, and what to do next. Covers the canvas only while there is no trace. An
  // empty title removes the message.
  void setFailed(const QString& title, const QString& why, const QString& next = QString());

  // The data of the displayed trace; null: none is displayed yet.
  std::shared_ptr<const TimelineData> data() const;
  trace::AllocationId selection() const;
  uint32_t selectedActivity() const;  // row of Trace::activities; UINT32_MAX: none
  std::optional<query::Thing> selectedThing()
      const;  // an activity or an allocation; nullopt: no selection
  // What the user selected, drew or placed last, and has not removed.
  Chosen lastChosen() const;
  // The context menu of the thing that a link leads to, for a row of a table. The caller owns it.
  // Null: the link leads to no thing of the displayed trace.
  QMenu* linkMenu(const Link& link, QWidget* parent);
  // Facts about the selected kernel, call, gap, module, phase, ...; an empty title: none is
  // selected.
  ActivityFacts activityFacts() const;
  // For an allocation: the ops and kernels related to it.
  std::vector<LinkedFact> kernelsOf(trace::AllocationId id) const;
  // The time that the panels describe: set by a click; -1: none (the panels then describe the
  // peak).
  qint64 cursorTime() const;
  // Begin and end of the selected range; 0, 0: none.
  std::pair<qint64, qint64> range() const;
  // Which lanes are folded, pinned or hidden, their order and heights, for the settings file;
  // empty: the defaults.
  QString laneSettings() const;
  void setLaneSettings(const QString& text);
  // The view (begin >= end: all), the cursor (< 0: none), the range (0, 0: none) and the selected
  // allocation. While the trace's data is still being built, a position is stored; it is applied,
  // without an animation, when the data is ready. Parts outside of the trace are ignored.
  struct Position {
    qint64 begin_ns = 0, end_ns = 0, cursor_ns = -1, range_begin_ns = 0, range_end_ns = 0;
    trace::AllocationId selection = {};
  };
  Position position() const;
  void setPosition(const Position& position);
  // Size, theme and time range of the canvas, for picture.h.
  ImageOptions imageOptions() const;
  bool canUndoView() const;
  bool canRedoView() const;
  // The drawn state for tests and --dump-state: viewport, lanes, counts, selection, hover, peak,
  // number of frames.
  QJsonObject dumpState() const;
  // Completes pending builds and animations and draws at once, for --screenshot.
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
  // Draws all other blocks faint until another thing is selected, for example to show the blocks of
  // a call site.
  void highlight(const std::vector<vramscope::trace::AllocationId>& blocks);
  // Marks things, for example those that a search found; null: none. Ignored if made for another
  // trace.
  void mark(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);
  // Flags on the ruler; null: none. Ignored if made for another trace; a new trace removes them.
  void setNotes(const std::shared_ptr<const vramscope::ui::timeline::NoteMarks>& notes);
  void hideCategories(const std::bitset<trace::kCategoryCount>& hidden);
  // Unfolds the lane of the selection and pans (and zooms out) until the selection is in the view.
  void revealSelection();
  void setCursorTime(qint64 time_ns);             // < 0: none
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none
  void jumpToPeak();
  void clearSelection();
  void showAllLanes();  // shows hidden lanes again
  void resetLanes();    // undoes folding, pinning, hiding, moving and resizing

 Q_SIGNALS:
  // The user moved the cursor by a click, a drag on the ruler or P; -1: removed it.
  void cursorMoved(qint64 time_ns);
  void hoverMoved(qint64 time_ns);                // time under the mouse; -1: the mouse has left
  void selectionChanged(trace::AllocationId id);  // also for an activity: activityFacts()
  void rangeSelected(qint64 begin_ns, qint64 end_ns);  // 0, 0: removed
  void viewChanged(qint64 begin_ns, qint64 end_ns);
  void lanesChanged();  // laneSettings() has changed
  void dataShown();     // data() has changed
  // From the context menu. The note is about `thing`, or, if that is empty, about the time.
  void noteRequested(qint64 time_ns, const std::optional<vramscope::query::Thing>& thing);
  void searchRequested(const QString& filter);  // finds similar things (profiler/query/filter.h)

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
  QMenu* MenuOf(const query::Thing& thing, const Lane* lane, QWidget* parent);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui::timeline

Q_DECLARE_METATYPE(vramscope::trace::AllocationId)
