#include "ui/panels/breakdown_panel.h"

#include <QContextMenuEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "ui/panels/breakdown_parts.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/gpu_bar.h"
#include "ui/panels/legend.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kSwatch = 11;
constexpr int kShareWidth = 48;
// Below this number of events, the live set is computed on the UI thread, not on a pool
// thread.
constexpr uint32_t kInline = 200'000;
// The key of the job that computes the GPU's memory. The job of the live set has the default key.
constexpr uint64_t kDeviceMemory = 1;

// A square in the colour of a category.
class Swatch : public QWidget {
 public:
  Swatch() { setFixedSize(kSwatch, kSwatch); }
  void setColor(timeline::Color color) {
    color_ = ToQColor(color);
    update();
  }
  void setOn(bool on) {
    on_ = on;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(on_ ? QPen(Qt::NoPen) : QPen(color_));
    painter.setBrush(on_ ? QBrush(color_) : QBrush(Qt::NoBrush));
    const double inset = on_ ? 0 : 0.5;
    painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), 2, 2);
  }

 private:
  QColor color_;
  bool on_ = true;
};

}  // namespace

BreakdownPanel::BreakdownPanel(QWidget* parent) : QWidget(parent), theme_(timeline::Theme::Dark()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(15, 14, 15, 10);
  column->setSpacing(7);

  auto* head = new QHBoxLayout;
  heading_ = MakeLabel(tr("AT THE PEAK"), LabelRole::kHeading);
  total_ = MakeLabel({}, LabelRole::kNumberDim);
  total_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  head->addWidget(heading_);
  leave_ = new QToolButton;
  leave_->setObjectName(QStringLiteral("leaveRange"));
  leave_->setProperty("role", "chip");
  leave_->setText(tr("✕ Esc"));
  leave_->setFont(PanelFont(timeline::Font::kSmall));
  leave_->setToolTip(tr("Leave the range: panels and tables show the whole trace again"));
  leave_->hide();
  connect(leave_, &QToolButton::clicked, this, &BreakdownPanel::rangeLeft);
  head->addWidget(leave_);
  head->addStretch();
  head->addWidget(total_);
  column->addLayout(head);
  range_summary_ = new WrappedLabel(LabelRole::kBody);
  range_summary_->setObjectName(QStringLiteral("rangeSummary"));
  range_summary_->hide();
  column->addWidget(range_summary_);
  bar_ = new Bar(this);
  column->addWidget(bar_);
  parts_box_ = new QWidget;
  parts_ = new QGridLayout(parts_box_);
  parts_->setContentsMargins(0, 2, 0, 2);
  parts_->setHorizontalSpacing(10);
  parts_->setVerticalSpacing(6);
  column->addWidget(parts_box_);
  moment_ = new ElidedLabel(LabelRole::kDim, Qt::ElideMiddle);
  column->addWidget(moment_);
  phases_ = new Legend;
  phases_->setObjectName(QStringLiteral("phaseLegend"));
  phases_->setToolTip(tr("Phases, in the colors of their track"));
  column->addWidget(phases_);
  gpu_ = new GpuBar;
  column->addWidget(gpu_);
  range_box_ = new QWidget;
  range_box_->setObjectName(QStringLiteral("rangeCard"));
  auto* range_column = new QVBoxLayout(range_box_);
  range_column->setContentsMargins(0, 0, 0, 0);
  range_column->setSpacing(5);
  range_column->addWidget(MakeLine());
  const auto grid = [&](const QString& title, QLabel** label) {
    if (label != nullptr) {
      *label = MakeLabel(title, LabelRole::kGroup);
      (*label)->setContentsMargins(0, 4, 0, 0);
      range_column->addWidget(*label);
    }
    auto* box = new QWidget;
    QGridLayout* made = MakeFactGrid(box, 4);
    range_column->addWidget(box);
    return made;
  };
  range_facts_ = grid({}, nullptr);
  range_categories_ = grid(tr("allocated in the range, by category"), &range_categories_title_);
  range_freed_ = grid(tr("freed in the range, by category"), &range_freed_title_);
  range_sites_ = grid(tr("largest call sites in the range"), &range_sites_title_);
  range_box_->hide();
  column->addWidget(range_box_);
  column->addWidget(MakeLine());
  largest_title_ = MakeLabel({}, LabelRole::kGroup);
  largest_title_->setContentsMargins(0, 4, 0, 0);
  column->addWidget(largest_title_);
  largest_ = new LiveList(this);
  column->addWidget(largest_);
  column->addStretch();
}

// A narrow panel elides its texts. So a small minimum width is enough, which leaves space for other
// panels.
QSize BreakdownPanel::minimumSizeHint() const { return {180, QWidget::minimumSizeHint().height()}; }

void BreakdownPanel::setDigest(std::shared_ptr<const Digest> digest) {
  digest_ = std::move(digest);
  selection_ = {};
  UpdateTime();
}

void BreakdownPanel::setCursorTime(qint64 time_ns) {
  cursor_ns_ = time_ns;
  UpdateTime();
}

void BreakdownPanel::setRange(qint64 begin_ns, qint64 end_ns) {
  const std::pair range = begin_ns < end_ns ? std::pair{begin_ns, end_ns} : std::pair{0LL, 0LL};
  if (range == range_) return;
  range_ = range;
  UpdateTime();
}

void BreakdownPanel::UpdateTime() {
  jobs_.cancel();
  const bool range = digest_ != nullptr && range_.first < range_.second && !digest_->state();
  leave_->setVisible(range);
  if (!range) {
    range_box_->hide();
    range_summary_->hide();
    shown_range_.reset();
  }
  std::vector<Legend::Entry> phases;
  if (digest_ != nullptr)
    for (const trace::Phase p : digest_->phases)
      phases.emplace_back(theme_.phase(p), ToQString(i18n::Text(trace::Name(p))));
  phases_->set(std::move(phases), theme_);
  if (digest_ == nullptr) {
    ShowLive({}, Of::kPeak);
    return;
  }
  const bool small = digest_->trace->events.size() < kInline;
  if (range) {
    const auto compute = [digest = digest_, at = range_] {
      return FiguresOfRange(*digest, at.first, at.second);
    };
    if (small)
      ShowRange(compute());
    else
      jobs_.Ask(compute, [this](const absl::StatusOr<RangeFigures>& figures) {
        if (figures.ok()) ShowRange(*figures);
      });
    return;
  }
  if (digest_->state()) {
    ShowLive(digest_->at_peak, Of::kState);
    return;
  }
  if (cursor_ns_ < 0) {
    ShowLive(digest_->at_peak, Of::kPeak);
    return;
  }
  const auto compute = [trace = digest_->trace, time = cursor_ns_] {
    return analysis::LiveAt(*trace, analysis::EventAtTime(*trace, time));
  };
  if (small)
    ShowLive(compute(), Of::kCursor);
  else
    jobs_.Ask(compute, [this](const absl::StatusOr<analysis::LiveSet>& live) {
      if (live.ok()) ShowLive(*live, Of::kCursor);
    });
}

void BreakdownPanel::ShowRange(const RangeFigures& range) {
  shown_range_ = range;
  ShowLive(range.at_peak, Of::kRange);
  const trace::Trace& trace = *digest_->trace;
  range_summary_->setWrappedText(QString::fromStdString(RangeLine(trace, range)));
  range_summary_->show();
  // With kRight, long values are elided at their end. The figure at their begin stays visible.
  FillFacts(range_facts_, RangeFacts(trace, range), FactStyle::kRight);
  const std::vector<Fact> categories = RangeCategories(range);
  FillFacts(range_categories_, categories, FactStyle::kRightMiddle);
  range_categories_title_->setVisible(!categories.empty());
  const std::vector<Fact> freed = RangeFreedCategories(range);
  FillFacts(range_freed_, freed, FactStyle::kRightMiddle);
  range_freed_title_->setVisible(!freed.empty());
  std::vector<Fact> sites;
  for (const analysis::Group& site : range.sites)
    sites.push_back({timeline::FormatBytes(site.bytes), analysis::ShownName(site.name)});
  FillFacts(range_sites_, sites, FactStyle::kRightMiddle);
  range_sites_title_->setVisible(!sites.empty());
  range_box_->show();
  std::vector<analysis::LiveAllocation> largest;
  for (const trace::AllocationId id : range.largest)
    largest.push_back({id, trace.allocations.main_category[id.value]});
  largest_title_->setText(tr("largest allocations made in the range"));
  ShowLargest(std::move(largest));
  Refit();
}

QString BreakdownPanel::measurement() const {
  return digest_ == nullptr || !shown_range_
             ? QString()
             : QString::fromStdString(RangeAsTsv(*digest_->trace, *shown_range_));
}

void BreakdownPanel::ShowLargest(std::vector<analysis::LiveAllocation> largest) {
  if (largest.size() > LiveList::kLargest) largest.resize(LiveList::kLargest);
  largest_->set(digest_ ? digest_->trace : nullptr, std::move(largest));
}

// Shows what the GPU's memory is used for at the event.
void BreakdownPanel::ShowGpu(trace::EventIndex event) {
  if (digest_ == nullptr || digest_->trace->events.size() == 0) return gpu_->set({}, theme_);
  const auto compute = [trace = digest_->trace, event] {
    return explain::DeviceMemoryHistory(*trace).At(event);
  };
  const auto show = [this](const explain::DeviceMemory& memory) {
    gpu_->set(memory, theme_);
    Refit();
  };
  if (digest_->trace->events.size() < kInline)
    show(compute());
  else
    jobs_.Ask(compute,
              [show](const absl::StatusOr<explain::DeviceMemory>& memory) {
                if (memory.ok()) show(*memory);
              },
              {.key = kDeviceMemory});
}

// Reuses existing labels. During a run, or while the cursor moves, the figures change often, but
// the set of lines rarely does.
void BreakdownPanel::ShowParts() {
  const auto same = [](const PartLine& line, const Part& part) {
    return line.category == part.category && line.any == (part.bytes > 0);
  };
  if (!std::ranges::equal(lines_, shown_parts_, same)) {
    MakeLines();
    ShowSwitches();
  }
  parts_width_ = 0;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const PartLine& line = lines_[i];
    const Part& part = shown_parts_[i];
    line.bytes->setText(line.any ? QString::fromStdString(timeline::FormatBytes(part.bytes))
                                 : tr("0"));
    line.bytes->setToolTip(tr("%1\n%2 % of the displayed total")
                               .arg(QString::fromStdString(timeline::FormatBytesExact(part.bytes)))
                               .arg(part.share * 100, 0, 'f', 1));
    line.share->setText(line.any ? QStringLiteral("%1 %").arg(part.share * 100, 0, 'f', 1)
                                 : QString());
    parts_width_ = std::max(parts_width_, kSwatch + line.words + line.bytes->sizeHint().width() +
                                              2 * parts_->horizontalSpacing());
  }
}

// Makes a line without figures for each of `shown_parts_`. A category that has no bytes at this
// time also has a line if it has bytes at any other time of the trace.
void BreakdownPanel::MakeLines() {
  ClearLayout(parts_);
  lines_.clear();
  parts_->setColumnStretch(1, 1);
  for (const Part& part : shown_parts_) {
    const int row = static_cast<int>(lines_.size());
    PartLine line{.category = part.category, .any = part.bytes > 0};
    auto* swatch = new Swatch;
    swatch->setColor(theme_.category(part.category));
    line.swatch = swatch;
    parts_->addWidget(swatch, row, 0);
    auto* name = new ElidedLabel(line.any ? LabelRole::kBody : LabelRole::kDim);
    name->setObjectName(QStringLiteral("category"));
    name->setFullText(ToQString(i18n::Text(trace::Name(part.category))));
    line.name = name;
    for (QWidget* half : {static_cast<QWidget*>(swatch), static_cast<QWidget*>(name)}) {
      half->setProperty("category", static_cast<int>(part.category));
      half->setCursor(Qt::PointingHandCursor);
      half->setToolTip(
          tr("Click to hide this category in the timeline. Double-click to show only this "
             "category. Right-click for more actions."));
      half->installEventFilter(this);
    }
    parts_->addWidget(name, row, 1);
    line.words = name->fontMetrics().horizontalAdvance(name->fullText()) + 2;
    line.bytes = MakeLabel({}, line.any ? LabelRole::kNumber : LabelRole::kNumberDim);
    parts_->addWidget(line.bytes, row, 2, Qt::AlignRight);
    line.share = MakeLabel({}, LabelRole::kNumberDim);
    line.share->setMinimumWidth(kShareWidth);
    line.share->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    parts_->addWidget(line.share, row, 3);
    lines_.push_back(line);
  }
}

void BreakdownPanel::ShowLive(const analysis::LiveSet& live, Of of) {
  const QString headings[] = {tr("AT THE PEAK"), tr("AT THE CURSOR"), tr("PEAK IN RANGE"),
                              tr("IN MEMORY")};
  heading_->setText(headings[static_cast<size_t>(of)]);
  total_->setText(live.allocated > 0 ? QString::fromStdString(timeline::FormatBytes(live.allocated))
                                     : QString());
  total_->setToolTip(QString::fromStdString(timeline::FormatBytesExact(live.allocated)));
  shown_parts_ = PartsOf(live.by_category, live.allocated,
                         digest_ ? digest_->categories : std::vector<trace::Category>());
  ShowParts();
  FitParts();
  bar_->update();
  ShowGpu(live.context.event);

  QStringList where;
  if (digest_ != nullptr && live.allocated > 0) {
    const analysis::Context& at = live.context;
    if (at.step >= 0) where << tr("step %1").arg(at.step);
    if (at.phase != trace::Phase::kNone) where << ToQString(i18n::Text(trace::Name(at.phase)));
    if (!at.module.empty()) where << QString::fromStdString(at.module);
    if (!at.op.empty()) where << QString::fromStdString(at.op);
  }
  moment_->setFullText(of == Of::kState ? QString() : where.join(QStringLiteral(" · ")));
  moment_->setVisible(!moment_->fullText().isEmpty());
  largest_title_->setText(tr("largest live allocations"));
  if (of != Of::kRange)
    ShowLargest({live.allocations.begin(),
                 live.allocations.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(
                                                live.allocations.size(), LiveList::kLargest))});
  Refit();
}

void BreakdownPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  FitParts();
}

void BreakdownPanel::ShowSwitches() {
  for (const PartLine& line : lines_) {
    const bool on = !hidden_[static_cast<size_t>(line.category)];
    static_cast<Swatch*>(line.swatch)->setOn(on);
    QFont font = line.name->font();
    font.setStrikeOut(!on);
    line.name->setFont(font);
  }
}

void BreakdownPanel::SwitchCategory(trace::Category category, bool alone) {
  const auto one = static_cast<size_t>(category);
  before_click_ = hidden_;
  std::bitset<trace::kCategoryCount> hidden = hidden_;
  if (alone) {
    hidden.set();
    hidden.reset(one);
    if (hidden == hidden_) hidden.reset();  // if it was shown alone, shows all again
  } else {
    hidden.flip(one);
  }
  // Do not hide the last visible category of the legend.
  const bool any = std::ranges::any_of(
      lines_, [&](const PartLine& line) { return !hidden[static_cast<size_t>(line.category)]; });
  hidden_ = any ? hidden : std::bitset<trace::kCategoryCount>();
  ShowSwitches();
  Q_EMIT categoriesHidden(hidden_);
}

void BreakdownPanel::ShowAllCategories() {
  hidden_.reset();
  ShowSwitches();
  Q_EMIT categoriesHidden(hidden_);
}

void BreakdownPanel::CategoryMenu(trace::Category category, const QPoint& at) {
  QMenu menu(this);
  menu.setObjectName(QStringLiteral("category_menu"));
  const bool on = !hidden_[static_cast<size_t>(category)];
  menu.addAction(on ? tr("Hide") : tr("Show"), this,
                 [this, category] { SwitchCategory(category, false); });
  menu.addAction(tr("Show alone"), this, [this, category] {
    hidden_.reset();
    SwitchCategory(category, true);
  });
  menu.addAction(tr("Show all"), this, &BreakdownPanel::ShowAllCategories)
      ->setEnabled(hidden_.any());
  menu.addSeparator();
  menu.addAction(tr("Find its blocks"), this, [this, category] {
    Q_EMIT searchRequested(
        QStringLiteral("kind = block and category = \"%1\"").arg(ToQString(trace::Name(category))));
  });
  menu.exec(at);
}

bool BreakdownPanel::eventFilter(QObject* watched, QEvent* event) {
  const QVariant of = watched->property("category");
  if (!of.isValid()) return QWidget::eventFilter(watched, event);
  const auto category = static_cast<trace::Category>(of.toInt());
  if (event->type() == QEvent::ContextMenu) {
    CategoryMenu(category, static_cast<QContextMenuEvent*>(event)->globalPos());
    return true;
  }
  const bool again = event->type() == QEvent::MouseButtonDblClick;
  if (!again && event->type() != QEvent::MouseButtonPress)
    return QWidget::eventFilter(watched, event);
  const auto* mouse = static_cast<QMouseEvent*>(event);
  if (mouse->button() != Qt::LeftButton) return QWidget::eventFilter(watched, event);
  if (again) hidden_ = before_click_;
  SwitchCategory(category, again || (mouse->modifiers() & Qt::ShiftModifier) != 0);
  return true;
}

void BreakdownPanel::FitParts() {
  const QMargins around = layout()->contentsMargins();
  const int room = width() - around.left() - around.right() - parts_->horizontalSpacing();
  const bool fits = parts_width_ + kShareWidth <= room;
  for (const PartLine& line : lines_) line.share->setVisible(fits);
}

// Tells the enclosing scroll area that the height of the contents may have changed.
void BreakdownPanel::Refit() {
  for (QWidget* box : {parts_box_, range_box_}) {
    box->layout()->invalidate();
    box->updateGeometry();
  }
  layout()->invalidate();
  updateGeometry();
}

void BreakdownPanel::setSelection(trace::AllocationId id) {
  selection_ = id;
  largest_->update();
}

void BreakdownPanel::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  for (const PartLine& line : lines_)
    static_cast<Swatch*>(line.swatch)->setColor(theme.category(line.category));
  UpdateTime();
  update();
}

QJsonObject BreakdownPanel::dumpState() const {
  QJsonArray parts;
  for (const Part& part : shown_parts_)
    parts.append(QJsonObject{{"category", ToQString(trace::Name(part.category))},
                             {"bytes", static_cast<double>(part.bytes)},
                             {"share", part.share}});
  QJsonArray largest;
  for (size_t i = 0; i < largest_->live().size(); ++i)
    largest.append(QJsonObject{{"name", largest_->name(i)}, {"bytes", largest_->bytes(i)}});
  QJsonObject out{{"heading", heading_->text()}, {"total", total_->text()},
                  {"where", moment_->text()},    {"parts", parts},
                  {"card", gpu_->dumpState()},   {"largest", largest}};
  QJsonArray phases;
  for (const auto& [color, name] : phases_->entries()) phases.append(name);
  out["phases"] = phases;
  if (shown_range_) {
    out["summary"] = range_summary_->text();
    QJsonObject facts;
    for (const Fact& fact : RangeFacts(*digest_->trace, *shown_range_))
      facts[QString::fromStdString(fact.label)] = QString::fromStdString(fact.value);
    QJsonArray sites;
    for (const analysis::Group& site : shown_range_->sites)
      sites.append(QString::fromStdString(site.name));
    out["range"] = QJsonObject{{"facts", facts}, {"sites", sites}};
  }
  return out;
}

}  // namespace vramscope::ui
