// Labels, combo and spin boxes in the shell's few roles. Colours come from the style sheet, which
// looks at the "role" property.
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
QFrame* MakeLine();  // between two parts of a panel
// "good", "bad", "dim", "faint": a colour of the theme over the role's own.
void SetTone(QWidget* widget, const char* tone);

// Takes everything out of a layout and deletes it.
void ClearLayout(QLayout* layout);

// Label and value in two columns; the whole value is in the tool tip and can be selected. What was
// there goes.
enum class FactStyle { kRight, kRightMiddle, kLeft };
void FillFacts(QGridLayout* grid, const std::vector<Fact>& facts, FactStyle style);
QGridLayout* MakeFactGrid(QWidget* box, int spacing);

// They stand in a list that scrolls: the wheel changes no combo box, and a spin box only while it
// has the focus.
QComboBox* MakeComboBox();
// Emits valueChanged when editing is done, not for every digit. `refused`: called with what was
// typed and is no number of the range.
QSpinBox* MakeSpinBox(int low, int high, std::function<void(const QString&)> refused = {});
// Likewise; with the digits that its number has, "0.0001".
QDoubleSpinBox* MakeNumberBox(double low, double high);

// Text of several lines. A layout takes the least height of such text for one line's and squeezes
// it; this keeps the height of all of them at the width that it has.
class WrappedLabel : public QLabel {
  Q_OBJECT
  Q_PROPERTY(QString wrappedText READ text WRITE setWrappedText)
 public:
  explicit WrappedLabel(LabelRole role);
  void setWrappedText(const QString& text);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void KeepHeight();
};

// Cuts its text with an ellipsis in place of widening its parent; the tool tip has the whole.
class ElidedLabel : public QLabel {
  Q_OBJECT
  Q_PROPERTY(QString fullText READ fullText WRITE setFullText)
 public:
  explicit ElidedLabel(LabelRole role, Qt::TextElideMode mode = Qt::ElideRight);
  void setFullText(const QString& text);
  QString fullText() const { return text_; }
  QSize minimumSizeHint() const override;
  QSize sizeHint() const override;  // of the whole text

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void Elide();
  QString text_;
  Qt::TextElideMode mode_;
};

}  // namespace vramscope::ui
