// What shells and manual readers are told of the command line, made of its own declarations:
// completions for bash, zsh and fish, and the manual page. The build writes them (packaging/), so
// they are never older than the program.
#pragma once

#include <string>
#include <string_view>

#include "app/cli/command.h"

namespace vramscope::cli {

// `what`: bash, zsh, fish or man. Of `app` with all of its commands.
std::string Describe(const CLI::App& app, std::string_view what);

}  // namespace vramscope::cli
