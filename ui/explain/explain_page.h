// The base class of all explain pages. It provides the cursor and range, and a head line with
// progress and a cancel button. While a page is hidden, the base class lets it compute nothing.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <utility>
#include <vector>

#include "ui/jobs/jobs.h"
#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

class QBoxLayout;
class QHBoxLayout;
class QLabel;
class QProgressBar;
class QToolButton;
class QVBoxLayout;

namespace vramscope::ui {

// The state that all pages share. The window changes it, and the pages only read it.
struct ExplainContext {
  std::shared_ptr<const Digest> digest;  // null: no document
  // The trace to compare with: the baseline, or else the previous run.
  std::shared_ptr<const Digest> against;
  bool against_pinned = false;            // `against` is the baseline
  bool opening = false;                   // the document is still loading
  qint64 cursor_ns = -1;                  // < 0: no cursor; pages then show the peak
  std::pair<qint64, qint64> range{0, 0};  // selected range; begin >= end: none
  std::pair<qint64, qint64> view{0, 0};   // visible part of the timeline
  trace::AllocationId selection;
  timeline::Theme theme = timeline::Theme::Dark();

  const trace::Trace* trace() const { return digest ? digest->trace.get() : nullptr; }
  bool has_range() const { return range.first < range.second; }
  // Returns the event that pages describe: the event at the cursor. If there is no cursor, or if
  // the cursor is outside of the selected range, returns the peak of the range or of the whole
  // trace.
  trace::EventIndex shownEvent() const;
  enum class TimeSource { kCursor, kRange, kPeak, kState };
  TimeSource time_source() const;
};

class ExplainPage : public QWidget {
  Q_OBJECT
 public:
  enum Change {
    kDocument = 1,
    kTimeChanged = 2,
    kRange = 4,
    kView = 8,
    kTheme = 16,
    kSelection = 32,
    kAgainst = 64
  };

  ExplainPage(const ExplainContext* context, QWidget* parent = nullptr);
  // Call it when the context has changed. A hidden page handles the changes when it is shown.
  void changed(int changes);
  bool busy() const { return jobs_.busy(); }
  void cancel();
  virtual QJsonObject dumpState() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  // `blocks`: the blocks to highlight, for example all blocks of a call site. `id`: the block to
  // select.
  void blocksClicked(const std::vector<vramscope::trace::AllocationId>& blocks,
                     vramscope::trace::AllocationId id);
  void actionRequested(const QString& id);  // id of an action of the window
  void cursorRequested(qint64 time_ns);     // < 0: go to the peak
  void confRequested(const QString& alloc_conf);

 protected:
  virtual int cares() const = 0;          // the changes for which Refresh() is called
  virtual void Refresh(int changes) = 0;  // called while the page is visible
  virtual void Clear() = 0;               // called when there is no document
  // Whether the page needs events. If true, it stays empty for a document without events.
  virtual bool wantsEvents() const { return true; }
  virtual void Cancelled() {}  // the user pressed the cancel button
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  // Fills the rest of the page with `table`, and aligns its text with the head line.
  void AddTable(QWidget* table);
  // Sets the head line. If a range is selected, but the page covers the whole trace, the line also
  // states that.
  void Head(const QString& text);
  QString head() const;

  // Cancels the previous question, then runs `question` on a pool thread. `question` computes the
  // contents and returns a function that shows them, or an empty function if there is nothing to
  // show. If memory runs out, the page shows an error.
  using Answer = std::function<void()>;
  void Ask(std::function<Answer(const JobToken&)> question);

  const ExplainContext& context_;
  Jobs jobs_;
  QVBoxLayout* column_ = nullptr;
  QHBoxLayout* head_line_ = nullptr;  // pages add their own controls at its end
  bool show_progress_ = true;

 private:
  void UpdateStale();
  void ShowBusy();
  void ShowHead();
  void FitHead();  // places the head above the controls if they do not fit next to each other
  QBoxLayout* head_row_ = nullptr;
  QLabel* head_ = nullptr;
  QString said_;
  QProgressBar* progress_ = nullptr;
  QToolButton* cancel_ = nullptr;
  int stale_ = kDocument;
};

}  // namespace vramscope::ui
