// The window that session_restore_test kills: this test's program, started with "--drive".
#pragma once

#include <QStringList>

namespace vramscope::ui {

// `arguments`: the file of settings, then commands: "open=FILE", "edit=BATCH", "toggle=NUMBER",
// "note=TEXT", "run=SCRIPT". After each command, once its result is shown and stored, prints "done"
// (with $VRAMSCOPE_DRIVE_STATE: and the window's contents as JSON). Then waits to be killed.
int DriveWindow(const QStringList& arguments);

}  // namespace vramscope::ui
