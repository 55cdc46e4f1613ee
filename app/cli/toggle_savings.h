// `toggles --savings -- PROGRAM`: plans a program without toggles and with each of them, and prints
// what each saves.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

// With the toggles of `options`, each alone; without any, with each that applies to the program.
ExitCode ToggleSavings(const std::vector<std::string>& command, const ProgramOptions& options,
                       bool json);

}  // namespace vramscope::cli
