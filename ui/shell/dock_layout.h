// Gives the window's docks their initial positions and sizes. Stores and restores these.
//
//   DockLayout layout;
//   layout.start(window, {.controls = ..., .breakdown = ...});
//   layout.restore(settings);  // if nothing is stored, Fit() runs when the window is shown
//
// UI thread only.
#pragma once

#include <QByteArray>
#include <QSettings>

class QDockWidget;
class QMainWindow;

namespace vramscope::ui {

class DockLayout {
 public:
  struct Docks {
    QDockWidget* controls = nullptr;
    QDockWidget* history = nullptr;
    QDockWidget* breakdown = nullptr;
    QDockWidget* tables = nullptr;
  };
  static constexpr int kControlsLeast = 326, kBreakdownLeast = 260;
  static constexpr int kTablesLeast = 150, kTablesLeastWidth = 320;

  // Call it when the window has all its docks. reset() later restores the positions that they have
  // then.
  void start(QMainWindow* window, const Docks& docks);
  void restore(const QSettings& settings);
  void store(QSettings* settings) const;
  void shown();  // call it whenever the window is shown: only then is its size known
  void reset();  // restores the initial positions and sizes
  // `grown`: gives the tables two thirds of the height, for a document without a timeline.
  // Otherwise restores the height that they had before.
  void growTables(bool grown);

 private:
  void Fit();  // chooses sizes for the docks that leave enough space for the canvas
  // The version of the stored layout. A stored layout of another version is ignored.
  static constexpr int kVersion = 3;
  QMainWindow* window_ = nullptr;
  Docks docks_;
  QByteArray first_;
  bool restored_ = false, shown_once_ = false;
  int tables_height_ = 0;  // height of the tables before growTables(true)
};

}  // namespace vramscope::ui
