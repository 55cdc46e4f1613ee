#include "ui/shell/document_tabs.h"

#include <QApplication>
#include <QDrag>
#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QMap>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <QPixmap>
#include <QToolButton>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kStateIcon = 8, kLeastTab = 72;
// If a tab is dropped within this share of another tab's width from its left or right edge, it
// moves to that side of the other tab.
constexpr double kEdgeShare = 0.25;

QString TitleOf(const Document& document) {
  const QString title = QString::fromStdString(document.Title());
  if (document.source.kind == SourceKind::kGpuRun)
    return DocumentTabs::tr("%1 on the GPU").arg(title);
  return title.isEmpty() ? DocumentTabs::tr("New plan") : title;
}

QString StateText(const Document& document) {
  switch (document.state()) {
    case DocumentState::kWorking:
      return document.source.kind == SourceKind::kFile ? DocumentTabs::tr("loading")
                                                       : DocumentTabs::tr("running");
    case DocumentState::kUnloaded:
      return DocumentTabs::tr("loads when you select this tab");
    case DocumentState::kFailed:
      return DocumentTabs::tr("failed");
    case DocumentState::kEmpty:
    case DocumentState::kShown:
      break;
  }
  return document.unseen ? DocumentTabs::tr("finished, not viewed yet") : QString();
}

QString TipOf(const Document& document) {
  QStringList lines;
  switch (document.source.kind) {
    case SourceKind::kFile:
      lines << QString::fromStdString(document.source.file);
      break;
    case SourceKind::kProgram:
      lines << QString::fromStdString(program::CommandLineOf(document.source.program));
      break;
    case SourceKind::kPlan:
    case SourceKind::kGpuRun:
      lines << DocumentTabs::tr("%1, batch %2, on %3")
                   .arg(QString::fromStdString(document.config.model))
                   .arg(document.config.batch)
                   .arg(QString::fromStdString(document.config.device));
      break;
  }
  if (const QString state = StateText(document); !state.isEmpty()) lines << state;
  lines << DocumentTabs::tr("Drag this tab onto another tab to compare the two documents");
  return lines.join(QLatin1Char('\n'));
}

const char* StateName(DocumentState state) {
  switch (state) {
    case DocumentState::kEmpty:
      return "empty";
    case DocumentState::kWorking:
      return "working";
    case DocumentState::kShown:
      return "shown";
    case DocumentState::kUnloaded:
      return "unloaded";
    case DocumentState::kFailed:
      return "failed";
  }
  return "";
}

}  // namespace

DocumentTabs::DocumentTabs(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("documentTabs"));
  setAttribute(Qt::WA_StyledBackground);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 6, 0);
  line->setSpacing(2);
  bar_ = new DocumentTabBar(this);
  line->addWidget(bar_, 0, Qt::AlignBottom);
  new_ = new QToolButton;
  new_->setObjectName(QStringLiteral("newDocument"));
  new_->setProperty("role", "quiet");
  new_->setText(QStringLiteral("+"));
  new_->setToolTip(tr("New plan (Ctrl+T)"));
  new_->setAccessibleName(tr("New plan"));
  connect(new_, &QToolButton::clicked, this, &DocumentTabs::newRequested);
  line->addWidget(new_);
  line->addStretch();
  connect(bar_, &QTabBar::tabBarClicked, this, [this](int tab) {
    if (tab >= 0) Q_EMIT chosen(tabs_[static_cast<size_t>(tab)].id);
  });
  connect(bar_, &DocumentTabBar::middleClicked, this,
          [this](int tab) { Q_EMIT closeRequested(tabs_[static_cast<size_t>(tab)].id); });
  bar_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(bar_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    if (const int tab = bar_->tabAt(at); tab >= 0) ShowMenu(tab, bar_->mapToGlobal(at));
  });
  hide();
}

QTabBar* DocumentTabs::bar() const { return bar_; }

void DocumentTabs::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  for (size_t i = 0; i < tabs_.size(); ++i) bar_->setTabIcon(static_cast<int>(i), IconOf(tabs_[i]));
}

void DocumentTabs::setDocuments(const DocumentList& documents) {
  std::vector<Tab> tabs;
  QMap<QString, int> names;
  for (size_t i = 0; i < documents.size(); ++i) {
    const Document& document = documents.at(i);
    QString title = TitleOf(document);
    // If several documents have the same title, give them numbers.
    if (const int same = ++names[title]; same > 1)
      title = QStringLiteral("%1 (%2)").arg(title).arg(same);
    tabs.push_back({document.id(), title, TipOf(document), document.state(), document.unseen});
  }
  Fill(tabs);
  bar_->setCurrentIndex(static_cast<int>(documents.active_place()));
  setVisible(tabs_.size() > 1);
}

void DocumentTabs::Fill(const std::vector<Tab>& tabs) {
  const QSignalBlocker quiet(bar_);
  for (size_t i = 0; i < tabs.size(); ++i) {
    const int tab = static_cast<int>(i);
    if (i >= tabs_.size()) {
      bar_->addTab({});
      auto* close = new QToolButton;
      close->setObjectName(QStringLiteral("closeDocument"));
      close->setProperty("role", "quiet");
      close->setText(QStringLiteral("✕"));
      close->setFont(PanelFont(timeline::Font::kSmall));
      close->setFocusPolicy(Qt::NoFocus);
      close->setToolTip(tr("Close (Ctrl+W)"));
      connect(close, &QToolButton::clicked, this, [this, close] {
        for (int at = 0; at < bar_->count(); ++at)
          if (bar_->tabButton(at, QTabBar::RightSide) == close)
            return Q_EMIT closeRequested(tabs_[static_cast<size_t>(at)].id);
      });
      bar_->setTabButton(tab, QTabBar::RightSide, close);
    } else if (tabs_[i] == tabs[i]) {
      continue;
    }
    QString text = tabs[i].title;
    bar_->setTabText(tab, text.replace(QLatin1Char('&'), QLatin1String("&&")));
    bar_->setTabToolTip(tab, tabs[i].tip);
    bar_->setTabIcon(tab, IconOf(tabs[i]));
  }
  while (bar_->count() > static_cast<int>(tabs.size())) bar_->removeTab(bar_->count() - 1);
  tabs_ = tabs;
}

// Returns a ring while the document's run is in progress, and a disc if the run ended while another
// tab was shown. If the run failed, the disc has the colour of errors.
QIcon DocumentTabs::IconOf(const Tab& tab) const {
  const bool working = tab.state == DocumentState::kWorking;
  const bool failed = tab.state == DocumentState::kFailed;
  if (!working && !failed && !tab.unseen) return {};
  const qreal scale = devicePixelRatioF();
  QPixmap picture(QSize(kStateIcon, kStateIcon) * scale);
  picture.setDevicePixelRatio(scale);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor color = ToQColor(failed ? theme_.bad : working ? theme_.accent : theme_.good);
  painter.setPen(QPen(color, 1.6));
  if (!working) painter.setBrush(color);
  painter.drawEllipse(QRectF(1, 1, kStateIcon - 2, kStateIcon - 2));
  return QIcon(picture);
}

void DocumentTabs::ShowMenu(int tab, const QPoint& at) {
  const DocumentId id = tabs_[static_cast<size_t>(tab)].id;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  QMenu* compare = menu->addMenu(tr("Compare with"));
  compare->setEnabled(tabs_.size() > 1);
  for (const Tab& other : tabs_)
    if (other.id != id)
      compare->addAction(other.title, this,
                         [this, id, with = other.id] { Q_EMIT compareRequested(id, with); });
  menu->addSeparator();
  menu->addAction(tr("Close"), this, [this, id] { Q_EMIT closeRequested(id); });
  QAction* others = menu->addAction(tr("Close the others"), this,
                                    [this, id] { Q_EMIT closeOtherTabsRequested(id); });
  others->setEnabled(tabs_.size() > 1);
  menu->popup(at);
}

QJsonArray DocumentTabs::dumpState() const {
  QJsonArray out;
  for (size_t i = 0; i < tabs_.size(); ++i)
    out.append(QJsonObject{{"title", tabs_[i].title},
                           {"state", StateName(tabs_[i].state)},
                           {"unseen", tabs_[i].unseen},
                           {"shown", bar_->currentIndex() == static_cast<int>(i)}});
  return out;
}

DocumentTabBar::DocumentTabBar(DocumentTabs* tabs) : tabs_(tabs) {
  setObjectName(QStringLiteral("documentBar"));
  setDrawBase(false);
  setExpanding(false);
  setElideMode(Qt::ElideMiddle);
  setUsesScrollButtons(true);
  setAcceptDrops(true);
  setIconSize({kStateIcon, kStateIcon});
  setFocusPolicy(Qt::NoFocus);  // the canvas keeps the keyboard focus
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

QSize DocumentTabBar::minimumTabSizeHint(int index) const {
  const QSize size = QTabBar::minimumTabSizeHint(index);
  return {std::min(size.width(), kLeastTab), size.height()};
}

DocumentTabBar::Drop DocumentTabBar::DropAt(const QPoint& at) const {
  const int tab = tabAt(at);
  if (tab < 0) return {.onto = -1, .before = count()};
  const QRect rect = tabRect(tab);
  const double share = static_cast<double>(at.x() - rect.left()) / std::max(rect.width(), 1);
  if (share < kEdgeShare) return {.onto = -1, .before = tab};
  if (share > 1 - kEdgeShare) return {.onto = -1, .before = tab + 1};
  return {.onto = tab, .before = -1};
}

void DocumentTabBar::mousePressEvent(QMouseEvent* event) {
  press_ = event->pos();
  pressed_ = tabAt(event->pos());
  if (event->button() == Qt::LeftButton) QTabBar::mousePressEvent(event);
}

void DocumentTabBar::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) == 0 || pressed_ < 0 ||
      (event->pos() - press_).manhattanLength() < QApplication::startDragDistance())
    return;
  auto* data = new QMimeData;
  data->setData(QLatin1String(kDocumentMime),
                QByteArray::number(tabs_->tabs_[static_cast<size_t>(pressed_)].id));
  auto* drag = new QDrag(this);
  drag->setMimeData(data);
  const QRect rect = tabRect(pressed_);
  drag->setPixmap(grab(rect));
  drag->setHotSpot(press_ - rect.topLeft());
  pressed_ = -1;
  drag->exec(Qt::MoveAction);
}

void DocumentTabBar::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::MiddleButton && pressed_ >= 0 && tabAt(event->pos()) == pressed_)
    Q_EMIT middleClicked(pressed_);
  pressed_ = -1;
  QTabBar::mouseReleaseEvent(event);
}

void DocumentTabBar::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasFormat(QLatin1String(kDocumentMime))) event->acceptProposedAction();
}

void DocumentTabBar::dragMoveEvent(QDragMoveEvent* event) {
  drop_ = DropAt(event->position().toPoint());
  update();
  event->acceptProposedAction();
}

void DocumentTabBar::dragLeaveEvent(QDragLeaveEvent*) {
  drop_ = {};
  update();
}

void DocumentTabBar::dropEvent(QDropEvent* event) {
  const Drop drop = DropAt(event->position().toPoint());
  drop_ = {};
  update();
  const DocumentId id = event->mimeData()->data(QLatin1String(kDocumentMime)).toUInt();
  const auto& tabs = tabs_->tabs_;
  const auto from = std::ranges::find(tabs, id, &DocumentTabs::Tab::id);
  if (from == tabs.end()) return;
  event->acceptProposedAction();
  const auto place = static_cast<int>(from - tabs.begin());
  if (drop.onto >= 0) {
    const DocumentId onto = tabs[static_cast<size_t>(drop.onto)].id;
    if (onto != id) Q_EMIT tabs_->compareRequested(onto, id);
    return;
  }
  const int to = drop.before > place ? drop.before - 1 : drop.before;
  if (to != place) Q_EMIT tabs_->moved(static_cast<size_t>(place), static_cast<size_t>(to));
}

void DocumentTabBar::paintEvent(QPaintEvent* event) {
  QTabBar::paintEvent(event);
  if (drop_.onto < 0 && drop_.before < 0) return;
  QPainter painter(this);
  const QColor accent = ToQColor(tabs_->theme_.accent);
  if (drop_.onto >= 0) {
    painter.setPen(QPen(accent, 2));
    painter.drawRect(tabRect(drop_.onto).adjusted(1, 1, -1, -1));
  } else if (count() > 0) {
    const int x =
        drop_.before < count() ? tabRect(drop_.before).left() : tabRect(count() - 1).right();
    painter.fillRect(QRect(x - 1, 0, 3, height()), accent);
  }
}

}  // namespace vramscope::ui
