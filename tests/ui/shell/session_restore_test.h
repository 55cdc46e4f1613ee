// session_restore_test starts its own program with "--drive" to run the window that it
// kills.
#pragma once

#include <QStringList>

namespace vramscope::ui {

// `arguments` are the file of settings and commands: "open=FILE", "edit=BATCH", "toggle=NUMBER",
// "note=TEXT", "run=SCRIPT". Prints "done" after each command, once its result is shown and stored,
// and with $VRAMSCOPE_DRIVE_STATE also the window's contents as JSON. Then waits to be killed.
int DriveWindow(const QStringList& arguments);

}  // namespace vramscope::ui
