#include "ui/panels/ranged_page.h"

#include <QToolButton>

#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {

void RangedPage::setRange(qint64 begin_ns, qint64 end_ns) {
  const auto range = begin_ns < end_ns ? std::pair{begin_ns, end_ns} : std::pair<qint64, qint64>{};
  if (range == range_) return;
  range_ = range;
  Stale();
}

void RangedPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) Ask();
}

void RangedPage::Stale() {
  stale_ = true;
  if (isVisible()) Ask();
}

QToolButton* RangedPage::MakeRangeButton(const QString& name, const QString& tip) {
  leave_ = new QToolButton;
  leave_->setObjectName(name);
  leave_->setProperty("role", "chip");
  leave_->setFont(PanelFont(timeline::Font::kSmall));
  leave_->setToolTip(tip);
  leave_->hide();
  connect(leave_, &QToolButton::clicked, this, &RangedPage::rangeLeft);
  return leave_;
}

void RangedPage::ShowRange() {
  stale_ = false;
  const bool range = indexes_ != nullptr && range_.first < range_.second;
  leave_->setVisible(range);
  if (range)
    leave_->setText(tr("in the range of %1  ✕")
                        .arg(QString::fromStdString(
                            timeline::LengthOf(indexes_->trace(), range_.second - range_.first))));
}

}  // namespace vramscope::ui
