#include "ui/panels/linked_facts.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <functional>

#include "ui/panels/form_widgets.h"

namespace vramscope::ui {
namespace {

class LinkLabel : public ElidedLabel {
 public:
  explicit LinkLabel(std::function<void()> follow)
      : ElidedLabel(LabelRole::kBody, Qt::ElideMiddle), follow_(std::move(follow)) {
    setObjectName(QStringLiteral("link"));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    SetTone(this, "accent");
    QFont underlined = font();
    underlined.setUnderline(true);
    setFont(underlined);
  }

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) Follow();
  }
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
      Follow();
    } else {
      ElidedLabel::keyPressEvent(event);
    }
  }

 private:
  void Follow() {
    // A copy, because following the link may delete this label.
    const std::function<void()> follow = follow_;
    follow();
  }

  std::function<void()> follow_;
};

}  // namespace

LinkedFacts::LinkedFacts(QWidget* parent) : QWidget(parent), grid_(MakeFactGrid(this, 6)) {}

void LinkedFacts::set(const std::vector<timeline::LinkedFact>& facts) {
  shown_ = facts;
  ClearLayout(grid_);
  int line = 0;
  for (const timeline::LinkedFact& fact : facts) {
    grid_->addWidget(MakeLabel(QString::fromStdString(fact.label), LabelRole::kDim), line, 0,
                     Qt::AlignTop);
    if (fact.sentence) {
      auto* value = new WrappedLabel(LabelRole::kBody);
      value->setAlignment(Qt::AlignRight);
      value->setTextInteractionFlags(Qt::TextSelectableByMouse);
      value->setWrappedText(QString::fromStdString(fact.value));
      grid_->addWidget(value, line++, 1);
      continue;
    }
    ElidedLabel* value = nullptr;
    if (fact.link.to == timeline::Link::To::kNothing) {
      value = new ElidedLabel(LabelRole::kBody, Qt::ElideMiddle);
      value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    } else {
      value = new LinkLabel([this, link = fact.link] { Q_EMIT linkClicked(link); });
    }
    value->setAlignment(Qt::AlignRight);
    value->setFullText(QString::fromStdString(fact.value));
    grid_->addWidget(value, line++, 1);
  }
  setVisible(!facts.empty());
}

}  // namespace vramscope::ui
