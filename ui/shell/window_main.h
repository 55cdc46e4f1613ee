// Runs the window as a program. This header uses no Qt types, so that the command line can include
// it.
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
  std::vector<std::string> files;  // files to open; of two files, the first is the baseline
  std::string screenshot;          // path; if not empty, saves the window as a PNG and ends
  std::string dump_state;          // path; if not empty, writes the window's state as JSON and ends
  std::string size;                // "1680x1050" in logical pixels; empty: the stored size
  std::string theme;               // "dark", "light" or "system"; empty: the stored theme
  double scale = 1.0;              // scale of the whole window, 0.5 to 4
  std::string language = {};       // "en", "zh_CN"; empty: as chosen last, or from the environment
  // The page to open, such as "phases", "compare" or "what-if=expandable_segments:True". For an
  // unknown name, the error message lists the valid names.
  std::string page = {};
  // Returns the folders of CUDA's libraries for a run on this computer's GPU, or an error if no run
  // is possible.
  std::function<absl::StatusOr<std::vector<std::string>>()> gpu_libraries = {};
};

// Returns kInvalidArgument unless the text is a size, such as "1680x1050", within the limits.
absl::Status CheckSize(const std::string& size);

// Draws a trace's timeline and returns the bytes of a PNG, PDF or SVG file. Needs no display.
// `whole` is the trace of all devices, or null if there is only one device. Returns
// kInvalidArgument for an unsupported size or scale, or for a trace without a timeline.
struct TimelineFile {
  std::string format = "png";  // "pdf", "svg"
  std::string size = {};       // empty: "1680x1050"; in points for a PDF
  std::string theme = "light";
  double scale = 1.0;  // device pixels per point in a PNG
  std::string title = {};
};
absl::StatusOr<std::string> DrawTimeline(const std::shared_ptr<const trace::Trace>& trace,
                                         const std::shared_ptr<const trace::Trace>& whole,
                                         const TimelineFile& options);

// Returns the exit status: 0; 2: invalid option; 3: a file to show in a screenshot cannot be
// opened; 4: no display, the screenshot cannot be written, or nothing was shown in time. Messages
// are written to stderr.
int RunWindow(int& argc, char** argv, const WindowOptions& options);

}  // namespace vramscope::ui
