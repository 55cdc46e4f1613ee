// What the explain pages have in common: the moment and range that they speak of, a line of head
// with progress and cancel, and that nothing is computed before a page is looked at.
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

// What all pages speak of. The window changes it; the pages read it.
struct ExplainContext {
  std::shared_ptr<const Digest> digest;   // null: nothing is shown
  std::shared_ptr<const Digest> against;  // to compare with: the baseline, else the run before
  bool against_pinned = false;            // it is the baseline
  bool opening = false;                   // what is shown is not there in whole yet
  qint64 cursor_ns = -1;                  // < 0: none; the pages then speak of the peak
  std::pair<qint64, qint64> range{0, 0};  // selected; begin >= end: none
  std::pair<qint64, qint64> view{0, 0};   // of the timeline
  trace::AllocationId selection;
  timeline::Theme theme = timeline::Theme::Dark();

  const trace::Trace* trace() const { return digest ? digest->trace.get() : nullptr; }
  bool has_range() const { return range.first < range.second; }
  // At the cursor, unless a range is selected that it is not in; then at the peak of the range,
  // else at the peak of all. Of a state: its only one.
  trace::EventIndex moment() const;
  enum class Moment { kCursor, kRange, kPeak, kState };
  Moment moment_of() const;
};

class ExplainPage : public QWidget {
  Q_OBJECT
 public:
  enum Change {
    kDocument = 1,
    kMoment = 2,
    kRange = 4,
    kView = 8,
    kTheme = 16,
    kSelection = 32,
    kAgainst = 64
  };

  ExplainPage(const ExplainContext* context, QWidget* parent = nullptr);
  // Of the context. Remembered until the page is looked at.
  void changed(int changes);
  bool busy() const { return jobs_.busy(); }
  void cancel();
  virtual QJsonObject dumpState() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  // What a call site holds, say; `id` is the one to begin with.
  void blocksClicked(const std::vector<vramscope::trace::AllocationId>& blocks,
                     vramscope::trace::AllocationId id);
  void actionRequested(const QString& id);  // of the window's actions
  void cursorRequested(qint64 time_ns);     // < 0: to the peak
  void confRequested(const QString& alloc_conf);

 protected:
  virtual int cares() const = 0;          // for which changes Refresh is to be called
  virtual void Refresh(int changes) = 0;  // the page is in sight
  virtual void Clear() = 0;               // there is no document
  // Whether a document without events is as good as none.
  virtual bool wantsEvents() const { return true; }
  virtual void Cancelled() {}  // by the user
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void AddTable(QWidget* table);  // takes the rest of the page, its text in line with the head
  // A page that cares for no range says so itself while one is selected.
  void Head(const QString& text);
  QString head() const;

  // What the page shows, computed beside the UI thread: the newest alone. The question returns the
  // call that shows its answer; empty: nothing is shown. Where memory runs out the page says so.
  using Answer = std::function<void()>;
  void Ask(std::function<Answer(const JobToken&)> question);

  const ExplainContext& context_;
  Jobs jobs_;
  QVBoxLayout* column_ = nullptr;
  QHBoxLayout* head_line_ = nullptr;  // pages put their own controls at its end
  bool show_progress_ = true;

 private:
  void Look();
  void ShowBusy();
  void ShowHead();
  void FitHead();  // what it says beside its controls, or above them where that is too narrow
  QBoxLayout* head_row_ = nullptr;
  QLabel* head_ = nullptr;
  QString said_;
  QProgressBar* progress_ = nullptr;
  QToolButton* cancel_ = nullptr;
  int stale_ = kDocument;
};

}  // namespace vramscope::ui
