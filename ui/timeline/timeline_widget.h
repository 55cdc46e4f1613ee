// The timeline canvas: one time axis, lanes from the overview down to the ops, and a selection.
//
//   auto* timeline = new timeline::TimelineWidget(this);
//   timeline->setTheme(timeline::Theme::Dark());
//   timeline->setDeviceLimit(device.memory_bytes);
//   timeline->setTrace(trace, /*animate=*/true);   // for example after a toggle
//   timeline->setBaselineTrace(old_trace);         // the run before the toggle
//   connect(timeline, &TimelineWidget::selectionChanged, panel, ...);
//
// UI thread only. A pool thread builds the indexes of large traces, and the old trace stays visible
// until they are ready. Nothing is drawn while nothing changes. The renderer is chosen once,
// depending on the available OpenGL. $VRAMSCOPE_RENDERER=raster|gl overrides the choice.
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

  // Sets the run to show. Null: shows the empty state. If `animate`, the curves change gradually
  // (unless setAnimations(false) was called). If the new run fits into the view, the view stays.
  // The selection stays on the allocation with the same (module, op, occurrence). `curves`: the
  // trace's curves, if they already exist, so that they are in memory only once. `whole`: the trace
  // of all devices, if `trace` has only one of several devices. The memory of all of them is shown.
  using Curves = std::shared_ptr<const analysis::MemoryCurves>;
  void setTrace(std::shared_ptr<const trace::Trace> trace, bool animate = false,
                const Curves& curves = {}, const std::shared_ptr<const trace::Trace>& whole = {});
  std::shared_ptr<const trace::Trace> trace() const;
  // Draws pending changes immediately. It is for a caller that will soon block the UI thread.
  void showNow();
  // Passes data that was built elsewhere, so that a later setTrace() need not build it.
  void prepare(std::shared_ptr<const TimelineData> data);
  // A pool thread builds the data of a trace with more events than this.
  static constexpr uint32_t kBuildInBackground = 200'000;
  // Sets the baseline, which is drawn as an outline, with the difference in a lane below. Null:
  // removes the baseline.
  void setBaselineTrace(std::shared_ptr<const trace::Trace> baseline,
                        const QString& label = QString(), const Curves& curves = {});
  void setTheme(const Theme& theme);
  // Call it after the language has changed. Builds everything again that is drawn.
  void retranslate();
  // Sets the GPU's memory in bytes, for the limit line and its label. 0: unknown.
  void setDeviceLimit(quint64 bytes);
  void setAnimations(bool on);
  // If the raster renderer takes longer than `ms` for an image, it moves the last image before it
  // draws a new image. The default is 8 ms.
  void setFrameBudget(double ms);

  // Sets the text that is shown while there is no trace. The lines of `hint` state what to do next.
  void setEmptyText(const QString& title, const QString& hint);
  // Shows progress: as a bar if there is no trace, or else as a thin line at the top. A negative
  // fraction means that the progress is unknown. An empty text ends this display.
  void setLoading(const QString& text, double fraction = -1);
  // Shows the outline from a file's index while the file is being read. The outline stays until
  // this function is called with null, or until a trace is set.
  void setOutline(std::shared_ptr<const trace::Outline> outline);
  // Shows what failed, why, and what to do next. Covers the canvas only if there is no trace. An
  // empty title removes the message.
  void setFailed(const QString& title, const QString& why, const QString& next = QString());

  // Returns the data of the displayed trace, or null if no trace is displayed yet.
  std::shared_ptr<const TimelineData> data() const;
  trace::AllocationId selection() const;
  uint32_t selectedActivity() const;  // row of Trace::activities; UINT32_MAX: none
  // Returns the selected activity or allocation. nullopt: there is no selection.
  std::optional<query::Thing> selectedThing() const;
  // Returns what the user has set last, a thing, a range or the cursor, and has not removed since.
  Chosen lastChosen() const;
  // Makes the context menu of the thing to which a table row's link leads. The caller owns the
  // menu. Returns null if the link does not lead to a thing of the displayed trace.
  QMenu* linkMenu(const Link& link, QWidget* parent);
  // Returns facts about the selected kernel, call, module or gap. If none of these is selected, the
  // title is empty.
  ActivityFacts activityFacts() const;
  // Returns the ops and kernels that are related to an allocation.
  std::vector<LinkedFact> kernelsOf(trace::AllocationId id) const;
  // The time of the cursor, which a click sets, and which the panels describe. -1: there is no
  // cursor, and the panels describe the peak.
  qint64 cursorTime() const;
  // Returns begin and end of the selected range, or 0 and 0 if no range is selected.
  std::pair<qint64, qint64> range() const;
  // A text for the settings file that contains the order and heights of lanes, and which lanes are
  // folded, pinned or hidden. It is empty if all lanes have the defaults.
  QString laneSettings() const;
  void setLaneSettings(const QString& text);
  // The view (begin >= end: the whole trace), the cursor (< 0: none), the range (0, 0: none) and
  // the selected allocation. If the trace's data is still being built, a position is applied when
  // the data is ready, without an animation. Parts outside of the trace are ignored.
  struct Position {
    qint64 begin_ns = 0, end_ns = 0, cursor_ns = -1, range_begin_ns = 0, range_end_ns = 0;
    trace::AllocationId selection = {};
  };
  Position position() const;
  void setPosition(const Position& position);
  // Returns the canvas's size, theme and time range, for DrawImage() (picture.h).
  ImageOptions imageOptions() const;
  bool canUndoView() const;
  bool canRedoView() const;
  // Returns a description of what is drawn, for tests and --dump-state: viewport, lanes, counts,
  // selection, hover, peak and number of frames.
  QJsonObject dumpState() const;
  // Completes all builds and animations, and then draws, for --screenshot.
  void settle();
  bool ready() const;  // whether nothing is being built or animated

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 public Q_SLOTS:
  void zoomToFit();
  void zoomIn();
  void zoomOut();
  void zoomToSelection();
  void undoView();
  void redoView();
  void select(trace::AllocationId id);     // an invalid id clears the selection
  void selectActivity(uint32_t activity);  // a row of Trace::activities
  void follow(const vramscope::ui::timeline::Link& link);
  // Draws all blocks except `blocks` faint until another thing is selected, for example to show the
  // blocks of a call site.
  void highlight(const std::vector<vramscope::trace::AllocationId>& blocks);
  // Marks things, such as the matches of a search. Null: marks nothing. Ignores a marking of
  // another trace.
  void mark(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);
  // Sets the notes that the ruler shows. Null: none. Ignores notes of another trace. If a new trace
  // is set, its predecessor's notes are removed.
  void setNotes(const std::shared_ptr<const vramscope::ui::timeline::NoteMarks>& notes);
  void hideCategories(const std::bitset<trace::kCategoryCount>& hidden);
  // Unfolds the lane of the selection, and pans and zooms out until the selection is in view.
  void revealSelection();
  void setCursorTime(qint64 time_ns);             // < 0: removes the cursor
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: removes the range
  void jumpToPeak();
  void clearSelection();
  void showAllLanes();  // shows all hidden lanes again
  void resetLanes();    // undoes folding, pinning, hiding, moving and resizing

 Q_SIGNALS:
  // Emitted when the user moves the cursor (by a click, a drag on the ruler, or P) or removes it
  // (-1).
  void cursorMoved(qint64 time_ns);
  void hoverMoved(qint64 time_ns);                // time under the mouse; -1: the mouse has left
  void selectionChanged(trace::AllocationId id);  // also for an activity: see activityFacts()
  void rangeSelected(qint64 begin_ns, qint64 end_ns);  // 0, 0: the range was removed
  void viewChanged(qint64 begin_ns, qint64 end_ns);
  void lanesChanged();  // laneSettings() has changed
  void dataShown();     // data() has changed
  // Emitted when the context menu's command is chosen. The note is about `thing` or, if that is
  // nullopt, about the time.
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
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  QMenu* MenuOf(const query::Thing& thing, const Lane* lane, QWidget* parent);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui::timeline

Q_DECLARE_METATYPE(vramscope::trace::AllocationId)
