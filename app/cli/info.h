// `info`, which the program also runs if it is started with files and without a display.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "app/cli/input.h"

namespace vramscope::cli {

ExitCode ShowInfo(const std::string& file, bool json, const RangeOptions& range = {});

}  // namespace vramscope::cli
