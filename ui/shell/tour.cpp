#include "ui/shell/tour.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/panels/form_widgets.h"

namespace vramscope::ui {
namespace {

constexpr int kTourWidth = 380, kTourGap = 12, kTourBorder = 2;

}  // namespace

// The border around a step's target. Mouse events pass through it.
class Tour::Border : public QWidget {
 public:
  explicit Border(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("tourBorder"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(QPen(palette().color(QPalette::Highlight), kTourBorder));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
  }
};

Tour::Tour(QWidget* window) : QFrame(window), window_(window), border_(new Border(window)) {
  setObjectName(QStringLiteral("tour"));
  setFocusPolicy(Qt::StrongFocus);
  setFixedWidth(kTourWidth);
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 14, 18, 14);
  column->setSpacing(8);
  count_ = MakeLabel({}, LabelRole::kDim);
  column->addWidget(count_);
  title_ = MakeLabel({}, LabelRole::kBold);
  title_->setObjectName(QStringLiteral("tourTitle"));
  column->addWidget(title_);
  text_ = new WrappedLabel(LabelRole::kBody);
  text_->setObjectName(QStringLiteral("tourText"));
  column->addWidget(text_);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(0, 6, 0, 0);
  const auto button = [&](const char* name, const QString& text) {
    auto* made = new QPushButton(text);
    made->setObjectName(QString::fromLatin1(name));
    made->setFocusPolicy(Qt::NoFocus);  // the callout itself handles the keys
    line->addWidget(made);
    return made;
  };
  close_ = button("tourClose", tr("End the tour"));
  line->addStretch();
  back_ = button("tourBack", tr("Back"));
  next_ = button("tourNext", tr("Next"));
  column->addLayout(line);
  connect(close_, &QPushButton::clicked, this, &Tour::end);
  connect(back_, &QPushButton::clicked, this, [this] { go(at_ - 1); });
  connect(next_, &QPushButton::clicked, this, [this] { go(at_ + 1); });
  window_->installEventFilter(this);
  hide();
}

void Tour::start(std::vector<TourStep> steps) {
  steps_ = std::move(steps);
  if (steps_.empty()) return end();
  show();
  go(0);
  setFocus();
}

void Tour::go(size_t step) {
  if (step == steps_.size()) return end();
  if (step > steps_.size()) return;
  if (at_ < steps_.size() && steps_[at_].target) steps_[at_].target->removeEventFilter(this);
  at_ = step;
  const TourStep& now = steps_[at_];
  if (now.before) now.before();
  if (now.target) now.target->installEventFilter(this);
  count_->setText(tr("%1 of %2").arg(at_ + 1).arg(steps_.size()));
  title_->setText(now.title);
  text_->setWrappedText(now.text);
  back_->setEnabled(at_ > 0);
  next_->setText(at_ + 1 == steps_.size() ? tr("Done") : tr("Next"));
  Place();
  // Place the callout later, because a target that was just shown gets its geometry in the event
  // loop.
  QTimer::singleShot(0, this, &Tour::Place);
  setFocus();
}

// Places the callout next to a small target, or inside a large target. The callout stays within the
// window, and does not cover a small target.
void Tour::Place() {
  if (at_ >= steps_.size()) return;
  adjustSize();
  QWidget* target = steps_[at_].target;
  QRect area = window_->rect();
  border_->setVisible(target != nullptr && target->isVisible());
  if (border_->isVisible()) {
    area = QRect(target->mapTo(window_, QPoint(0, 0)), target->size());
    border_->setGeometry(area.adjusted(-kTourBorder, -kTourBorder, kTourBorder, kTourBorder));
    border_->raise();
  }
  const QRect whole = window_->rect().adjusted(kTourGap, kTourGap, -kTourGap, -kTourGap);
  QPoint at;
  if (area.width() > 2 * width()) {
    at = {area.right() - width() - 2 * kTourGap, area.top() + 2 * kTourGap};
    if (area.height() < 2 * height()) at.setY(area.top() - height() - kTourGap);
  } else {
    const bool right = area.right() + kTourGap + width() < whole.right();
    at = {right ? area.right() + kTourGap : area.left() - kTourGap - width(),
          area.top() + kTourGap};
  }
  at.setX(std::clamp(at.x(), whole.left(), std::max(whole.left(), whole.right() - width())));
  at.setY(std::clamp(at.y(), whole.top(), std::max(whole.top(), whole.bottom() - height())));
  move(at);
  raise();
}

void Tour::end() {
  window_->removeEventFilter(this);
  if (at_ < steps_.size() && steps_[at_].target) steps_[at_].target->removeEventFilter(this);
  steps_.clear();
  hide();
  if (border_) border_->deleteLater();
  deleteLater();
  Q_EMIT ended();
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize || event->type() == QEvent::Move ||
      event->type() == QEvent::Show || event->type() == QEvent::Hide)
    QTimer::singleShot(0, this, &Tour::Place);
  return QFrame::eventFilter(watched, event);
}

void Tour::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Right:
      return go(at_ + 1);
    case Qt::Key_Left:
      if (at_ > 0) go(at_ - 1);
      return;
    case Qt::Key_Escape:
      return end();
    default:
      QFrame::keyPressEvent(event);
  }
}

QJsonObject Tour::dumpState() const {
  return {{"step", static_cast<int>(at_)},
          {"steps", static_cast<int>(steps_.size())},
          {"title", title_->text()},
          {"text", text_->text()}};
}

}  // namespace vramscope::ui
