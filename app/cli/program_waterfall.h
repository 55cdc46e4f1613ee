// `waterfall --toggle NAME ... -- PROGRAM`: adds the toggles one after the other.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

// Makes one bar for each toggle of `options`, in their order. `output`: the SVG file; "": no file;
// "-": standard output.
ExitCode WaterfallOfProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                            const std::string& output, bool json);

}  // namespace vramscope::cli
