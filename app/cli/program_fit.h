// `fit --budget SIZE -- PROGRAM`: which toggles make a program fit; `--vary`: what it needs with
// other values of its own arguments.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

struct ProgramFitOptions {
  ProgramOptions program;
  std::string budget;
  std::vector<std::string> vary;
  double patience = 60;  // seconds of searching
  bool json = false;
};
void AddProgramFitOptions(CLI::App& command, ProgramFitOptions& options);

ExitCode FitProgram(const std::vector<std::string>& command, const ProgramFitOptions& options);

}  // namespace vramscope::cli
