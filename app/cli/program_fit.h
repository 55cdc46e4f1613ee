// `fit --budget SIZE -- PROGRAM`: finds the toggles with which a program fits. `--vary`: plans the
// program with other values of its own arguments.
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
  double patience = 60;  // time limit of the search, in seconds
  bool json = false;
};
void AddProgramFitOptions(CLI::App& command, ProgramFitOptions& options);

ExitCode FitProgram(const std::vector<std::string>& command, const ProgramFitOptions& options);

}  // namespace vramscope::cli
