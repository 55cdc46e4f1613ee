#include "ui/panels/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "ui/panels/form_widgets.h"

namespace vramscope::ui {
namespace {

constexpr int kWidestEdit = 460, kNarrowestEdit = 180;

QString FilterHelp() {
  return QObject::tr(
      "Enter text, or a filter such as: size > 10 MiB and module ~ attn and phase = "
      "backward\nFields: size, module, op, stack, file, phase, category, age, stream, step, name, "
      "duration, kind\nComparisons: = != < <= > >= ~ (contains) !~\nCombine comparisons with and, "
      "or, not and parentheses.");
}

}  // namespace

FindBar::FindBar(const char* edit_name, const QString& placeholder, QWidget* parent)
    : QWidget(parent) {
  line_ = new QHBoxLayout(this);
  line_->setContentsMargins(15, 6, 15, 4);
  line_->setSpacing(6);
  edit_ = new QLineEdit;
  edit_->setObjectName(QString::fromLatin1(edit_name));
  edit_->setPlaceholderText(placeholder);
  edit_->setToolTip(FilterHelp());
  edit_->setClearButtonEnabled(true);
  edit_->setMinimumWidth(kNarrowestEdit);
  edit_->setMaximumWidth(kWidestEdit);
  edit_->installEventFilter(this);
  line_->addWidget(edit_, 2);
  const auto button = [this](const QString& text, const QString& tip, int way) {
    auto* made = new QToolButton;
    made->setProperty("role", "quiet");
    made->setText(text);
    made->setToolTip(tip);
    made->setEnabled(false);
    connect(made, &QToolButton::clicked, this, [this, way] { Q_EMIT stepped(way); });
    line_->addWidget(made);
    return made;
  };
  previous_ = button(QStringLiteral("↑"), tr("Previous (Shift+F3, Shift+Enter)"), -1);
  next_ = button(QStringLiteral("↓"), tr("Next (F3, Enter)"), 1);
  auto* count = new ElidedLabel(LabelRole::kDim);
  count->setObjectName(QString::fromLatin1(edit_name) + QStringLiteral("Count"));
  count_ = count;
  line_->addWidget(count_, 1);
  connect(edit_, &QLineEdit::textChanged, this, &FindBar::Read);
}

void FindBar::Read() {
  const absl::StatusOr<query::Filter> filter = query::ParseSearch(edit_->text().toStdString());
  error_ = filter.ok() ? QString() : QString::fromStdString(std::string(filter.status().message()));
  if (filter.ok()) {
    Q_EMIT edited(*filter);
  }
  setCount(said_, steps_);
}

void FindBar::setCount(const QString& text, bool steps) {
  said_ = text;
  steps_ = steps;
  SetTone(count_, error_.isEmpty() ? "dim" : "bad");
  static_cast<ElidedLabel*>(count_)->setFullText(error_.isEmpty() ? said_ : error_);
  previous_->setEnabled(steps_ && error_.isEmpty());
  next_->setEnabled(steps_ && error_.isEmpty());
}

void FindBar::setText(const QString& text) { edit_->setText(text); }
QString FindBar::text() const { return edit_->text(); }
QString FindBar::count() const { return error_.isEmpty() ? said_ : error_; }

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  switch (key->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (steps_) Q_EMIT stepped(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return true;
    case Qt::Key_Down:
      if (below_ != nullptr) below_->setFocus();
      return true;
    case Qt::Key_Escape:
      if (edit_->text().isEmpty()) return QWidget::eventFilter(watched, event);
      edit_->clear();
      return true;
    default:
      return QWidget::eventFilter(watched, event);
  }
}

}  // namespace vramscope::ui
