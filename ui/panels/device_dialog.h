// Which GPU a run or a program is planned for: one of the device table, found by words, a MIG slice
// of it, another amount of memory; or one that the table lacks, from a device file or by figures.
//
//   auto* dialog = new DeviceDialog(QStringLiteral("rtx-4090"), this);
//   connect(dialog, &DeviceDialog::chosen, this, [](const QString& device) { ... });
//   dialog->open();
#pragma once

#include <QDialog>
#include <QString>
#include <map>
#include <string>

#include "profiler/run/device_profile.h"

class QComboBox;
class QLineEdit;
class QPushButton;
class QTableWidget;
class QTabWidget;
class QToolButton;

namespace vramscope::ui {

class WrappedLabel;

class DeviceDialog : public QDialog {
  Q_OBJECT
 public:
  // `device`: as run::ReadDevice() reads it; what is chosen when the dialog opens.
  explicit DeviceDialog(const QString& device, QWidget* parent);

  // What is chosen as it stands; empty where that is no GPU.
  QString device() const;
  void setDevice(const QString& device);
  // A device file; what is wrong with it is said in the dialog.
  void openFile(const QString& path);

 Q_SIGNALS:
  void chosen(const QString& device);

 private:
  QWidget* MakeTablePage();
  QWidget* MakeFiguresPage();
  void Filter();
  void ShowSlices();
  void Check();
  void ShowProblem(const QString& problem);  // empty: none
  void accept() override;
  std::string Written() const;  // of the page that is shown
  QString SelectedKey() const;

  QTabWidget* pages_ = nullptr;
  QLineEdit* search_ = nullptr;
  QTableWidget* table_ = nullptr;
  QComboBox* slice_ = nullptr;
  QLineEdit* memory_ = nullptr;
  std::map<std::string, QLineEdit*> figures_;  // by name
  WrappedLabel* problem_ = nullptr;
  WrappedLabel* about_ = nullptr;
  QLineEdit* text_ = nullptr;  // "--device rtx-4090"
  QPushButton* ok_ = nullptr;
};

// "RTX 4090 · 24 GiB" of "NVIDIA GeForce RTX 4090".
QString ShortDeviceName(const run::DeviceProfile& device);

// A box with the device table, and at its end whatever else is shown in it.
void FillDevices(QComboBox* box);
void ShowDevice(QComboBox* box, const std::string& device);
// Beside such a box: opens the dialog, and tells the box's owner what was chosen.
QToolButton* MakeDeviceButton(const char* name);

}  // namespace vramscope::ui
