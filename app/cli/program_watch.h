// `plan --watch -- PROGRAM`: plans again whenever one of the program's files is saved, and prints
// what changed.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/plan.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

// Blocks until Ctrl-C.
ExitCode WatchProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                      const RunOutput& output);

// Returns the lines of a program's last output that show why it failed: the error and, if there is
// a traceback, the line of source code.
std::vector<std::string> ErrorLines(const std::vector<std::string>& printed);
// Returns the files named in the Python tracebacks among these lines.
std::vector<std::string> TracebackFiles(const std::vector<std::string>& printed);

}  // namespace vramscope::cli
