// What single techniques change in a program: `toggles --savings -- PROGRAM` plans each toggle that
// applies alone, `waterfall --toggle NAME ... -- PROGRAM` adds the given ones one after the other.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

// The toggles of `options` are on in all plans.
ExitCode PlanEachToggle(const std::vector<std::string>& command, const ProgramOptions& options,
                        bool json);

// One bar for each toggle of `options`, in their order. `output`: an SVG file; "": none; "-":
// standard output.
ExitCode WaterfallOfProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                            const std::string& output, bool json);

}  // namespace vramscope::cli
