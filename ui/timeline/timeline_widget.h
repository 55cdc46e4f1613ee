// The timeline canvas: one time axis, lanes from the overview down to the ops, and a selection.
//
//   auto* timeline = new timeline::TimelineWidget(this);
//   timeline->setTheme(timeline::Theme::Dark());
//   timeline->setDeviceLimit(device.memory_bytes);
//   timeline->setTrace(trace, /*animate=*/true);   // for example after a toggle
//   timeline->setBaselineTrace(old_trace);         // the run before the toggle
//   connect(timeline, &TimelineWidget::selectionChanged, panel, ...);
//
// UI thread only. A pool thread builds the indexes of large traces. The old trace stays visible
// until the indexes are ready. Nothing is drawn while nothing changes. The renderer is chosen once,
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

  // Sets the run to show, or shows the empty state if null. If `animate`, the curves change
  // gradually (unless setAnimations(false) was called). The view stays if the new run fits into it.
  // The selection stays on the same (module, op, occurrence). `curves` are the trace's curves if
  // they exist already, so that they are in memory only once. `whole` is the trace of all devices
  // if `trace` has one of several. All are shown.
  using Curves = std::shared_ptr<const analysis::MemoryCurves>;
  void setTrace(std::shared_ptr<const trace::Trace> trace, bool animate = false,
                const Curves& curves = {}, const std::shared_ptr<const trace::Trace>& whole = {});
  std::shared_ptr<const trace::Trace> trace() const;
  // Draws pending changes now, for a caller that is about to block the UI thread.
  void showNow();
  // Passes indexes that were built elsewhere, so that a later setTrace() does not build them.
  void prepare(std::shared_ptr<const TimelineData> data);
  // A pool thread builds the data of a trace with more events than this.
  static constexpr uint32_t kBuildInBackground = 200'000;
  // Sets the baseline, or removes it if null. It is drawn as an outline, with the difference below.
  void setBaselineTrace(std::shared_ptr<const trace::Trace> baseline,
                        const QString& label = QString(), const Curves& curves = {});
  void setTheme(const Theme& theme);
  // Call it after the language has changed. Builds everything that is drawn again.
  void retranslate();
  // Sets the GPU's memory in bytes (0 if unknown), for the limit line and its label.
  void setDeviceLimit(quint64 bytes);
  void setAnimations(bool on);
  // If the raster renderer takes longer than `ms` for an image, it moves the last image before it
  // draws a new one. The default is 8 ms.
  void setFrameBudget(double ms);

  // Sets the text to show while there is no trace. The lines of `hint` say what to do next.
  void setEmptyText(const QString& title, const QString& hint);
  // Shows progress as a bar if there is no trace, or else as a thin line at the top. A negative
  // fraction means unknown progress. An empty text removes the progress.
  void setLoading(const QString& text, double fraction = -1);
  // Shows the outline from a file's index while the file is being read. It stays until `outline` is
  // null or a trace is set.
  void setOutline(std::shared_ptr<const trace::Outline> outline);
  // Shows what failed, why, and what to do next. Covers the canvas only if there is no trace. An
  // empty title removes the message.
  void setFailed(const QString& title, const QString& why, const QString& next = QString());

  // Returns the data of the displayed trace, or null if no trace is displayed yet.
  std::shared_ptr<const TimelineData> data() const;
  trace::AllocationId selection() const;
  uint32_t selectedActivity() const;  // row of Trace::activities; UINT32_MAX: none
  std::optional<query::Thing> selectedThing()
      const;  // an activity or an allocation; nullopt: no selection
  // Returns the thing, range or cursor that the user set last and has not removed.
  Chosen lastChosen() const;
  // Makes the context menu of the thing to which a table row's link leads. The caller owns the
  // menu. Returns null if the link leads to no thing of the displayed trace.
  QMenu* linkMenu(const Link& link, QWidget* parent);
  // Returns facts about the selected kernel, call, gap, module, ... If none of these is selected,
  // the title is empty.
  ActivityFacts activityFacts() const;
  // Returns the ops and kernels that are related to an allocation.
  std::vector<LinkedFact> kernelsOf(trace::AllocationId id) const;
  // The time of the cursor, which a click sets and the panels describe. It is -1 if there is no
  // cursor. The panels then describe the peak.
  qint64 cursorTime() const;
  // Returns begin and end of the selected range, or 0 and 0 if no range is selected.
  std::pair<qint64, qint64> range() const;
  // The order and heights of lanes, and which lanes are folded, pinned or hidden, as a text for the
  // settings file. The text is empty for the defaults.
  QString laneSettings() const;
  void setLaneSettings(const QString& text);
  // The view (begin >= end: all), the cursor (< 0: none), the range (0, 0: none) and the selected
  // allocation. If the trace's data is still being built, a position is applied without an
  // animation when the data is ready. Parts outside of the trace are ignored.
  struct Position {
    qint64 begin_ns = 0, end_ns = 0, cursor_ns = -1, range_begin_ns = 0, range_end_ns = 0;
    trace::AllocationId selection = {};
  };
  Position position() const;
  void setPosition(const Position& position);
  // Returns the canvas's size, theme and time range, for picture.h.
  ImageOptions imageOptions() const;
  bool canUndoView() const;
  bool canRedoView() const;
  // Returns what is drawn, for tests and --dump-state: viewport, lanes, counts, selection, hover,
  // peak and number of frames.
  QJsonObject dumpState() const;
  // Completes all builds and animations, then draws, for --screenshot.
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
  // Draws all blocks except `blocks` faint until another thing is selected, for example to show the
  // blocks of a call site.
  void highlight(const std::vector<vramscope::trace::AllocationId>& blocks);
  // Marks things, such as the matches of a search, or marks nothing if null. Ignores a marking of
  // another trace.
  void mark(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);
  // Sets the ruler's notes, or null. Ignores notes of another trace. A new trace removes them.
  void setNotes(const std::shared_ptr<const vramscope::ui::timeline::NoteMarks>& notes);
  void hideCategories(const std::bitset<trace::kCategoryCount>& hidden);
  // Unfolds the lane of the selection, and pans and zooms out until the selection is in view.
  void revealSelection();
  void setCursorTime(qint64 time_ns);             // < 0: none
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none
  void jumpToPeak();
  void clearSelection();
  void showAllLanes();  // shows hidden lanes again
  void resetLanes();    // undoes folding, pinning, hiding, moving and resizing

 Q_SIGNALS:
  // Emitted when the user moves the cursor (click, drag on the ruler, P) or removes it (-1).
  void cursorMoved(qint64 time_ns);
  void hoverMoved(qint64 time_ns);                // time under the mouse; -1: the mouse has left
  void selectionChanged(trace::AllocationId id);  // also for an activity: activityFacts()
  void rangeSelected(qint64 begin_ns, qint64 end_ns);  // 0, 0: removed
  void viewChanged(qint64 begin_ns, qint64 end_ns);
  void lanesChanged();  // laneSettings() has changed
  void dataShown();     // data() has changed
  // Emitted by the context menu. The note is about `thing` or, if that is nullopt, about the time.
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
