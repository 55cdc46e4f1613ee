#include "ui/panels/selection_panel.h"

#include <QClipboard>
#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QResizeEvent>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/panels/breakdown_parts.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/frame_list.h"
#include "ui/panels/linked_facts.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr size_t kStackLines = 60;
constexpr double kMostOfParent = 0.55;
constexpr int kLeastHeight = 60;

}  // namespace

SelectionPanel::SelectionPanel(QWidget* parent)
    : QScrollArea(parent), theme_(timeline::Theme::Dark()) {
  setObjectName(QStringLiteral("selectionPanel"));
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  content_ = new QWidget;
  auto* column = new QVBoxLayout(content_);
  column->setContentsMargins(15, 0, 15, 10);
  column->setSpacing(7);
  column->addWidget(MakeLine());
  QLabel* heading = MakeLabel(tr("SELECTION"), LabelRole::kHeading);
  heading->setContentsMargins(0, 6, 0, 0);
  column->addWidget(heading);
  title_ = new ElidedLabel(LabelRole::kBold, Qt::ElideMiddle);
  title_->setObjectName(QStringLiteral("selectionTitle"));
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(title_);
  facts_box_ = new QWidget;
  facts_ = new QGridLayout(facts_box_);
  facts_->setContentsMargins(0, 0, 0, 0);
  facts_->setHorizontalSpacing(12);
  facts_->setVerticalSpacing(6);
  facts_->setColumnStretch(1, 1);
  column->addWidget(facts_box_);
  hint_ = MakeLabel({}, LabelRole::kDim);
  hint_->setObjectName(QStringLiteral("selectionHint"));
  hint_->setWordWrap(true);
  column->addWidget(hint_);
  links_ = new LinkedFacts;
  links_->hide();
  connect(links_, &LinkedFacts::linkClicked, this, &SelectionPanel::linkClicked);
  column->addWidget(links_);
  stack_box_ = new QWidget;
  auto* stack_column = new QVBoxLayout(stack_box_);
  stack_column->setContentsMargins(0, 2, 0, 0);
  stack_column->setSpacing(3);
  auto* stack_head = new QHBoxLayout;
  stack_head->addWidget(MakeLabel(tr("call stack, innermost first"), LabelRole::kGroup));
  stack_head->addStretch();
  auto* copy = new QToolButton;
  copy->setObjectName(QStringLiteral("copyStack"));
  copy->setProperty("role", "quiet");
  copy->setText(tr("Copy"));
  copy->setFont(PanelFont(timeline::Font::kSmall));
  copy->setToolTip(tr("Copies all frames with full paths"));
  connect(copy, &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(stackText()); });
  stack_head->addWidget(copy);
  stack_column->addLayout(stack_head);
  stack_ = new FrameList;
  stack_->setObjectName(QStringLiteral("callStack"));
  stack_column->addWidget(stack_);
  stack_more_ = MakeLabel({}, LabelRole::kDim);
  stack_column->addWidget(stack_more_);
  stack_box_->hide();
  column->addWidget(stack_box_);
  column->addStretch();
  setWidget(content_);
  if (parent != nullptr) parent->installEventFilter(this);
  Show();
}

// When the parent's height or the layout of the content has changed, updates the size hint, which
// depends on both.
bool SelectionPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parent() && event->type() == QEvent::Resize) updateGeometry();
  if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
  return QScrollArea::eventFilter(watched, event);
}

void SelectionPanel::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) updateGeometry();  // the text wraps anew
}

int SelectionPanel::ContentHeight() const {
  const QLayout* column = content_->layout();
  return column->hasHeightForWidth() ? column->totalHeightForWidth(viewport()->width())
                                     : column->totalSizeHint().height();
}

QSize SelectionPanel::sizeHint() const {
  const int most = parentWidget() == nullptr
                       ? QWIDGETSIZE_MAX
                       : static_cast<int>(parentWidget()->height() * kMostOfParent);
  return {QScrollArea::sizeHint().width(), std::min(ContentHeight(), std::max(kLeastHeight, most))};
}

// A narrow panel elides its texts. So a small minimum width is enough, which leaves space for other
// panels.
QSize SelectionPanel::minimumSizeHint() const { return {180, kLeastHeight}; }

void SelectionPanel::setDigest(std::shared_ptr<const Digest> digest) {
  digest_ = std::move(digest);
  selection_ = {};
  Show();
}

void SelectionPanel::setSelection(trace::AllocationId id, const timeline::ActivityFacts& activity,
                                  const std::vector<timeline::LinkedFact>& kernels) {
  selection_ = id;
  activity_ = activity;
  std::vector<timeline::LinkedFact> links = activity.title.empty() ? kernels : activity.facts;
  if (!activity.title.empty()) links.insert(links.begin(), {"what", activity.subtitle, {}});
  links_->set(links);
  verticalScrollBar()->setValue(0);
  Show();
}

void SelectionPanel::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  ShowStack();
}

bool SelectionPanel::HasAllocation() const {
  return digest_ != nullptr && selection_.valid() &&
         selection_.value < digest_->trace->allocations.size();
}

void SelectionPanel::Show() {
  const bool activity = !activity_.title.empty(), allocation = !activity && HasAllocation();
  title_->setVisible(activity || allocation);
  facts_box_->setVisible(allocation);
  hint_->setVisible(!activity && !allocation);
  ShowStack();
  if (activity) {
    title_->setFullText(QString::fromStdString(activity_.title));
  } else if (allocation) {
    const SelectionFacts facts = FactsOf(*digest_->trace, selection_);
    title_->setFullText(QString::fromStdString(facts.title));
    FillFacts(facts_, facts.facts, FactStyle::kRightMiddle);
  } else {
    hint_->setText(digest_ != nullptr && digest_->state()
                       ? tr("Click a block in the segment map, or a row of a table, to see what it "
                            "is and where it was allocated.")
                       : tr("Click a block in the timeline, or a row of a table, to see what it "
                            "is, where it was allocated and how long it lives."));
  }
  updateGeometry();
}

void SelectionPanel::ShowStack() {
  std::vector<timeline::StackLine> lines;
  if (HasAllocation()) lines = StackLinesOf(*digest_->trace, selection_);
  stack_box_->setVisible(!lines.empty());
  if (lines.empty()) return;
  // Leave C++ frames out, because the program's frames would be hard to find between them. Only the
  // copied text has them.
  const bool python =
      std::any_of(lines.begin(), lines.end(), [](const auto& l) { return l.python; });
  const size_t all = lines.size();
  if (python) std::erase_if(lines, [](const auto& l) { return !l.python; });
  if (lines.size() > kStackLines) lines.resize(kStackLines);
  const size_t left_out = all - lines.size();
  stack_->set(std::move(lines), theme_);
  stack_more_->setText((left_out == 1 ? tr("%1 more frame; Copy includes it")
                                      : tr("%1 more frames; Copy includes them"))
                           .arg(left_out));
  stack_more_->setVisible(left_out > 0);
}

QString SelectionPanel::stackText() const {
  if (!HasAllocation()) return {};
  QString text;
  for (const timeline::StackLine& line : StackLinesOf(*digest_->trace, selection_))
    text += QStringLiteral("%1  %2\n")
                .arg(QString::fromStdString(line.function), QString::fromStdString(line.place));
  return text;
}

QJsonObject SelectionPanel::dumpState() const {
  QJsonObject out;
  if (HasAllocation()) {
    QJsonObject facts;
    const SelectionFacts found = FactsOf(*digest_->trace, selection_);
    for (const Fact& fact : found.facts)
      facts[QString::fromStdString(fact.label)] = QString::fromStdString(fact.value);
    out = {{"id", static_cast<double>(selection_.value)},
           {"title", QString::fromStdString(found.title)},
           {"facts", facts},
           {"stack", stackText()}};
  }
  QJsonArray links;
  for (const timeline::LinkedFact& fact : links_->facts())
    links.append(QJsonArray{QString::fromStdString(fact.label), QString::fromStdString(fact.value),
                            fact.link.to != timeline::Link::To::kNothing});
  if (!activity_.title.empty()) out["activity"] = QString::fromStdString(activity_.title);
  if (!links.isEmpty()) out["links"] = links;
  return out;
}

}  // namespace vramscope::ui
