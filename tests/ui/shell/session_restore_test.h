// The window that session_restore_test kills runs in the test's own program, started with
// "--drive".
#pragma once

#include <QStringList>

namespace vramscope::ui {

// `arguments` are the file of settings and commands: "open=FILE", "edit=BATCH", "toggle=NUMBER",
// "note=TEXT", "run=SCRIPT". Prints "done" after each command, once its result is shown and stored,
// and with $VRAMSCOPE_DRIVE_STATE also the window's contents as JSON. Then waits to be killed.
int DriveWindow(const QStringList& arguments);

}  // namespace vramscope::ui
