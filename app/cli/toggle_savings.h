// `toggles --savings -- PROGRAM`: plans a program without toggles and with each single toggle, and
// prints what each saves.
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

// Plans each toggle in `options` or, if there is none, each toggle that applies, one at a time.
ExitCode ToggleSavings(const std::vector<std::string>& command, const ProgramOptions& options,
                       SavingsForm form);

}  // namespace vramscope::cli
