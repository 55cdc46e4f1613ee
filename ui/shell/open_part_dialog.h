// The dialog "Open part of a recording", for files that are too large to open as a whole. The user
// chooses one device, a range of entries or a range of time.
#pragma once

#include <QDialog>

#include "profiler/importers/open.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace vramscope::ui {

class OpenPartDialog : public QDialog {
  Q_OBJECT
 public:
  OpenPartDialog(const QString& path, QWidget* parent);  // an empty path: the user chooses the file
  void setTimes(qint64 from_ns, qint64 to_ns);           // times since the first entry

 Q_SIGNALS:
  void chosen(const QString& path, const vramscope::importers::OpenOptions& part);

 private:
  void Check();
  void accept() override;
  QLineEdit* path_ = nullptr;
  QComboBox* device_ = nullptr;
  QLineEdit* first_ = nullptr;
  QLineEdit* last_ = nullptr;
  QLineEdit* from_ = nullptr;
  QLineEdit* to_ = nullptr;
  QLabel* problem_ = nullptr;
  QPushButton* open_ = nullptr;
  importers::OpenOptions part_;
};

}  // namespace vramscope::ui
