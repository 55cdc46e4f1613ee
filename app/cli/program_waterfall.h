// `waterfall --toggle NAME ... -- PROGRAM`: plans the program with one more toggle each time.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

// Prints a bar for each toggle of `options`, in the given order. `output` is the SVG file to write;
// "" means no file, and "-" means standard output.
ExitCode WaterfallOfProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                            const std::string& output, bool json);

}  // namespace vramscope::cli
