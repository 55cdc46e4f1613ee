// An importer reads one kind of file. The importer's source file declares the importer, so
// that no list has to be edited:
//
//   ImporterEntry DeclareImporter_memory_timeline() {
//     return {.name = "memory-timeline", .begins = BeginsAsTimeline, .read = Read};
//   }
//
// A file is read by the first importer whose `begins` returns true. If none does, the file's keys
// decide: the first key that some importer lists selects this importer. Internal to this folder
// except for FindImporter.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/importers/open.h"
#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

// An opened file. `head` has the file's first bytes, already read from `input`.
struct ImportRequest {
  std::unique_ptr<trace::InputStream> input;  // may be closed by the importer after reading
  std::string_view head;
  const std::string& path;
  const std::string& title;  // title of the trace
  const OpenOptions& options;
};

// A JSON key of the outermost object or, with `in_list`, of an object in the outermost list.
struct JsonKey {
  std::string_view name;
  bool in_list = false;
};

struct ImporterEntry {
  int place = 0;  // importers with a lower number are tried first
  std::string_view name;
  bool (*begins)(std::string_view head) = nullptr;
  bool (*has_key)(const JsonKey& key) = nullptr;
  // Errors need not contain the name of the file.
  absl::StatusOr<std::shared_ptr<const trace::Trace>> (*read)(ImportRequest& request) = nullptr;
};
// The importers declared in this folder. CMake generates the list.
const std::vector<ImporterEntry>& AllImporters();

// The number of bytes to read for detection. In all known files, at most a device table of some
// kilobytes precedes the distinctive keys.
inline constexpr size_t kSniffBytes = size_t{64} << 10;

// Returns null if no importer reads a file that begins with `head`.
const ImporterEntry* FindImporter(std::string_view head);

// Whether the options request only a part of the file.
bool IsPart(const OpenOptions& options);

// Converts a recording to a trace. The trace has only the file's labels unless `options.infer`.
absl::StatusOr<std::shared_ptr<const trace::Trace>> FromRecording(recording::Recording recording,
                                                                  const std::string& title,
                                                                  const OpenOptions& options);

// Returns a function that converts the progress of reading to progress of opening, and reports it.
std::function<void(double fraction)> ReadingProgress(const OpenOptions& options);

}  // namespace vramscope::importers
