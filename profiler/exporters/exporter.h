// A format that traces are written in, declared by the file that writes it; no list is touched:
//
//   ExporterEntry DeclareExporter_csv() {
//     return {.place = 20, .name = "csv", .suffix = "csv", .write = Write};
//   }
//
// `vramscope export` and the window know it from there.
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

// What is written, and how where a format can choose.
struct ExportRequest {
  std::shared_ptr<const trace::Trace> trace;          // one device, where the format holds one
  std::string title = {};                             // any text; "": what ran, or the model
  std::string command = {};                           // that writes the same, as typed; "": none
  std::shared_ptr<const trace::Trace> baseline = {};  // null: nothing
  std::string baseline_title = {};
  bool categories = true, annotations = true;
  std::function<void(double fraction)> progress = {};  // on the calling thread
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
};

struct ExporterEntry {
  int place = 0;            // in help and menus: the lowest first
  std::string_view name;    // of `export --to`
  std::string_view help;    // what reads it; "": the name says it
  std::string_view suffix;  // of files; "": the window does not write it
  bool one_device = false;
  // Which parts of the request it uses.
  bool uses_title = false, uses_baseline = false, uses_labels = false;
  absl::Status (*write)(const ExportRequest& request, std::ostream& out) = nullptr;
};
// What the files of this folder declare, in the order of their places. CMake writes the list.
const std::vector<ExporterEntry>& AllExporters();

}  // namespace vramscope::exporters
