// `plan --watch -- PROGRAM`: planned again whenever one of its files is saved, and what that
// changed.
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

// The lines that say why a program failed, of what it printed last: the error itself, with the
// place where Python tells one.
std::vector<std::string> ErrorLines(const std::vector<std::string>& printed);
// The files that Python's tracebacks among these lines name.
std::vector<std::string> TracebackFiles(const std::vector<std::string>& printed);

}  // namespace vramscope::cli
