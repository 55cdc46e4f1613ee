// The window that session_restore_test kills: this test's program, started with "--drive".
#pragma once

#include <QStringList>

namespace vramscope::ui {

// The file of settings, then commands: "open=FILE", "edit=BATCH", "toggle=NUMBER", "note=TEXT",
// "run=SCRIPT". Prints "done" after each, when it is shown and stored ($VRAMSCOPE_DRIVE_STATE: with
// what it has, as JSON), and waits for its end.
int DriveWindow(const QStringList& arguments);

}  // namespace vramscope::ui
