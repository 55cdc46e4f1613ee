// session_restore_test starts its own program with "--drive" to run the window that it
// kills.
#pragma once

#include <QStringList>

namespace vramscope::ui {

// `arguments` are the settings file and commands: "open=FILE", "edit=BATCH", "toggle=NUMBER",
// "note=TEXT", "run=SCRIPT". When the result of a command is shown and stored, prints "done", and
// if $VRAMSCOPE_DRIVE_STATE is set, the window's contents as JSON. Then waits to be killed.
int DriveWindow(const QStringList& arguments);

}  // namespace vramscope::ui
