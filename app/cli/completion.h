// Generates shell completions (bash, zsh, fish) and the manual page from the declarations of the
// command line. The build runs this program to generate them, so they match its options.
#pragma once

#include <string>
#include <string_view>

#include "app/cli/command.h"

namespace vramscope::cli {

// `what` is bash, zsh, fish or man. `app` must have all of its commands.
std::string Describe(const CLI::App& app, std::string_view what);

}  // namespace vramscope::cli
