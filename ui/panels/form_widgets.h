// Labels, combo boxes and spin boxes in a few roles. The style sheet chooses their colours by their
// property "role".
#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLayout>
#include <QSpinBox>
#include <QString>
#include <functional>
#include <vector>

#include "ui/panels/rows.h"

class QFrame;
class QGridLayout;

namespace vramscope::ui {

enum class LabelRole { kHeading, kGroup, kBody, kBold, kDim, kFaint, kNumber, kNumberDim };

QLabel* MakeLabel(const QString& text, LabelRole role);
QFrame* MakeLine();  // a line between two parts of a panel
// `tone`: "good", "bad", "dim" or "faint": a color of the theme that replaces the role's color.
void SetTone(QWidget* widget, const char* tone);

// Removes and deletes everything in a layout.
void ClearLayout(QLayout* layout);

// Fills the grid with labels and values in two columns, in place of its contents. The text of a
// value can be selected, and its tool tip shows the whole text.
enum class FactStyle { kRight, kRightMiddle, kLeft };
void FillFacts(QGridLayout* grid, const std::vector<Fact>& facts, FactStyle style);
QGridLayout* MakeFactGrid(QWidget* box, int spacing);

// Boxes that can be in a scrolling list: the wheel never changes a combo box, and changes a spin
// box only while that has the focus. A combo box that is too narrow for the text of its entry shows
// the entry's kShortTextRole, if it has one, and ends the text with an ellipsis if necessary.
constexpr int kShortTextRole = Qt::UserRole + 16;
QComboBox* MakeComboBox();
// Emits valueChanged once the user has finished editing, not for every digit. `refused` is called
// with a typed text that is not a number from `low` to `high`.
QSpinBox* MakeSpinBox(int low, int high, std::function<void(const QString&)> refused = {});
// A box for a number with decimals, like MakeSpinBox(). Shows only the digits that the number
// needs, such as "0.0001".
QDoubleSpinBox* MakeNumberBox(double low, double high);

// A label with several lines of text. A layout gives a QLabel with such a text as little as one
// line; this label keeps the height that all lines need at its width. A long word does not make its
// panel wider than the dock, where figures to its right would be cut off.
class WrappedLabel : public QLabel {
  Q_OBJECT
  Q_PROPERTY(QString wrappedText READ text WRITE setWrappedText)
 public:
  explicit WrappedLabel(LabelRole role);
  void setWrappedText(const QString& text);
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void KeepHeight();
};

// Elides its text, so that it does not widen its parent; the tool tip shows the whole text, and
// `tip` if there is one.
class ElidedLabel : public QLabel {
  Q_OBJECT
  Q_PROPERTY(QString fullText READ fullText WRITE setFullText)
 public:
  explicit ElidedLabel(LabelRole role, Qt::TextElideMode mode = Qt::ElideRight);
  void setFullText(const QString& text) { setFullText(text, {}); }
  void setFullText(const QString& text, const QString& tip);
  QString fullText() const { return text_; }
  Qt::TextElideMode mode() const { return mode_; }
  void setSelectable();  // the text can be selected with the mouse
  QSize minimumSizeHint() const override;
  QSize sizeHint() const override;  // the size of the whole text

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  void Elide();
  QString text_;
  QString tip_;
  Qt::TextElideMode mode_;
  bool selectable_ = false;
};

}  // namespace vramscope::ui
