// Labels, combo boxes and spin boxes in a few roles. The style sheet chooses colours by the
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
// `tone`: "good", "bad", "dim" or "faint", a colour of the theme in place of the role's.
void SetTone(QWidget* widget, const char* tone);

// Removes and deletes everything in a layout.
void ClearLayout(QLayout* layout);

// Fills the grid with labels and values in two columns, in place of its contents. The text of a
// value can be selected, and its tool tip shows the whole text.
enum class FactStyle { kRight, kRightMiddle, kLeft };
void FillFacts(QGridLayout* grid, const std::vector<Fact>& facts, FactStyle style);
QGridLayout* MakeFactGrid(QWidget* box, int spacing);

// Boxes for lists that scroll. The wheel never changes a combo box; it changes a spin box only
// while the spin box has the focus.
QComboBox* MakeComboBox();
// Emits valueChanged when editing is done, not for every digit. `refused` is called with a typed
// text that is not a number in range.
QSpinBox* MakeSpinBox(int low, int high, std::function<void(const QString&)> refused = {});
// A box for a number with decimals, like MakeSpinBox(). Shows only the digits that the number
// needs, such as "0.0001".
QDoubleSpinBox* MakeNumberBox(double low, double high);

// A label with several lines of text. Layouts use a minimum height of one line for such text and
// squeeze it; this label keeps the height of all lines at its width. A long word does not make its
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

// Elides its text instead of widening its parent; the tool tip shows all of it, and `tip` if any.
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
