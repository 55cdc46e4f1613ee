#include "ui/explain/live_chart.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/panels/cells.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr float kGap = 1;         // between boxes, in pixels
constexpr float kLeastText = 34;  // minimum width in pixels of a box with a name
constexpr double kHead = 0.45;    // strength of the colour in a group's head

QRectF RectOf(const ChartBox& box) { return {box.x, box.y, box.w - kGap, box.h - kGap}; }

}  // namespace

LiveChart::LiveChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("liveChart"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumHeight(60);
}

void LiveChart::setEmptyText(const QString& text) {
  empty_text_ = text;
  update();
}

void LiveChart::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  update();
}

void LiveChart::setTree(std::shared_ptr<const LiveTree> tree,
                        std::shared_ptr<const trace::Trace> trace, Kind kind) {
  const bool same = kind == kind_ && trace == trace_ && tree_ != nullptr;
  const std::vector<QString> path = same ? PathOf(root_) : std::vector<QString>();
  tree_ = std::move(tree);
  trace_ = std::move(trace);
  kind_ = kind;
  chosen_ = hovered_ = kNone;
  root_ = 0;
  for (size_t i = 0; tree_ != nullptr && i < path.size(); ++i) {
    const auto& children = tree_->nodes[root_].children;
    const auto at =
        std::ranges::find_if(children, [&](uint32_t child) { return nameOf(child) == path[i]; });
    if (at == children.end()) break;
    root_ = *at;
  }
  Lay();
}

// Returns the names of the nodes on the path to `node`, without the root.
std::vector<QString> LiveChart::PathOf(uint32_t node) const {
  std::vector<QString> path;
  for (; node != 0 && node < tree_->nodes.size(); node = tree_->nodes[node].parent)
    path.push_back(nameOf(node));
  std::ranges::reverse(path);
  return path;
}

QString LiveChart::nameOf(uint32_t node) const {
  const LiveTree::Node& of = tree_->nodes[node];
  return QString::fromStdString(of.name.empty() ? ShortName(*trace_, tree_->blocks[of.first])
                                                : TextCell(of.name).text);
}

void LiveChart::Lay() {
  boxes_.clear();
  if (tree_ != nullptr)
    boxes_ = kind_ == Kind::kFlame ? FlameLayout(*tree_, root_, static_cast<float>(width()),
                                                 static_cast<float>(height()))
                                   : TreemapLayout(*tree_, root_, static_cast<float>(width()),
                                                   static_cast<float>(height()));
  update();
}

void LiveChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  Lay();
}

void LiveChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), ToQColor(theme_.panel));
  if (boxes_.empty()) {
    painter.setFont(PanelFont(timeline::Font::kBody));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(rect().adjusted(0, 8, 0, 0), Qt::AlignTop | Qt::TextWordWrap, empty_text_);
    return;
  }
  painter.setFont(PanelFont(timeline::Font::kSmall));
  const QFontMetrics metrics = painter.fontMetrics();
  for (const ChartBox& box : boxes_) {
    const LiveTree::Node& node = tree_->nodes[box.node];
    const QRectF at = RectOf(box);
    const bool head = kind_ == Kind::kTreemap && !node.children.empty();
    timeline::Color fill = theme_.category(node.category);
    if (box.node == 0) fill = theme_.raised;
    if (head && box.node != 0) fill = timeline::Mix(theme_.panel, fill, kHead);
    if (box.node == hovered_) fill = timeline::Mix(fill, theme_.selection, 0.18);
    painter.fillRect(at, ToQColor(fill));
    if (box.w < kLeastText || box.h < kTreemapHead - 2) continue;
    const QRectF line =
        QRectF(at.x() + 4, at.y(), at.width() - 8, head ? kTreemapHead : at.height());
    const QString bytes = QString::fromStdString(timeline::FormatBytesShort(node.bytes));
    const int room = static_cast<int>(line.width()), wide = metrics.horizontalAdvance(bytes) + 10;
    const bool dark_text =
        timeline::Contrast(fill, theme_.on_color) >= timeline::Contrast(fill, theme_.text);
    painter.setPen(ToQColor(dark_text ? theme_.on_color : theme_.text));
    QString text = nameOf(box.node);
    if (room > wide + 40) {
      painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, bytes);
      text = metrics.elidedText(text, Qt::ElideMiddle, room - wide);
    } else {
      text = metrics.elidedText(text, Qt::ElideMiddle, room);
    }
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
  for (const ChartBox& box : boxes_)
    if (box.node == chosen_) {
      painter.setPen(QPen(ToQColor(theme_.selection), 1.5));
      painter.drawRect(RectOf(box).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

// Returns the innermost box at this point. Children come after their parents, so the search begins
// at the end.
uint32_t LiveChart::NodeAt(const QPointF& at) const {
  for (size_t i = boxes_.size(); i-- > 0;)
    if (boxes_[i].Contains(static_cast<float>(at.x()), static_cast<float>(at.y())))
      return boxes_[i].node;
  return kNone;
}

bool LiveChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || tree_ == nullptr) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const uint32_t node = NodeAt(help->pos());
  if (node == kNone) {
    QToolTip::hideText();
    return true;
  }
  const LiveTree::Node& of = tree_->nodes[node];
  const double share =
      100 * static_cast<double>(of.bytes) / static_cast<double>(tree_->nodes[0].bytes);
  QToolTip::showText(
      help->globalPos(),
      tr("%1\n%2 (%3 %), blocks: %4")
          .arg(nameOf(node), QString::fromStdString(timeline::FormatBytesExact(of.bytes)),
               QString::number(share, 'f', 1),
               QString::fromStdString(timeline::FormatCount(of.count))),
      this);
  return true;
}

void LiveChart::mouseMoveEvent(QMouseEvent* event) {
  const uint32_t node = tree_ == nullptr ? kNone : NodeAt(event->position());
  if (std::exchange(hovered_, node) != node) update();
}

void LiveChart::leaveEvent(QEvent*) {
  if (std::exchange(hovered_, kNone) != kNone) update();
}

void LiveChart::mousePressEvent(QMouseEvent* event) {
  if (tree_ == nullptr || event->button() != Qt::LeftButton) return;
  if (const uint32_t node = NodeAt(event->position()); node != kNone) Choose(node);
}

void LiveChart::mouseDoubleClickEvent(QMouseEvent* event) {
  if (tree_ == nullptr) return;
  if (const uint32_t node = NodeAt(event->position()); node != kNone)
    Zoom(node == root_ ? tree_->nodes[node].parent : node);
}

void LiveChart::Choose(uint32_t node) {
  chosen_ = node;
  update();
  const LiveTree::Node& of = tree_->nodes[node];
  Q_EMIT nodeClicked(
      {tree_->blocks.begin() + of.first, tree_->blocks.begin() + of.first + of.count});
}

void LiveChart::Zoom(uint32_t node) {
  // In a treemap, a block has no children to zoom into, so the chart zooms into its parent.
  if (tree_->nodes[node].children.empty() && kind_ == Kind::kTreemap)
    node = tree_->nodes[node].parent;
  root_ = node;
  hovered_ = kNone;
  Lay();
}

uint32_t LiveChart::Beside(uint32_t node, int step) const {
  if (node == root_) return node;
  const auto& all = tree_->nodes[tree_->nodes[node].parent].children;
  const auto at = std::ranges::find(all, node) - all.begin() + step;
  return at < 0 || at >= static_cast<std::ptrdiff_t>(all.size()) ? node
                                                                 : all[static_cast<size_t>(at)];
}

void LiveChart::keyPressEvent(QKeyEvent* event) {
  if (tree_ == nullptr || tree_->empty()) return QWidget::keyPressEvent(event);
  const uint32_t now = chosen_ == kNone ? root_ : chosen_;
  const LiveTree::Node& of = tree_->nodes[now];
  switch (event->key()) {
    case Qt::Key_Left:
      return Choose(Beside(now, -1));
    case Qt::Key_Right:
      return Choose(Beside(now, 1));
    case Qt::Key_Up:
      return Choose(now == root_ ? now : of.parent);
    case Qt::Key_Down:
      return Choose(of.children.empty() ? now : of.children.front());
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return Zoom(now);
    case Qt::Key_Backspace:
      return Zoom(tree_->nodes[root_].parent);
    default:
      QWidget::keyPressEvent(event);
  }
}

QJsonObject LiveChart::dumpState() const {
  QJsonObject out{{"boxes", static_cast<int>(boxes_.size())},
                  {"kind", kind_ == Kind::kFlame ? "flame" : "treemap"}};
  if (tree_ == nullptr) return out;
  out["bytes"] = static_cast<double>(tree_->nodes[0].bytes);
  out["root"] = nameOf(root_);
  out["chosen"] = chosen_ == kNone ? QString() : nameOf(chosen_);
  return out;
}

}  // namespace vramscope::ui
