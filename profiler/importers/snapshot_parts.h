// What a snapshot says once it has been read, before devices are merged and a range is cut out.
// Internal.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/importers/snapshot.h"
#include "profiler/importers/snapshot_range.h"
#include "profiler/recording/recording.h"
#include "profiler/run/alloc_conf.h"

namespace vramscope::importers {

struct SnapshotParts {
  // Strings, stacks, streams; entries of all devices one after another, times since
  // start_unix_ns; segments.
  recording::Recording recording;
  struct Rows {
    uint32_t first = 0, count = 0;
  };
  std::vector<Rows> traces;  // of entries, by device
  bool has_category = false;
  std::vector<uint8_t> category;  // of entries; empty: none; kNoCategory: that one has none
  std::vector<std::string> category_names;  // `categories`
  static constexpr uint8_t kNoCategory = 255;
  // This and what follows: a trace::Category that an entry names itself, as MemoryViz.js has it.
  static constexpr uint8_t kNamedCategory = 192;
  struct AnnotationMark {
    bool begin = false;
    uint32_t name = 0;  // of recording.strings
    uint8_t device = 0;
    int64_t time_us = 0;
  };
  std::vector<AnnotationMark> annotations;
  int64_t start_us = 0;       // of recording.start_unix_ns
  bool has_times = false;     // an entry says one
  std::string cut;            // why the file ends before its time; "": it does not
  bool segments_cut = false;  // the file ends within them
  bool is_marked = false;     // vramscope wrote it
  bool bare_list = false;     // nothing but a list of segments: torch.cuda.memory_snapshot()
  // Settings.
  std::string alloc_conf;
  run::AllocConf settings;
  uint64_t max_entries = 0;  // of the ring; 0: not said
  // What is said in warnings.
  uint64_t entries_without_time = 0;
  std::map<std::string, uint64_t> other_actions;
  uint64_t host_entries = 0, host_segments = 0, host_bytes = 0;
  uint64_t host_blocks = 0, host_used = 0;  // in use, and their bytes
  // Given: `recording` has only its entries, all of one device.
  std::optional<SnapshotRange> range;
  uint32_t range_row = 0;  // where that device's list begins
  uint8_t range_device = 0;
};

// The Recording: devices merged, the range cut out, annotations paired, warnings worded.
absl::StatusOr<recording::Recording> FinishSnapshot(SnapshotParts parts,
                                                    const SnapshotOptions& options);

}  // namespace vramscope::importers
