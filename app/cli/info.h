// Declares `info`, which also runs if the program is started with files but has no display.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "app/cli/input.h"

namespace vramscope::cli {

ExitCode ShowInfo(const std::string& file, bool json, const RangeOptions& range = {});

}  // namespace vramscope::cli
