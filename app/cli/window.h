// `vramscope [FILE...]`: opens the window or, without a display, prints the same as text.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace vramscope::cli {

struct WindowArguments {
  std::vector<std::string> files;
  std::string screenshot, size, theme, dump_state, page, language;
  double scale = 1.0;
  bool in_open_window = false;
};
ExitCode OpenWindow(int argc, char** argv, const WindowArguments& arguments);

}  // namespace vramscope::cli
