#include "ui/explain/explain_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "profiler/analysis/analysis.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kCellPadding = 11;
constexpr int kHeadLeast = 300;  // about 40 letters
constexpr int kProgressWidth = 140, kProgressHeight = 6;

// The contents of a page. A QScrollArea gives its widget the height from heightForWidth(). A page
// needs only the minimum height of its contents. If the area is higher, the page's table gets the
// remaining height, and nothing scrolls.
class PageBody : public QWidget {
 public:
  int heightForWidth(int width) const override {
    return layout()->totalMinimumHeightForWidth(width);
  }
};

// Lets a page scroll if it is too low for its contents, so that its lines do not overlap.
QWidget* AddBody(QWidget* page) {
  auto* area = new QScrollArea;
  area->setObjectName(QStringLiteral("pageScroll"));
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidgetResizable(true);
  auto* body = new PageBody;
  area->setWidget(body);
  auto* whole = new QVBoxLayout(page);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(area);
  return body;
}

}  // namespace

ExplainContext::TimeSource ExplainContext::time_source() const {
  if (digest != nullptr && digest->state()) return TimeSource::kState;
  const bool inside = !has_range() || (cursor_ns >= range.first && cursor_ns <= range.second);
  if (cursor_ns >= 0 && inside) return TimeSource::kCursor;
  return has_range() ? TimeSource::kRange : TimeSource::kPeak;
}

trace::EventIndex ExplainContext::shownEvent() const {
  if (digest == nullptr) return 0;
  const analysis::MemoryCurves& c = *digest->curves;
  switch (time_source()) {
    case TimeSource::kCursor:
      return analysis::EventAtTime(*digest->trace, cursor_ns);
    case TimeSource::kRange: {
      const EventSpan span = SpanOf(*digest->trace, range.first, range.second);
      const auto at = [&](trace::EventIndex e) {
        return std::lower_bound(c.event.begin(), c.event.end(), e) - c.event.begin();
      };
      const auto from = at(span.first), to = at(span.last);
      if (from >= to) return span.last;
      const auto most = std::max_element(c.allocated.begin() + from, c.allocated.begin() + to);
      return c.event[static_cast<size_t>(most - c.allocated.begin())];
    }
    case TimeSource::kState:
      return std::max(digest->trace->events.size(), 1u) - 1;
    case TimeSource::kPeak:
      break;
  }
  return digest->summary.peak.context.event;
}

ExplainPage::ExplainPage(const ExplainContext* context, QWidget* parent)
    : QWidget(parent), context_(*context) {
  column_ = new QVBoxLayout(AddBody(this));
  column_->setContentsMargins(15, 7, 15, 4);
  column_->setSpacing(6);
  head_row_ = new QBoxLayout(QBoxLayout::LeftToRight);
  head_row_->setSpacing(10);
  head_line_ = new QHBoxLayout;
  head_line_->setSpacing(10);
  head_ = MakeLabel({}, LabelRole::kBody);
  head_->setObjectName(QStringLiteral("pageHead"));
  head_->setWordWrap(true);
  head_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  head_row_->addWidget(head_, 1);
  head_row_->addLayout(head_line_);
  progress_ = new QProgressBar;
  progress_->setFixedSize(kProgressWidth, kProgressHeight);
  progress_->setTextVisible(false);
  progress_->hide();
  head_line_->addWidget(progress_);
  cancel_ = new QToolButton;
  cancel_->setObjectName(QStringLiteral("cancelPage"));
  cancel_->setProperty("role", "quiet");
  cancel_->setText(tr("Cancel"));
  cancel_->setFont(PanelFont(timeline::Font::kSmall));
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, &ExplainPage::cancel);
  head_line_->addWidget(cancel_);
  column_->addLayout(head_row_);
  connect(&jobs_, &Jobs::changed, this, &ExplainPage::ShowBusy);
}

void ExplainPage::Ask(std::function<Answer(const JobToken&)> question) {
  jobs_.Ask(std::move(question), [this](const absl::StatusOr<Answer>& show) {
    if (!show.ok()) {
      Clear();
      Head(tr("The results could not be computed: %1.")
               .arg(ToQString(std::string(show.status().message()))));
    } else if (*show) {
      (*show)();
    }
  });
}

void ExplainPage::AddTable(QWidget* table) {
  auto* line = new QHBoxLayout;
  line->setContentsMargins(-kCellPadding, 0, -kCellPadding, 0);
  line->addWidget(table);
  column_->addLayout(line, 1);
}

void ExplainPage::Head(const QString& text) {
  said_ = text;
  ShowHead();
}

void ExplainPage::ShowHead() {
  const bool of_all = context_.has_range() && context_.digest != nullptr && !said_.isEmpty() &&
                      (cares() & (kRange | kTimeChanged)) == 0;
  head_->setText(
      of_all ? tr("%1 This page covers the whole recording, not the selected range.").arg(said_)
             : said_);
}

QString ExplainPage::head() const { return head_->text(); }

void ExplainPage::changed(int changes) {
  stale_ |= changes;
  if (changes & kRange) ShowHead();
  // The previous document's results are no longer needed. Cancel here, not in Refresh(), because a
  // hidden page does not refresh.
  if (changes & kDocument) jobs_.cancel();
  if (isVisible()) UpdateStale();
}

void ExplainPage::cancel() {
  if (!jobs_.busy()) return;
  jobs_.cancel();
  Cancelled();
}

void ExplainPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  UpdateStale();
}

void ExplainPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  FitHead();
}

void ExplainPage::FitHead() {
  const int beside = width() - head_line_->sizeHint().width();
  const bool narrow = beside < kHeadLeast && head_line_->sizeHint().width() > 0;
  head_row_->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  head_row_->setSpacing(narrow ? 4 : 10);
  head_row_->setAlignment(head_line_, narrow ? Qt::AlignLeft : Qt::Alignment());
}

void ExplainPage::UpdateStale() {
  const int changes = stale_ & (cares() | kDocument);
  stale_ = 0;
  if (changes == 0) return;
  if (context_.digest == nullptr || (wantsEvents() && context_.trace()->events.size() == 0)) {
    if (changes & kTheme) Refresh(kTheme);
    jobs_.cancel();
    Head(context_.opening ? tr("This page needs the whole file, which is still loading.")
         : context_.digest != nullptr
             ? tr("This trace contains no memory events. Plan or record the run again.")
             : tr("No run yet: plan one (Ctrl+R), or open a recording (Ctrl+O)."));
    Clear();
    return;
  }
  Refresh(changes);
}

void ExplainPage::ShowBusy() {
  const bool busy = jobs_.busy() && show_progress_;
  const double fraction = jobs_.fraction();
  progress_->setVisible(busy);
  cancel_->setVisible(busy);
  FitHead();
  if (!busy) return;
  progress_->setRange(0, fraction < 0 ? 0 : 1000);
  if (fraction >= 0) progress_->setValue(static_cast<int>(fraction * 1000));
}

QJsonObject ExplainPage::dumpState() const {
  return {{"head", head_->text()}, {"busy", jobs_.busy()}};
}

}  // namespace vramscope::ui
