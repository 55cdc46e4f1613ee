// Export formats. The source file of an exporter declares its format, so no list has to be edited:
//
//   ExporterEntry DeclareExporter_csv() {
//     return {.place = 20, .name = "csv", .suffix = "csv", .write = Write};
//   }
//
// `vramscope export` and the window use these declarations.
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// The trace to write, and options that some formats have.
struct ExportRequest {
  std::shared_ptr<const trace::Trace> trace;  // of one device, if the format requires this
  std::string title = {};                     // "": the program, or the model
  std::string command = {};                   // a command that writes the same file; "": none
  std::shared_ptr<const trace::Trace> baseline = {};  // null: none
  std::string baseline_title = {};
  bool categories = true, annotations = true;
  std::function<void(double fraction)> progress = {};  // called on the calling thread
  const std::atomic<bool>* cancel = nullptr;           // when true: stops with kCancelled
};

struct ExporterEntry {
  int place = 0;            // position in help and menus: lowest first
  std::string_view name;    // as in `export --to`
  std::string_view help;    // programs that read the format; "": the name says enough
  std::string_view suffix;  // suffix of file names; "": the window does not offer the format
  bool one_device = false;
  // Whether the format uses each of these parts of the request.
  bool uses_title = false, uses_baseline = false, uses_labels = false;
  absl::Status (*write)(const ExportRequest& request, std::ostream& out) = nullptr;
};
// The exporters declared in this folder, in the order of `place`. CMake generates the list.
const std::vector<ExporterEntry>& AllExporters();

}  // namespace vramscope::exporters
