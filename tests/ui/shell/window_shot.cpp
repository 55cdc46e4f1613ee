// Saves an image of the window, as `vramscope --screenshot` does, without the command line's code.
//
//   window_shot OUT.png STATE.json [dark|light] [WxH] [SCALE] [FILE...]
//
// $VRAMSCOPE_SHOT_PAGE is the page to open ("fragmentation", "reclaim", ...).
#include <cstdlib>

#include "ui/shell/window_main.h"

int main(int argc, char** argv) {
  vramscope::ui::WindowOptions options;
  if (argc > 1) options.screenshot = argv[1];
  if (argc > 2) options.dump_state = argv[2];
  if (argc > 3) options.theme = argv[3];
  if (argc > 4) options.size = argv[4];
  if (argc > 5) options.scale = std::atof(argv[5]);
  if (const char* page = std::getenv("VRAMSCOPE_SHOT_PAGE")) options.page = page;
  for (int i = 6; i < argc; ++i) options.files.push_back(argv[i]);
  return vramscope::ui::RunWindow(argc, argv, options);
}
