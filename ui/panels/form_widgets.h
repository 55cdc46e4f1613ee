// Makes labels, combo boxes and spin boxes. The window's style chooses the labels' colours by their
// properties "role" and "tone".
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
// Replaces the colour of the widget's role by a colour of the theme. `tone`: "good", "bad", "dim"
// or "faint".
void SetTone(QWidget* widget, const char* tone);

// Removes and deletes everything in a layout.
void ClearLayout(QLayout* layout);

// Replaces the contents of the grid by labels and values in two columns. The user can select the
// text of a value. A value's tool tip shows its whole text.
enum class FactStyle { kRight, kRightMiddle, kLeft };
void FillFacts(QGridLayout* grid, const std::vector<Fact>& facts, FactStyle style);
QGridLayout* MakeFactGrid(QWidget* box, int spacing);

// Boxes for use in a scrolling list. The mouse wheel never changes a combo box, and it changes a
// spin box only while the spin box has the focus. If an entry's text does not fit, a combo box
// shows the entry's kShortTextRole instead.
constexpr int kShortTextRole = Qt::UserRole + 16;
QComboBox* MakeComboBox();
// Emits valueChanged when the user finishes editing, not for every digit. If the text is not a
// number from `low` to `high`, calls `refused` with the text.
QSpinBox* MakeSpinBox(int low, int high, std::function<void(const QString&)> refused = {});
// Makes a box like MakeSpinBox(), but for numbers with decimals. Shows only the digits that a
// number needs, such as "0.0001".
QDoubleSpinBox* MakeNumberBox(double low, double high);

// A label with several lines of text. A layout may reduce the height of a QLabel to one line. A
// WrappedLabel keeps the height that all its lines need at its width. A long word does not make it
// wider, because the dock would then cut off figures on the right.
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

// A label that elides its text, so that it does not widen its parent. The tool tip shows the whole
// text, followed by `tip` if there is one.
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
