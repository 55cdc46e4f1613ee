// A dialog to choose the GPU for which a run or program is planned. The user selects a GPU from the
// device table, opens a device file, or enters the figures of a GPU. The user can also choose a MIG
// slice or another memory size.
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
  // `device`: the initial choice, in the form that run::ReadDevice() accepts.
  explicit DeviceDialog(const QString& device, QWidget* parent);

  // Returns the current choice, or an empty text if it is not a valid GPU.
  QString device() const;
  void setDevice(const QString& device);
  // Reads a device file. If the file has errors, the dialog shows them.
  void openFile(const QString& path);

 Q_SIGNALS:
  void chosen(const QString& device);

 private:
  QWidget* MakeTablePage();
  QWidget* MakeFiguresPage();
  void Filter();
  void ShowSlices();
  void Check();
  void ShowProblem(const QString& problem);  // empty: hides the problem
  void accept() override;
  std::string Written() const;  // returns the device that the visible page describes
  QString SelectedKey() const;

  QTabWidget* pages_ = nullptr;
  QLineEdit* search_ = nullptr;
  QTableWidget* table_ = nullptr;
  QComboBox* slice_ = nullptr;
  QLineEdit* memory_ = nullptr;
  std::map<std::string, QLineEdit*> figures_;  // key: name of the figure
  WrappedLabel* problem_ = nullptr;
  WrappedLabel* about_ = nullptr;
  QLineEdit* text_ = nullptr;  // the text that shows the choice as an option: "--device rtx-4090"
  QPushButton* ok_ = nullptr;
};

// Shortens "NVIDIA GeForce RTX 4090" to "RTX 4090 · 24 GiB".
QString ShortDeviceName(const run::DeviceProfile& device);

// Fills a combo box with the device table. ShowDevice() appends a device that is not in the table.
void FillDevices(QComboBox* box);
void ShowDevice(QComboBox* box, const std::string& device);
// Makes a button to put next to a box of devices. The caller must open the dialog on a click.
QToolButton* MakeDeviceButton(const char* name);

}  // namespace vramscope::ui
