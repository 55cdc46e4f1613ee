#include "ui/panels/form_widgets.h"

#include <QEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QResizeEvent>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QWheelEvent>
#include <algorithm>
#include <utility>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

using timeline::Font;

// Maximum width in pixels of one word; a technique's row has at least this width for its text.
constexpr int kWidestWord = 150;
constexpr double kHeadingSpacing = 0.4;  // pixels between the letters of a heading

const char* RoleName(LabelRole role) {
  switch (role) {
    case LabelRole::kHeading:
      return "heading";
    case LabelRole::kGroup:
      return "group";
    case LabelRole::kBody:
    case LabelRole::kBold:
    case LabelRole::kNumber:
      return "body";
    case LabelRole::kDim:
    case LabelRole::kNumberDim:
      return "dim";
    case LabelRole::kFaint:
      return "faint";
  }
  return "body";
}

QFont RoleFont(LabelRole role) {
  switch (role) {
    case LabelRole::kHeading: {
      QFont font = PanelFont(Font::kSmallBold);
      font.setLetterSpacing(QFont::AbsoluteSpacing, kHeadingSpacing);
      return font;
    }
    case LabelRole::kGroup:
      return PanelFont(Font::kSmallBold);
    case LabelRole::kBody:
      return PanelFont(Font::kBody);
    case LabelRole::kBold:
      return PanelFont(Font::kBodyBold);
    case LabelRole::kDim:
    case LabelRole::kFaint:
      return PanelFont(Font::kSmall);
    case LabelRole::kNumber:
      return PanelFont(Font::kMono);
    case LabelRole::kNumberDim:
      return PanelFont(Font::kMonoSmall);
  }
  return PanelFont(Font::kBody);
}

// Ignores the mouse wheel over a combo box, and over a spin box that does not have the focus, so
// that scrolling a panel changes no setting. (The open list of a combo box is a separate widget and
// still scrolls.) Passes Undo and Redo to the window, because a spin box would otherwise apply them
// to its text.
class InputGuard : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::ShortcutOverride) {
      const auto* key = static_cast<QKeyEvent*>(event);
      if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
      event->ignore();
      return true;
    }
    auto* widget = qobject_cast<QWidget*>(watched);
    if (event->type() == QEvent::Wheel && widget != nullptr &&
        (!widget->hasFocus() || qobject_cast<QComboBox*>(widget) != nullptr)) {
      event->ignore();
      return true;
    }
    return false;
  }
};

}  // namespace

QFrame* MakeLine() {
  auto* line = new QFrame;
  line->setObjectName(QStringLiteral("thinLine"));
  line->setAttribute(Qt::WA_StyledBackground);
  line->setFixedHeight(1);
  return line;
}

QLabel* MakeLabel(const QString& text, LabelRole role) {
  auto* label = new QLabel(text);
  label->setFont(RoleFont(role));
  label->setProperty("role", QString::fromLatin1(RoleName(role)));
  return label;
}

void SetTone(QWidget* widget, const char* tone) {
  const QString text = QString::fromLatin1(tone);
  if (widget->property("tone").toString() == text) return;
  widget->setProperty("tone", text);
  widget->style()->polish(widget);
  widget->update();
}

void ClearLayout(QLayout* layout) {
  while (QLayoutItem* item = layout->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
}

QGridLayout* MakeFactGrid(QWidget* box, int spacing) {
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(spacing);
  grid->setColumnStretch(1, 1);
  return grid;
}

namespace {

// Returns the widget in a cell of a grid. Null if there is none or if it is not a `Widget`.
template <typename Widget>
Widget* At(const QGridLayout* grid, int row, int column) {
  const QLayoutItem* item = grid->itemAtPosition(row, column);
  return item == nullptr ? nullptr : qobject_cast<Widget*>(item->widget());
}

// Returns true if the grid has `rows` rows of fact labels, all of which have the elide mode `mode`.
bool HasFactRows(const QGridLayout* grid, size_t rows, Qt::TextElideMode mode) {
  if (static_cast<size_t>(grid->count()) != 2 * rows) return false;
  for (int i = 0; i < static_cast<int>(rows); ++i) {
    const auto* value = At<ElidedLabel>(grid, i, 1);
    if (At<QLabel>(grid, i, 0) == nullptr || value == nullptr || value->mode() != mode)
      return false;
  }
  return true;
}

}  // namespace

void FillFacts(QGridLayout* grid, const std::vector<Fact>& facts, FactStyle style) {
  const Qt::TextElideMode mode =
      style == FactStyle::kRightMiddle ? Qt::ElideMiddle : Qt::ElideRight;
  // Reuse the labels. Making and laying out new labels would take most of the time of a selection.
  if (!HasFactRows(grid, facts.size(), mode)) {
    ClearLayout(grid);
    for (int i = 0; i < static_cast<int>(facts.size()); ++i) {
      grid->addWidget(MakeLabel({}, LabelRole::kDim), i, 0, Qt::AlignTop);
      auto* value = new ElidedLabel(LabelRole::kBody, mode);
      value->setSelectable();
      grid->addWidget(value, i, 1);
    }
  }
  for (int i = 0; i < static_cast<int>(facts.size()); ++i) {
    const Fact& fact = facts[static_cast<size_t>(i)];
    At<QLabel>(grid, i, 0)->setText(QString::fromStdString(fact.label));
    auto* value = At<ElidedLabel>(grid, i, 1);
    value->setAlignment(style == FactStyle::kLeft ? Qt::AlignLeft : Qt::AlignRight);
    value->setFullText(QString::fromStdString(fact.value));
  }
}

namespace {

// A combo box that elides a text that is too long for it. QComboBox would cut the text in the
// middle of a letter.
class ElidingComboBox : public QComboBox {
 protected:
  void initStyleOption(QStyleOptionComboBox* option) const override {
    QComboBox::initStyleOption(option);
    const QRect text =
        style()->subControlRect(QStyle::CC_ComboBox, option, QStyle::SC_ComboBoxEditField, this);
    const int width = text.width() - 2;
    if (option->fontMetrics.horizontalAdvance(option->currentText) > width) {
      const QString shorter = currentData(kShortTextRole).toString();
      if (!shorter.isEmpty()) option->currentText = shorter;
    }
    option->currentText =
        option->fontMetrics.elidedText(option->currentText, Qt::ElideRight, width);
  }
};

}  // namespace

QComboBox* MakeComboBox() {
  auto* box = new ElidingComboBox;
  box->setFont(PanelFont(Font::kBody));
  box->setFocusPolicy(Qt::StrongFocus);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(6);
  box->installEventFilter(new InputGuard(box));
  return box;
}

namespace {

void SetUpBox(QAbstractSpinBox* box) {
  box->setFont(PanelFont(Font::kBody));
  box->setKeyboardTracking(false);
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setFocusPolicy(Qt::StrongFocus);
  box->setMinimumWidth(44);
  box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  box->installEventFilter(new InputGuard(box));
}

// Accepts any text while the user types. When the user has finished, refuses a text that is not a
// number in the range.
class WholeNumberBox : public QSpinBox {
 public:
  explicit WholeNumberBox(std::function<void(const QString&)> refused)
      : refused_(std::move(refused)) {}
  QValidator::State validate(QString& text, int& at) const override {
    const QValidator::State state = QSpinBox::validate(text, at);
    return state == QValidator::Invalid && refused_ ? QValidator::Intermediate : state;
  }
  // Qt calls this when the user has finished and the text is not acceptable. Restores the previous
  // number.
  void fixup(QString& text) const override {
    const QString typed = text;
    QSpinBox::fixup(text);
    int at = 0;
    if (refused_ && QSpinBox::validate(text, at) != QValidator::Acceptable) refused_(typed);
  }

 private:
  std::function<void(const QString&)> refused_;
};

class NumberBox : public QDoubleSpinBox {
 public:
  QString textFromValue(double value) const override {
    return QLocale(QLocale::C).toString(value, 'f', QLocale::FloatingPointShortest);
  }
};

}  // namespace

QSpinBox* MakeSpinBox(int low, int high, std::function<void(const QString&)> refused) {
  auto* box = new WholeNumberBox(std::move(refused));
  SetUpBox(box);
  box->setRange(low, high);
  return box;
}

QDoubleSpinBox* MakeNumberBox(double low, double high) {
  auto* box = new NumberBox;
  SetUpBox(box);
  box->setLocale(QLocale::C);
  box->setDecimals(9);
  box->setRange(low, high);
  box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  return box;
}

WrappedLabel::WrappedLabel(LabelRole role) {
  setFont(RoleFont(role));
  setProperty("role", QString::fromLatin1(RoleName(role)));
  setWordWrap(true);
}

void WrappedLabel::setWrappedText(const QString& text) {
  if (text == this->text()) return;
  setText(text);
  // A hidden label has no valid width yet. When it is shown, resizeEvent() sets the height.
  if (isVisible()) {
    KeepHeight();
  } else {
    setMinimumHeight(0);
  }
}

QSize WrappedLabel::minimumSizeHint() const {
  return QLabel::minimumSizeHint().boundedTo({kWidestWord, QWIDGETSIZE_MAX});
}

void WrappedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  KeepHeight();
}

void WrappedLabel::KeepHeight() {
  // Reset the minimum height first, because heightForWidth() returns at least that height. For an
  // empty text, heightForWidth() returns -1.
  setMinimumHeight(0);
  setMinimumHeight(std::max(0, heightForWidth(width())));
}

ElidedLabel::ElidedLabel(LabelRole role, Qt::TextElideMode mode) : mode_(mode) {
  setFont(RoleFont(role));
  setProperty("role", QString::fromLatin1(RoleName(role)));
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::setFullText(const QString& text, const QString& tip) {
  if (text == text_ && tip == tip_) return;
  text_ = text;
  tip_ = tip;
  updateGeometry();
  Elide();
}

// A QLabel lays out selectable text as a document, which is slow for a panel full of labels. So the
// text becomes selectable only when the pointer enters the label.
void ElidedLabel::setSelectable() { selectable_ = true; }

void ElidedLabel::enterEvent(QEnterEvent* event) {
  if (selectable_) setTextInteractionFlags(Qt::TextSelectableByMouse);
  QLabel::enterEvent(event);
}

void ElidedLabel::leaveEvent(QEvent* event) {
  if (selectable_ && !hasSelectedText()) setTextInteractionFlags(Qt::NoTextInteraction);
  QLabel::leaveEvent(event);
}

QSize ElidedLabel::minimumSizeHint() const { return {10, sizeHint().height()}; }

QSize ElidedLabel::sizeHint() const {
  const QMargins around = contentsMargins();
  return {fontMetrics().horizontalAdvance(text_) + 2,
          fontMetrics().height() + 2 * margin() + around.top() + around.bottom()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  Elide();
}

void ElidedLabel::Elide() {
  const QString shown = fontMetrics().elidedText(text_, mode_, std::max(width(), 10));
  setText(shown);
  QStringList tips;
  if (shown != text_) tips << text_;
  if (!tip_.isEmpty()) tips << tip_;
  setToolTip(tips.join(QLatin1Char('\n')));
}

}  // namespace vramscope::ui
