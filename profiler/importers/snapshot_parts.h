// The contents of a snapshot after reading, before devices are merged and a range is cut out.
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
  // Contains strings, stacks, streams and segments. Has the entries of all devices, one device
  // after another; their times count from start_unix_ns.
  recording::Recording recording;
  struct Rows {
    uint32_t first = 0, count = 0;
  };
  std::vector<Rows> traces;  // entries of each device
  bool has_category = false;
  // The category of each entry, or kNoCategory. Empty if no entry has a category.
  std::vector<uint8_t> category;
  // The snapshot's list `categories`; a number in `category` is an index into it.
  std::vector<std::string> category_names;
  static constexpr uint8_t kNoCategory = 255;
  // If an entry names its category (as MemoryViz.js expects) instead of giving an index, `category`
  // contains kNamedCategory plus the number of that trace::Category.
  static constexpr uint8_t kNamedCategory = 192;
  struct AnnotationMark {
    bool begin = false;
    uint32_t name = 0;  // in recording.strings
    uint8_t device = 0;
    int64_t time_us = 0;
  };
  std::vector<AnnotationMark> annotations;
  int64_t start_us = 0;       // same time as recording.start_unix_ns
  bool has_times = false;     // at least one entry has a time
  std::string cut;            // why the file is truncated; "" if it is whole
  bool segments_cut = false;  // the file is truncated within the segments
  bool is_marked = false;     // written by vramscope
  bool bare_list = false;     // only a list of segments: torch.cuda.memory_snapshot()
  // Settings.
  std::string alloc_conf;
  run::AllocConf settings;
  uint64_t max_entries = 0;  // size of the ring buffer; 0: not recorded
  // Figures for warnings.
  uint64_t entries_without_time = 0;
  std::map<std::string, uint64_t> other_actions;
  uint64_t host_entries = 0, host_segments = 0, host_bytes = 0;
  uint64_t host_blocks = 0, host_used = 0;  // host blocks in use, and their bytes
  // If set, `recording` contains only the entries of the range, of one device.
  std::optional<SnapshotRange> range;
  uint32_t range_row = 0;  // index in the file of the device's first entry
  uint8_t range_device = 0;
};

// Creates the Recording: merges devices, cuts out the range, pairs annotations, adds warnings.
absl::StatusOr<recording::Recording> FinishSnapshot(SnapshotParts parts,
                                                    const SnapshotOptions& options);

}  // namespace vramscope::importers
