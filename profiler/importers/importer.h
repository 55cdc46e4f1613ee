// A kind of file that is read, declared by the file that reads it; no list is touched:
//
//   ImporterEntry DeclareImporter_memory_timeline() {
//     return {.name = "memory-timeline", .begins = BeginsAsTimeline, .read = Read};
//   }
//
// A file belongs to the first importer whose `begins` says so, else to the first that knows one of
// its keys, in their order in the file, as a key of such a file. Internal to this folder but for
// FindImporter.
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

// An opened file: its first bytes, `head`, were taken from `input`.
struct ImportRequest {
  std::unique_ptr<trace::InputStream> input;  // an importer may close it when it has read it
  std::string_view head;
  const std::string& path;
  const std::string& title;  // of the trace
  const OpenOptions& options;
};

// A key of JSON text, of the outermost object or, `in_list`, of an object in the outermost list.
struct JsonKey {
  std::string_view name;
  bool in_list = false;
};

struct ImporterEntry {
  int place = 0;  // the lowest is asked first
  std::string_view name;
  bool (*begins)(std::string_view head) = nullptr;
  bool (*has_key)(const JsonKey& key) = nullptr;
  // Errors need not name the file.
  absl::StatusOr<std::shared_ptr<const trace::Trace>> (*read)(ImportRequest& request) = nullptr;
};
// What the files of this folder declare. CMake writes the list.
const std::vector<ImporterEntry>& AllImporters();

// Bytes that are enough: the keys that tell come first in all files seen, a device table of some
// kilobytes before them at most.
inline constexpr size_t kSniffBytes = size_t{64} << 10;

// Null: no importer reads such a file.
const ImporterEntry* FindImporter(std::string_view head);

// Whether a part of a file is asked for.
bool IsPart(const OpenOptions& options);

// What was read, as a trace. `options.infer` false: with the labels of the file alone.
absl::StatusOr<std::shared_ptr<const trace::Trace>> FromRecording(recording::Recording recording,
                                                                  const std::string& title,
                                                                  const OpenOptions& options);

// Reading is a part of opening.
std::function<void(double fraction)> ReadingProgress(const OpenOptions& options);

}  // namespace vramscope::importers
