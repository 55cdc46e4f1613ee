// Sets the initial positions and sizes of the window's docks, stores them and restores them.
//
//   DockLayout layout(window, {.controls = ..., .breakdown = ...});
//   layout.restore(*settings); // without stored settings, Fit() when shown
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

  // Call it when the window has its docks. reset() later restores the positions that they have now.
  void start(QMainWindow* window, const Docks& docks);
  void restore(const QSettings& settings);
  void store(QSettings* settings) const;
  void shown();  // call it whenever the window is shown: only then is the window's size known
  void reset();  // restores the initial positions and sizes
  // true, for a document without a timeline: gives the tables two thirds of the height; false:
  // gives them their previous height.
  void growTables(bool grown);

 private:
  void Fit();  // chooses sizes that leave enough room for the canvas
  // Version of the stored layout; layouts of other versions are ignored.
  static constexpr int kVersion = 3;
  QMainWindow* window_ = nullptr;
  Docks docks_;
  QByteArray first_;
  bool restored_ = false, shown_once_ = false;
  int tables_height_ = 0;  // height of the tables before growTables(true)
};

}  // namespace vramscope::ui
