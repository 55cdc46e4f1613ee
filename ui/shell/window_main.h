// The window as a program. No Qt type crosses this header, so that the command line can include it.
//
//   return RunWindow(argc, argv, {.files = {"run.trace"}});
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::ui {

struct WindowOptions {
  std::vector<std::string> files;  // opened; of two, the first is the baseline
  std::string screenshot;          // not empty: draw the window, save it here as PNG, end
  std::string dump_state;          // not empty: write what the window shows here as JSON, end
  std::string size;                // "1680x1050", logical pixels; empty: as it was last
  std::string theme;               // "dark", "light", "system"; empty: as it was last
  double scale = 1.0;              // of everything, 0.5 to 4
  std::string language = {};       // "en", "zh_CN"; empty: as it was last, or of the environment
  // A tab to open: "phases", "compare", "reclaim", "what-if=expandable_segments:True". A name that
  // is none is answered with those that there are.
  std::string page = {};
  // Folders of CUDA's libraries for a run on this computer's card, or why there can be none.
  std::function<absl::StatusOr<std::vector<std::string>>()> card_libraries = {};
};

// A trace's timeline as the bytes of a PNG, a PDF or an SVG; without a display. `whole`: of several
// devices, of which this is one; null: it is the only one. kInvalidArgument: a size or scale that
// none is drawn in, a trace without a timeline.
struct TimelineFile {
  std::string format = "png";  // "pdf", "svg"
  std::string size = {};       // "1680x1050", which it is when empty; of a PDF in points
  std::string theme = "light";
  double scale = 1.0;  // of a PNG
  std::string title = {};
};
absl::StatusOr<std::string> DrawTimeline(const std::shared_ptr<const trace::Trace>& trace,
                                         const std::shared_ptr<const trace::Trace>& whole,
                                         const TimelineFile& options);

// Returns the exit status: 0, 2 (an option that can't be understood), 3 (a file could not be
// opened, for a screenshot), 4 (no display, the picture could not be written, nothing to show
// within a minute). Messages go to stderr.
int RunWindow(int& argc, char** argv, const WindowOptions& options);

}  // namespace vramscope::ui
