// `waterfall --toggle NAME ... -- PROGRAM`: adds the toggles one after the other.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

// One bar for each toggle of `options`, in their order. `output`: an SVG file; "": none; "-":
// standard output.
ExitCode WaterfallOfProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                            const std::string& output, bool json);

}  // namespace vramscope::cli
