#include "ui/panels/linked_facts.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <functional>

#include "ui/panels/form_widgets.h"

namespace vramscope::ui {
namespace {

// A label that follows its link on a click, Return or Enter.
class LinkLabel : public ElidedLabel {
 public:
  LinkLabel() : ElidedLabel(LabelRole::kBody, Qt::ElideMiddle) {
    setObjectName(QStringLiteral("link"));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    SetTone(this, "accent");
    QFont underlined = font();
    underlined.setUnderline(true);
    setFont(underlined);
  }
  void setFollow(std::function<void()> follow) { follow_ = std::move(follow); }

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
    // Following the link may delete this label together with follow_, so call a copy of follow_.
    const std::function<void()> follow = follow_;
    follow();
  }

  std::function<void()> follow_;
};

}  // namespace

LinkedFacts::LinkedFacts(QWidget* parent) : QWidget(parent), grid_(MakeFactGrid(this, 6)) {}

LinkedFacts::Kind LinkedFacts::KindOf(const timeline::LinkedFact& fact) {
  if (fact.sentence) return Kind::kSentence;
  return fact.link.to == timeline::Link::To::kNothing ? Kind::kText : Kind::kLink;
}

LinkedFacts::Row LinkedFacts::MakeRow(Kind kind) {
  Row row{.kind = kind, .label = MakeLabel({}, LabelRole::kDim)};
  if (kind == Kind::kSentence) {
    row.value = new WrappedLabel(LabelRole::kBody);
    row.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
  } else if (kind == Kind::kLink) {
    row.value = new LinkLabel;
  } else {
    auto* text = new ElidedLabel(LabelRole::kBody, Qt::ElideMiddle);
    text->setSelectable();
    row.value = text;
  }
  row.value->setAlignment(Qt::AlignRight);
  return row;
}

void LinkedFacts::Fill(const Row& row, const timeline::LinkedFact& fact) {
  row.label->setText(QString::fromStdString(fact.label));
  const QString value = QString::fromStdString(fact.value);
  if (row.kind == Kind::kSentence) {
    static_cast<WrappedLabel*>(row.value)->setWrappedText(value);
    return;
  }
  static_cast<ElidedLabel*>(row.value)->setFullText(value);
  if (row.kind == Kind::kLink)
    static_cast<LinkLabel*>(row.value)->setFollow(
        [this, link = fact.link] { Q_EMIT linkClicked(link); });
}

void LinkedFacts::set(const std::vector<timeline::LinkedFact>& facts) {
  shown_ = facts;
  setVisible(!facts.empty());
  // Reuse the first rows if their labels are of the kinds that the new facts need, because making
  // and laying out labels is slow.
  size_t kept = 0;
  while (kept < rows_.size() && kept < facts.size() && rows_[kept].kind == KindOf(facts[kept]))
    ++kept;
  for (; rows_.size() > kept; rows_.pop_back()) {
    for (QLabel* label : {rows_.back().label, rows_.back().value}) {
      grid_->removeWidget(label);
      label->hide();
      label->deleteLater();
    }
  }
  for (size_t i = 0; i < facts.size(); ++i) {
    if (i == rows_.size()) {
      rows_.push_back(MakeRow(KindOf(facts[i])));
      grid_->addWidget(rows_[i].label, static_cast<int>(i), 0, Qt::AlignTop);
      grid_->addWidget(rows_[i].value, static_cast<int>(i), 1);
    }
    Fill(rows_[i], facts[i]);
  }
}

}  // namespace vramscope::ui
