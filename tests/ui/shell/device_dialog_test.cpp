// Tests the dialog that chooses a GPU: search by words, MIG slices, other memory sizes, files,
// figures. Also opens a device file in the window. With VRAMSCOPE_TEST_PICTURES=FOLDER, writes
// images.
#include "ui/panels/device_dialog.h"

#include <gmock/gmock.h>

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableWidget>
#include <QTest>
#include <QToolButton>

#include "tests/ui/shell/shell_window.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DeviceDialogTest : public testing::ShellWindow {
 protected:
  DeviceDialog* OpenDialog() {
    window_->findChild<QToolButton*>(QStringLiteral("chooseDevice"))->click();
    dialog_ = window_->findChild<DeviceDialog*>();
    EXPECT_TRUE(WaitFor([this] { return dialog_ != nullptr && dialog_->isVisible(); }));
    return dialog_;
  }
  QLineEdit* Edit(const char* name) {
    return dialog_->findChild<QLineEdit*>(QString::fromLatin1(name));
  }
  int Rows() {
    const auto* table = dialog_->findChild<QTableWidget*>();
    int rows = 0;
    for (int i = 0; i < table->rowCount(); ++i) rows += table->isRowHidden(i) ? 0 : 1;
    return rows;
  }
  std::string Problem() {
    const auto* label = dialog_->findChild<QLabel*>(QStringLiteral("deviceProblem"));
    return label->isVisibleTo(dialog_) ? label->text().toStdString() : std::string();
  }
  QPushButton* Ok() {
    for (QPushButton* button : dialog_->findChildren<QPushButton*>())
      if (button->isDefault()) return button;
    return nullptr;
  }
  void SaveImage(const char* name) {
    const QString folder = qEnvironmentVariable("VRAMSCOPE_TEST_PICTURES");
    if (folder.isEmpty()) return;
    QTest::qWait(50);
    EXPECT_TRUE(dialog_->grab().save(QDir(folder).filePath(QString::fromLatin1(name))));
  }
  QString Write(const char* name, const char* content) {
    const QString path = folder_.filePath(QString::fromLatin1(name));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
    return path;
  }
  DeviceDialog* dialog_ = nullptr;
};

TEST_F(DeviceDialogTest, FindsAGpuByWords) {
  RunDefault();
  OpenDialog();
  EXPECT_EQ(dialog_->device(), "rtx-4090");  // the GPU of the plan
  const int all = Rows();
  EXPECT_GE(all, 75);
  SaveImage("table-dark.png");
  Edit("deviceSearch")->setText(QStringLiteral("3070 laptop"));
  EXPECT_EQ(Rows(), 2);  // the 3070 and the 3070 Ti
  EXPECT_EQ(dialog_->device(), "rtx-3070-laptop");
  EXPECT_EQ(Edit("deviceText")->text(), "--device rtx-3070-laptop");
  Edit("deviceSearch")->setText(QStringLiteral("turing"));
  EXPECT_GT(Rows(), 10);
  EXPECT_LT(Rows(), all);
  Edit("deviceSearch")->setText(QStringLiteral("voodoo"));
  EXPECT_EQ(Rows(), 0);
  EXPECT_FALSE(Ok()->isEnabled());
  EXPECT_THAT(Problem(), HasSubstr("No GPU"));
  Edit("deviceSearch")->setText(QStringLiteral("gtx 1650"));
  ASSERT_TRUE(Ok()->isEnabled());
  Ok()->click();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().device, "gtx-1650");
  EXPECT_EQ(window_->digest()->trace->info.device.key, "gtx-1650");
}

TEST_F(DeviceDialogTest, AcceptsMigSliceAndMemorySize) {
  RunDefault();
  OpenDialog();
  EXPECT_FALSE(dialog_->findChild<QComboBox*>(QStringLiteral("deviceSlice"))->isEnabled());
  dialog_->setDevice(QStringLiteral("a100-80gb"));
  auto* slice = dialog_->findChild<QComboBox*>(QStringLiteral("deviceSlice"));
  ASSERT_TRUE(slice->isEnabled());
  slice->setCurrentIndex(slice->findData(QStringLiteral("2g.20gb")));
  EXPECT_EQ(dialog_->device(), "a100-80gb:2g.20gb");
  Edit("deviceMemory")->setText(QStringLiteral("lots"));
  EXPECT_FALSE(Ok()->isEnabled());
  EXPECT_THAT(Problem(), AllOf(HasSubstr("memory"), HasSubstr("lots"), HasSubstr("24GiB")));
  Edit("deviceMemory")->setText(QStringLiteral("16GiB"));
  EXPECT_EQ(dialog_->device(), "a100-80gb:2g.20gb,memory=16GiB");
  SaveImage("slice-dark.png");
  Ok()->click();
  ASSERT_TRUE(Idle());
  const auto& device = window_->digest()->trace->info.device;
  EXPECT_EQ(device.memory_bytes, uint64_t{16} << 30);
  EXPECT_EQ(device.sm_count, 28u);
  // The box must show a device that is not in the table, and the dialog must open with it.
  EXPECT_THAT(window_->findChild<QComboBox*>(QStringLiteral("device"))->currentText().toStdString(),
              HasSubstr("2g.20gb"));
  OpenDialog();
  EXPECT_EQ(dialog_->device(), "a100-80gb:2g.20gb,memory=16GiB");
}

TEST_F(DeviceDialogTest, AcceptsFiguresAndDeviceFiles) {
  RunDefault();
  OpenDialog();
  dialog_->findChild<QTabWidget*>()->setCurrentIndex(1);
  EXPECT_FALSE(Ok()->isEnabled());
  EXPECT_THAT(Problem(), HasSubstr("properties"));
  Edit("figure.memory")->setText(QStringLiteral("24GiB"));
  EXPECT_THAT(Problem(), HasSubstr("compute_capability is missing"));
  Edit("figure.compute_capability")->setText(QStringLiteral("8.5"));
  EXPECT_THAT(Problem(), AllOf(HasSubstr("compute_capability"), HasSubstr("8.6")));
  SaveImage("figures-dark.png");
  Edit("figure.compute_capability")->setText(QStringLiteral("8.6"));
  Edit("figure.multiprocessors")->setText(QStringLiteral("28"));
  EXPECT_EQ(dialog_->device(), "memory=24GiB,compute_capability=8.6,multiprocessors=28");
  dialog_->openFile(Write("bad.json", R"({"memory": "24GiB"})"));
  EXPECT_THAT(Problem(), AllOf(HasSubstr("bad.json"), HasSubstr("compute_capability")));
  dialog_->openFile(Write("lab.json", R"({"name": "Lab GPU", "memory": "12GiB",
      "compute_capability": 8.9, "multiprocessors": 40, "bandwidth": "300GB/s"})"));
  EXPECT_EQ(Problem(), "");
  EXPECT_EQ(Edit("figure.name")->text(), "Lab GPU");
  window_->setThemeChoice(ThemeChoice::kLight);
  SaveImage("figures-light.png");
  Ok()->click();
  ASSERT_TRUE(Idle());
  const auto& device = window_->digest()->trace->info.device;
  EXPECT_EQ(device.name, "Lab GPU");
  EXPECT_EQ(device.memory_bytes, uint64_t{12} << 30);
  OpenDialog();
  dialog_->setDevice(QStringLiteral("t4"));
  SaveImage("table-light.png");
}

TEST_F(DeviceDialogTest, OpenedDeviceFileReplansForThatGpu) {
  RunDefault();
  window_->openFile(Write("my_gpu.json", R"({"name": "Mine", "memory": "10GiB",
      "compute_capability": 8.6, "multiprocessors": 30})"));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest()->trace->info.device.name, "Mine");
  EXPECT_EQ(window_->digest()->trace->info.config.model, "qwen2-0.5b") << "the model stays";
  window_->openFile(Write("wrong.json", R"({"memory": "10GiB", "compute_capability": 8.6,
      "multiprocessors": -1})"));
  EXPECT_THAT(Banner("text").toStdString(), AllOf(HasSubstr("multiprocessors"), HasSubstr("1024")));
  EXPECT_EQ(window_->config().device.find("name=Mine"), 0u) << "the earlier device stays";
}

}  // namespace
}  // namespace vramscope::ui
