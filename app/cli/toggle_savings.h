// `toggles --savings -- PROGRAM`: plans a program without toggles and with one toggle at a time,
// and prints what each toggle saves.
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
  kJsonLines  // a line with an object whenever a part is known; the last line is the object of
              // kJson
};

// Plans the toggles in `options` one at a time. If there is none, plans each toggle that applies.
ExitCode ToggleSavings(const std::vector<std::string>& command, const ProgramOptions& options,
                       SavingsForm form);

}  // namespace vramscope::cli
