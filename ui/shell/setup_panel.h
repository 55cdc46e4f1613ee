// A panel above the settings of the built-in models, which is visible if LibTorch is missing. It
// states why LibTorch is missing and what the window shows instead of plans, and offers the
// download.
//
//   panel->setMissing({.can_download = true, .why = "...", .folder = ...});
//   connect(panel, &SetupPanel::downloadRequested, ...);
//
// The panel does not download anything itself.
#pragma once

#include <QFrame>
#include <QJsonObject>

#include "ui/setup/torch_download.h"

class QLabel;
class QProgressBar;
class QToolButton;

namespace vramscope::ui {

class WrappedLabel;

class SetupPanel : public QFrame {
  Q_OBJECT
 public:
  struct Missing {
    bool can_download = false;
    QString why;      // "LibTorch 2.11.0 is not installed"
    QString details;  // the unusable installations that were found
    QString folder;   // the folder in which LibTorch will be installed
    // bytes: to download; unpacked: bytes needed on disk; there: bytes that are already downloaded
    quint64 bytes = 0, unpacked = 0, there = 0;
    bool samples = false;
  };
  explicit SetupPanel(QWidget* parent = nullptr);

  void setMissing(const Missing& missing);
  void setProgress(const TorchDownload::Progress& progress);
  void setFailed(const QString& why);  // empty: the user cancelled
  bool canDownload() const { return missing_.can_download; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void downloadRequested();
  void cancelRequested();

 private:
  void ShowIdle();

  Missing missing_;
  WrappedLabel* title_ = nullptr;
  WrappedLabel* text_ = nullptr;
  WrappedLabel* details_ = nullptr;
  WrappedLabel* error_ = nullptr;
  QProgressBar* bar_ = nullptr;
  WrappedLabel* state_ = nullptr;
  QToolButton* button_ = nullptr;
  bool downloading_ = false;
};

// Example: "Downloaded 123.0 MiB of 506.0 MiB, 12.1 MiB/s, 32 s left".
QString ProgressText(const TorchDownload::Progress& progress);

}  // namespace vramscope::ui
