// `toggles --savings -- PROGRAM`: plans a program without toggles and with each of them, and prints
// what each saves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

enum class SavingsForm : uint8_t {
  kText,      // on a terminal, each row is printed as soon as its toggle is planned
  kJson,      // one object
  kJsonLines  // an object on a line as soon as its contents are known; the last one is that of
              // kJson
};

// With the toggles of `options`, each alone; without any, with each that applies to the program.
ExitCode ToggleSavings(const std::vector<std::string>& command, const ProgramOptions& options,
                       SavingsForm form);

}  // namespace vramscope::cli
