// Where the docks of the window stand and how large they are: at first, restored, stored.
//
//   DockLayout layout(window, {.controls = ..., .breakdown = ...});
//   layout.restore(*settings);       // else fit() when the window is shown
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
  static constexpr int kControlsLeast = 316, kBreakdownLeast = 260;
  static constexpr int kTablesLeast = 150, kTablesLeastWidth = 320;

  // Of a window that has its docks: where they stand now is where reset() brings them.
  void start(QMainWindow* window, const Docks& docks);
  void restore(const QSettings& settings);
  void store(QSettings* settings) const;
  void shown();  // the window is, for the first time or again: only now is its
                 // size known
  void reset();  // all docks where and as large as they are at first
  // The page is all that there is to look at: it takes two thirds of the height, and gives them
  // back.
  void growTables(bool grown);

 private:
  void Fit();  // sizes that leave the canvas its part of the window
  // Of what is stored: of another version nothing is taken over.
  static constexpr int kVersion = 3;
  QMainWindow* window_ = nullptr;
  Docks docks_;
  QByteArray first_;
  bool restored_ = false, shown_once_ = false;
  int tables_height_ = 0;  // before they took more
};

}  // namespace vramscope::ui
