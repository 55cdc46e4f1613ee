// The code that TraceAssembler and ReadTraceFile share. It checks the order of frames and adds
// batches that other threads decoded. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <span>
#include <string>

#include "profiler/trace/batch_codec.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/part_filter.h"
#include "profiler/trace/reader.h"

namespace vramscope::trace {

// Events of a batch are decoded in chunks of this many.
inline constexpr size_t kDecodeChunk = 1024;

struct TraceAssembler::Impl {
  TraceBuilder builder;
  bool has_header = false;
  uint32_t version = 0;  // format version
  std::optional<Footer> footer;
  std::vector<Event> chunk = std::vector<Event>(kDecodeChunk);
  uint64_t events = 0;                     // events of the file read so far
  uint64_t activities = 0;                 // activities that the builder accepted
  std::vector<Activity> activities_chunk;  // buffer that is reused

  std::optional<PartFilter> part;  // set if only a part of the file is read

  absl::Status Add(const Frame& frame);
  absl::Status AddBatch(std::string_view payload);
  // Adds the events of a batch. Converts old ones: before version 4, kernels, memcpys and driver
  // allocations were events.
  absl::Status AddEvents(std::span<Event> events);
  absl::Status AddActivities(std::span<const Activity> activities);
  // Compares the counts of the data with the counts in the footer. Returns a text about missing
  // data, or "" if none is missing. `of_file`: the data was read from a file, not through a pipe.
  std::string Missing(bool of_file) const;
  // Checks that the batch begins at the next event of the file.
  absl::Status CheckStart(const BatchStart& start) const;
};

}  // namespace vramscope::trace
